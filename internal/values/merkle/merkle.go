// Package merkle computes the Merkle tree of RFC 6962, section 2.1, over leaves that are
// added in order.
package merkle

import (
	"crypto/sha256"
	"errors"
	"math/bits"
)

// Hash is the hash of a leaf or of a node.
type Hash = [sha256.Size]byte

// Tree keeps one hash for each bit of the number of its leaves, and allocates nothing
// for a leaf: the journal adds every record to one. The zero value is an empty tree.
type Tree struct {
	complete []Hash // the roots of the complete subtrees, from left to right
	size     uint64
}

const (
	leafPrefix = 0
	nodePrefix = 1
)

// HashLeaf returns the hash of a leaf with that data.
func HashLeaf(data []byte) Hash {
	var leaf [1 + 3*sha256.Size]byte // the data of the journal and of the log fit
	leaf[0] = leafPrefix
	return sha256.Sum256(append(leaf[:1], data...))
}

// HashNode returns the hash of a node with two children.
func HashNode(left, right *Hash) Hash {
	var node [1 + 2*sha256.Size]byte
	node[0] = nodePrefix
	copy(node[1:], left[:])
	copy(node[1+sha256.Size:], right[:])
	return sha256.Sum256(node[:])
}

// Add adds a leaf with that data.
func (t *Tree) Add(data []byte) { t.AddHash(HashLeaf(data)) }

// AddHash adds a leaf by its hash.
func (t *Tree) AddHash(hash Hash) {
	// Each bit that is set in the size stands for a complete subtree of that many leaves.
	// The new leaf joins them as a carry joins digits.
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.complete) - 1
		hash = HashNode(&t.complete[last], &hash)
		t.complete = t.complete[:last]
	}
	t.complete = append(t.complete, hash)
	t.size++
}

// Size returns the number of leaves.
func (t *Tree) Size() uint64 { return t.size }

// Root returns the root of the leaves so far. Without any it is the hash of the empty
// string.
func (t *Tree) Root() Hash {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	root := t.complete[len(t.complete)-1]
	for i := len(t.complete) - 2; i >= 0; i-- {
		root = HashNode(&t.complete[i], &root)
	}
	return root
}

// Reset removes all leaves.
func (t *Tree) Reset() { t.complete, t.size = t.complete[:0], 0 }

// Edge returns what [Resume] needs beside the size to go on with the tree: the roots of
// the complete subtrees, one after the other, from left to right.
func (t *Tree) Edge() []byte {
	edge := make([]byte, 0, len(t.complete)*sha256.Size)
	for i := range t.complete {
		edge = append(edge, t.complete[i][:]...)
	}
	return edge
}

// Resume returns the tree of that size and edge.
func Resume(size uint64, edge []byte) (*Tree, error) {
	if len(edge) != bits.OnesCount64(size)*sha256.Size {
		return nil, errors.New("merkle: the edge is not one of a tree of that size")
	}
	t := &Tree{size: size}
	for ; len(edge) > 0; edge = edge[sha256.Size:] {
		t.complete = append(t.complete, Hash(edge[:sha256.Size]))
	}
	return t, nil
}

// Root returns the root over the data of leaves, in order. There must be at least one: no
// batch of the journal is empty.
func Root(leaves [][]byte) ([]byte, error) {
	if len(leaves) == 0 {
		return nil, errors.New("merkle: there are no leaves")
	}
	var t Tree
	for _, leaf := range leaves {
		t.Add(leaf)
	}
	root := t.Root()
	return root[:], nil
}
