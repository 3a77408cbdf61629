package merkle

// Levels is a tree with all of its hashes, so that it has the path of every leaf.
type Levels struct {
	// Hashes are those of all levels, the leaves first and the root last. A node without a
	// sibling is there again in the level above.
	Hashes []Hash

	sizes []int // of the levels
}

// NewLevels returns the tree over the data of that many leaves. There must be at least one.
func NewLevels(leaves int, data func(i int) []byte) *Levels {
	const most = 64 // levels, each of which may have a node more than half of the one below
	t := &Levels{Hashes: make([]Hash, 0, 2*leaves+most), sizes: []int{leaves}}
	for i := range leaves {
		t.Hashes = append(t.Hashes, HashLeaf(data(i)))
	}
	for below := t.Hashes; len(below) > 1; {
		from := len(t.Hashes)
		for i := 0; i+1 < len(below); i += 2 {
			t.Hashes = append(t.Hashes, HashNode(&below[i], &below[i+1]))
		}
		if len(below)%2 == 1 {
			t.Hashes = append(t.Hashes, below[len(below)-1])
		}
		below = t.Hashes[from:]
		t.sizes = append(t.sizes, len(below))
	}
	return t
}

// Root returns the root.
func (t *Levels) Root() *Hash { return &t.Hashes[len(t.Hashes)-1] }

// Path calls each with the places in Hashes of the hashes that lead from a leaf to the root
// (RFC 9162, section 2.1.3).
func (t *Levels) Path(leaf int, each func(place int)) {
	from := 0
	for _, size := range t.sizes {
		if sibling := leaf ^ 1; sibling < size {
			each(from + sibling)
		}
		from += size
		leaf /= 2
	}
}
