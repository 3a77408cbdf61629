package linefile_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/testing/brokenfile"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// packedFiles are the same small snapshot in every compression, whole and as two
// concatenated parts. Ends are the offsets at which a file may end.
func packedFiles(t *testing.T) (files map[string][]byte, ends map[string]int, want []linefile.Row) {
	t.Helper()
	var plain bytes.Buffer
	if err := nation(t, 8).Snapshot(&plain); err != nil {
		t.Fatal(err)
	}
	head, tail := plain.Bytes()[:200], plain.Bytes()[200:]
	files = map[string][]byte{
		"gzip": gzipped(t, plain.Bytes()), "zstd": zstded(t, plain.Bytes()),
		"gzip in parts": slices.Concat(gzipped(t, head), gzipped(t, tail)), "zstd in parts": slices.Concat(zstded(t, head), zstded(t, tail)),
	}
	ends = map[string]int{"gzip in parts": len(gzipped(t, head)), "zstd in parts": len(zstded(t, head))}
	return files, ends, readAll(t, &plain, options(t, linefile.Snapshot), 100).rows
}

// A compressed file that is cut off anywhere is refused, and the rows read before
// that are correct.
func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	files, ends, want := packedFiles(t)
	for name, file := range files {
		for cut := range file {
			if cut == ends[name] {
				continue // a whole file, if a shorter one
			}
			got := readAll(t, bytes.NewReader(file[:cut]), options(t, linefile.Snapshot), 7)
			if _, isFault := errors.AsType[*fault.Error](got.err); !isFault || len(got.refused) > 0 {
				t.Errorf("%s, cut off after %d of %d bytes: %v, refused %v", name, cut, len(file), got.err, got.refused)
			}
			if !slices.Equal(want[:len(got.rows)], got.rows) {
				t.Errorf("%s, cut off after %d bytes, has other rows", name, cut)
			}
		}
	}
}

// A compressed file with any single bit flipped is refused, unless the bit does not
// matter.
func TestFlippedBitsAreDetected(t *testing.T) {
	t.Parallel()
	files, _, want := packedFiles(t)
	for _, name := range []string{"gzip", "zstd"} {
		file := files[name]
		harmless := 0
		for bit := range 8 * len(file) {
			turned := bytes.Clone(file)
			turned[bit/8] ^= 1 << (bit % 8)
			got := readAll(t, bytes.NewReader(turned), options(t, linefile.Snapshot), 100)
			if _, isFault := errors.AsType[*fault.Error](got.err); isFault {
				continue
			}
			harmless++
			if !slices.Equal(want, got.rows) || got.err != nil || len(got.refused) > 0 {
				t.Errorf("%s, bit %d flipped: %v, refused %v", name, bit, got.err, got.refused)
			}
		}
		if harmless > 250 {
			t.Errorf("%s: %d bits do not matter", name, harmless)
		}
	}
}

// Reading any input ends, reports every line at most once and in order, and does not
// depend on the pieces in which the input arrives.
func FuzzReader(f *testing.F) {
	for _, k := range brokenfile.Cases() {
		if k.Large {
			continue
		}
		var content bytes.Buffer
		if _, err := content.ReadFrom(k.Reader()); err != nil {
			f.Fatal(err)
		}
		if content.Len() < 1000 {
			f.Add(content.Bytes(), k.Kind == linefile.Snapshot)
		}
	}
	o := linefile.Options{Region: region(f), AsOf: brokenfile.AsOf, Now: brokenfile.Now}
	f.Fuzz(func(t *testing.T, content []byte, snapshot bool) {
		o := o
		if o.Kind = linefile.Events; snapshot {
			o.Kind = linefile.Snapshot
		}
		got := readAll(t, bytes.NewReader(content), o, 10)
		pieces := readAll(t, iotest.OneByteReader(bytes.NewReader(content)), o, 3)
		if !slices.Equal(got.rows, pieces.rows) {
			t.Errorf("in pieces it has %d other rows instead of %d", len(pieces.rows), len(got.rows))
		}
		if diff := cmp.Diff(got.refused, pieces.refused); diff != "" || (got.err == nil) != (pieces.err == nil) || got.digest != pieces.digest {
			t.Errorf("in pieces it has other refusals, or ends with %v instead of %v:\n%s", pieces.err, got.err, diff)
		}
		checkPlaces(t, got)
		if got.err == nil && !bytes.HasPrefix(content, []byte{0x1f}) && !bytes.HasPrefix(content, []byte{0x28}) && content[0]&0xf0 != 0x50 &&
			got.digest != sha256.Sum256(content) {
			t.Error("the digest is not that of the content")
		}
	})
}

// checkPlaces checks that every line is reported at most once, in order.
func checkPlaces(t *testing.T, got result) {
	t.Helper()
	seen := map[int64]bool{}
	last := [2]int64{1, 1}
	take := func(kind int, place int64) {
		if seen[place] || place <= last[kind] || place >= got.place {
			t.Errorf("line %d is reported twice, out of order, or after the end at %d", place, got.place)
		}
		seen[place], last[kind] = true, place
	}
	for _, r := range got.rows {
		take(0, r.Place)
		if r.Number.IsZero() {
			t.Errorf("line %d has no number", r.Place)
		}
	}
	for _, r := range got.refused {
		take(1, r.Place)
		if r.Reason == "" || r.Message == "" {
			t.Errorf("line %d is refused without reason", r.Place)
		}
	}
}
