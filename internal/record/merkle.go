package record

import (
	"crypto/sha256"
	"errors"
)

// Tree is the Merkle tree of RFC 6962, section 2.1, over leaves that are added in order.
// It keeps one hash for each bit of their number, and allocates nothing for a leaf: the
// journal adds every record to one. The zero value is an empty tree.
type Tree struct {
	complete [][sha256.Size]byte // the roots of the complete subtrees, from left to right
	size     uint64
}

const (
	leafPrefix = 0
	nodePrefix = 1
)

// Add adds a leaf with that data.
func (t *Tree) Add(data []byte) {
	var leaf [1 + sha256.Size]byte
	leaf[0] = leafPrefix
	hash := sha256.Sum256(append(leaf[:1], data...))
	// Each bit that is set in the size stands for a complete subtree of that many leaves.
	// The new leaf joins them as a carry joins digits.
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.complete) - 1
		hash = hashNode(&t.complete[last], &hash)
		t.complete = t.complete[:last]
	}
	t.complete = append(t.complete, hash)
	t.size++
}

// Root returns the root of the leaves so far. Without any it is the hash of the empty
// string.
func (t *Tree) Root() [sha256.Size]byte {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	root := t.complete[len(t.complete)-1]
	for i := len(t.complete) - 2; i >= 0; i-- {
		root = hashNode(&t.complete[i], &root)
	}
	return root
}

// Reset removes all leaves.
func (t *Tree) Reset() { t.complete, t.size = t.complete[:0], 0 }

func hashNode(left, right *[sha256.Size]byte) [sha256.Size]byte {
	var node [1 + 2*sha256.Size]byte
	node[0] = nodePrefix
	copy(node[1:], left[:])
	copy(node[1+sha256.Size:], right[:])
	return sha256.Sum256(node[:])
}

// Root returns the Merkle root of the entries' hashes, in order. There must be at least
// one: no batch is empty.
func Root(hashes [][]byte) ([]byte, error) {
	if len(hashes) == 0 {
		return nil, errors.New("record: merkle root: there are no records")
	}
	var t Tree
	for _, hash := range hashes {
		t.Add(hash)
	}
	root := t.Root()
	return root[:], nil
}
