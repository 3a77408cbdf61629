package logentry_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/logentry"
	"github.com/lineproof/lineproof/internal/merkle"
)

// The bytes of an entry are fixed: what was published can't be changed.
func TestBytesOfABatchAreFixed(t *testing.T) {
	t.Parallel()
	b := logentry.Batch{At: time.UnixMilli(1794648600123).UTC(), Epoch: 57, N: 4711, Count: 150, Root: merkle.HashLeaf([]byte("x"))}
	const want = "6c696e6570726f6f66206c6f6720656e74727920310a" + "01" + "000001a1d9646e3b" + "0000000000000039" + "0000000000001267" + "00000096" +
		"3c7e9bc930dc93f01fa69985ef242d9f9e861f3c5355aa24ce5ef4b4b8a70ccb"
	got := b.Encode()
	if hex.EncodeToString(got) != want {
		t.Errorf("the entry is %x", got)
	}
	back, err := logentry.DecodeBatch(got)
	if err != nil || back != b {
		t.Errorf("it is read as %+v, %v", back, err)
	}
}

// What is not an entry about a batch is refused.
func TestOtherBytesAreNotABatch(t *testing.T) {
	t.Parallel()
	good := (&logentry.Batch{At: time.UnixMilli(1), Count: 1}).Encode()
	other := bytes.Clone(good)
	other[22] = 9
	for _, bad := range [][]byte{nil, good[:82], append(bytes.Clone(good), 0), other, good[1:], append([]byte("x"), good[1:]...)} {
		if _, err := logentry.DecodeBatch(bad); !errors.Is(err, logentry.ErrFormat) {
			t.Errorf("%x was accepted: %v", bad, err)
		}
	}
	if kind, err := logentry.KindOf(other); err != nil || kind != 9 {
		t.Errorf("the kind is %d, %v", kind, err)
	}
}
