package merkle_test

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/lineproof/lineproof/internal/values/merkle"
)

// The root of any number of leaves is that of another implementation of RFC 6962.
func TestRootIsThatOfRFC6962(t *testing.T) {
	t.Parallel()
	var tree merkle.Tree
	other := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
	if got := tree.Root(); string(got[:]) != string(rfc6962.DefaultHasher.EmptyRoot()) {
		t.Errorf("without leaves the root is %x", got)
	}
	var hashes [][]byte
	for n := range uint64(1100) {
		leaf := sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
		hashes = append(hashes, leaf[:])
		tree.Add(leaf[:])
		if err := other.Append(rfc6962.DefaultHasher.HashLeaf(leaf[:]), nil); err != nil {
			t.Fatal(err)
		}
		want, err := other.GetRootHash(nil)
		if err != nil {
			t.Fatal(err)
		}
		root, err := merkle.Root(hashes)
		if n%37 == 0 || n < 70 {
			checkLevels(t, hashes, merkle.Hash(want))
		}
		if got := tree.Root(); err != nil || string(got[:]) != string(want) || string(root) != string(want) {
			t.Fatalf("of %d leaves the root is %x and %x, want %x (%v)", n+1, got, root, want, err)
		}
	}
	tree.Reset()
	if got := tree.Root(); string(got[:]) != string(rfc6962.DefaultHasher.EmptyRoot()) {
		t.Errorf("after a reset the root is %x", got)
	}
	if _, err := merkle.Root(nil); err == nil {
		t.Error("no leaves have a root")
	}
}

// A tree that goes on from a size and an edge is the same tree, and only an edge of that
// size is accepted.
func TestResumedTreeIsTheSameTree(t *testing.T) {
	t.Parallel()
	var tree merkle.Tree
	for n := range uint64(600) {
		resumed, err := merkle.Resume(tree.Size(), tree.Edge())
		if err != nil {
			t.Fatal(err)
		}
		leaf := binary.BigEndian.AppendUint64(nil, n)
		tree.Add(leaf)
		resumed.Add(leaf)
		if tree.Root() != resumed.Root() || resumed.Size() != n+1 {
			t.Fatalf("with %d leaves the resumed tree has another root", n+1)
		}
	}
	for _, edge := range [][]byte{nil, tree.Edge()[1:], append(tree.Edge(), 0), tree.Edge()[:32]} {
		if _, err := merkle.Resume(tree.Size(), edge); err == nil {
			t.Errorf("an edge of %d bytes was accepted for a tree of %d leaves", len(edge), tree.Size())
		}
	}
}

// checkLevels compares a tree with all hashes with its root, and its paths with those of
// another implementation.
func checkLevels(t *testing.T, leaves [][]byte, root merkle.Hash) {
	t.Helper()
	tree := merkle.NewLevels(len(leaves), func(i int) []byte { return leaves[i] })
	if *tree.Root() != root {
		t.Fatalf("of %d leaves the root is %x, want %x", len(leaves), *tree.Root(), root)
	}
	for i, leaf := range leaves {
		var path [][]byte
		tree.Path(i, func(place int) { path = append(path, tree.Hashes[place][:]) })
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(i), uint64(len(leaves)), rfc6962.DefaultHasher.HashLeaf(leaf), path, root[:]); err != nil {
			t.Fatalf("the path of leaf %d of %d: %v", i, len(leaves), err)
		}
	}
}
