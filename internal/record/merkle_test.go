package record_test

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/lineproof/lineproof/internal/record"
)

// The root of any number of leaves is that of another implementation of RFC 6962.
func TestRootIsThatOfRFC6962(t *testing.T) {
	t.Parallel()
	var tree record.Tree
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
		root, err := record.Root(hashes)
		if got := tree.Root(); err != nil || string(got[:]) != string(want) || string(root) != string(want) {
			t.Fatalf("of %d leaves the root is %x and %x, want %x (%v)", n+1, got, root, want, err)
		}
	}
	tree.Reset()
	if got := tree.Root(); string(got[:]) != string(rfc6962.DefaultHasher.EmptyRoot()) {
		t.Errorf("after a reset the root is %x", got)
	}
	if _, err := record.Root(nil); err == nil {
		t.Error("no records have a root")
	}
}
