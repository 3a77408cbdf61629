package logentry_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
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

// The bytes of the other kinds are fixed, too, and are read back.
func TestBytesOfEveryKindAreFixed(t *testing.T) {
	t.Parallel()
	hash := merkle.HashLeaf([]byte("x"))
	const x = "3c7e9bc930dc93f01fa69985ef242d9f9e861f3c5355aa24ce5ef4b4b8a70ccb"
	for want, b := range map[string]logentry.Body{
		"02" + x: &logentry.Commitment{Hash: hash},
		"03" + "00000006" + "706f6c696379" + "00000002" + x:                     &logentry.Version{Of: "policy", Number: 2, Text: hash},
		"04" + "000001a1d948f680" + "0000000000000007" + x:                      &logentry.Hour{Hour: time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC), Entries: 7, Hash: hash},
		"05" + "00000003" + "6c6f67" + "00000003" + "6b6579":                    &logentry.KeyUse{Role: "log", Value: "key"},
		"06" + "000001a1d75a9400" + "0000000000000096" + x + x:                  &logentry.Day{Day: time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC), Entries: 150, Root: hash, Manifest: hash},
		"08" + "000001a19467e800" + "0000000000000002" + "0000000000000001" + x: &logentry.Month{Month: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Records: 2, Days: 1, Hash: hash},
		"07" + "0000000000000005" + "0000000000000009" + "0000000000000258" + "00000007" + "726573746f7265" + "00000002" + "0000000000000039" + "ffffffffffffffff" + "000000000000003a" + "0000000000000011": &logentry.Restore{
			First: 5, After: 9, Answers: 600, Reason: logentry.Restored, Epochs: []logentry.LastBatch{{Epoch: 57, N: -1}, {Epoch: 58, N: 17}},
		},
	} {
		kind, body := logentry.EncodeBody(b)
		if got := hex.EncodeToString(append([]byte{byte(kind)}, body...)); got != want {
			t.Errorf("%s is %s", b, got)
		}
		for cut := range body {
			if _, err := (&logentry.Entry{Kind: kind, Body: body[:cut]}).DecodeBody(); !errors.Is(err, logentry.ErrFormat) {
				t.Errorf("%s, cut after %d bytes, was accepted", b, cut)
			}
		}
		if _, err := (&logentry.Entry{Kind: kind, Body: append(bytes.Clone(body), 0)}).DecodeBody(); !errors.Is(err, logentry.ErrFormat) {
			t.Errorf("%s with one byte more was accepted", b)
		}
		if back, err := (&logentry.Entry{Kind: kind, Body: body}).DecodeBody(); err != nil || !reflect.DeepEqual(back, b) {
			t.Errorf("%s is read as %v, %v", b, back, err)
		}
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
	if e, err := logentry.Decode(other); err != nil || e.Kind != 9 {
		t.Errorf("the kind is %d, %v", e.Kind, err)
	}
}
