package linefile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/phone"
)

// written is a file and what must be read from it.
type written struct {
	kind  linefile.Kind
	plain []byte
	rows  []linefile.Row
}

// drawFile draws a valid file in any of its possible forms.
func drawFile(t *rapid.T) written {
	w := written{kind: rapid.SampledFrom([]linefile.Kind{linefile.Snapshot, linefile.Events}).Draw(t, "kind")}
	draw, columns := drawSnap, []string{"number", "tenureStart", "simChangedAt", "state", "stateSince"}
	if w.kind == linefile.Events {
		draw, columns = drawEvent, []string{"id", "number", "type", "effectiveAt", "network", "level", "reason", "churnAt", "voids", "note"}
	}
	columns = rapid.Permutation(columns).Draw(t, "columns")
	lineBreak := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "break")
	quoted := rapid.Bool().Draw(t, "quoted")
	var b bytes.Buffer
	b.WriteString(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark"))
	place := int64(1)
	put := func(cells []string) {
		if quoted {
			for i, c := range cells {
				cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
			}
			b.WriteString(strings.Join(cells, ",") + lineBreak)
			return
		}
		c := csv.NewWriter(&b)
		c.UseCRLF = lineBreak == "\r\n"
		_ = c.Write(cells)
		c.Flush()
	}
	put(slices.Clone(columns))
	for range rapid.IntRange(0, 20).Draw(t, "rows") {
		for range rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "empty lines") {
			b.WriteString(lineBreak)
			place++
		}
		row, cells := draw(t)
		place++
		row.Place = place
		ordered := make([]string, 0, len(columns))
		for _, c := range columns {
			ordered = append(ordered, cells[c])
		}
		put(ordered)
		w.rows = append(w.rows, row)
	}
	w.plain = b.Bytes()
	if rapid.Bool().Draw(t, "no break at the end") {
		w.plain = bytes.TrimSuffix(w.plain, []byte(lineBreak))
	}
	return w
}

func drawSnap(t *rapid.T) (row linefile.Row, cells map[string]string) {
	cells = map[string]string{}
	row.Number, cells["number"] = drawNumber(t)
	tenure := rapid.Int64Range(line64(1990), line64(2026)).Draw(t, "tenure")
	since := rapid.Int64Range(tenure, line64(2026)).Draw(t, "since")
	row.Snap.Tenure, cells["tenureStart"] = drawTime(t, tenure)
	row.Snap.State = line.State(rapid.IntRange(int(line.StateActive), int(line.StateBarred)).Draw(t, "state"))
	cells["state"] = row.Snap.State.String()
	row.Snap.SIM = line.Never
	if rapid.Bool().Draw(t, "swapped") {
		row.Snap.SIM, cells["simChangedAt"] = drawTime(t, since)
	}
	row.Snap.StateSince, cells["stateSince"] = drawTime(t, since)
	if row.Snap.State == line.StateActive && rapid.Bool().Draw(t, "always") {
		row.Snap.StateSince, cells["stateSince"] = row.Snap.Tenure, ""
	}
	return row, cells
}

func drawEvent(t *rapid.T) (row linefile.Row, cells map[string]string) {
	cells = map[string]string{}
	row.Number, cells["number"] = drawNumber(t)
	word := rapid.StringOfN(rapid.RuneFrom([]rune(`abcXYZ019-_ ,"';é漢`)), 0, 20, -1)
	e := &row.Event
	e.ID = rapid.StringMatching(`[ -~]{1,64}`).Draw(t, "id")
	e.Network, e.Level, e.Reason = word.Draw(t, "network"), word.Draw(t, "level"), word.Draw(t, "reason")
	e.Voids, e.Note = word.Draw(t, "voids"), word.Draw(t, "note")
	e.Kind = rapid.SampledFrom(line.Kinds()).Draw(t, "type")
	e.Effective, cells["effectiveAt"] = drawTime(t, rapid.Int64Range(line64(1990), line64(2026)).Draw(t, "effective"))
	e.ChurnAt = line.Never
	if rapid.Bool().Draw(t, "churn") {
		e.ChurnAt, cells["churnAt"] = drawTime(t, rapid.Int64Range(line64(1990), line64(2087)).Draw(t, "churn at"))
	}
	cells["id"], cells["type"], cells["network"], cells["level"] = e.ID, e.Kind.String(), e.Network, e.Level
	cells["reason"], cells["voids"], cells["note"] = e.Reason, e.Voids, e.Note
	return row, cells
}

func line64(year int) int64 { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() }

// drawTime writes a time in one of its forms. The date alone is only drawn for
// midnight.
func drawTime(t *rapid.T, unix int64) (line.Instant, string) {
	at := time.Unix(unix, 0).UTC()
	forms := []string{at.Format(time.RFC3339), at.Format("2006-01-02T15:04:05.999Z"), at.Add(time.Second - 1).Format(time.RFC3339Nano)}
	if lagos := at.In(time.FixedZone("", 3600)); lagos.Year() <= 2087 {
		forms = append(forms, lagos.Format(time.RFC3339))
	}
	if unix%86400 == 0 {
		forms = append(forms, at.Format(time.DateOnly))
	}
	return line.InstantOf(at), rapid.SampledFrom(forms).Draw(t, "form")
}

func drawNumber(t *rapid.T) (phone.Number, string) {
	national := 8_030_000_000 + rapid.Int64Range(0, 9_999_999).Draw(t, "number")
	n, _ := phone.FromInt(2_340_000_000_000 + national)
	return n, fmt.Sprintf(rapid.SampledFrom([]string{"+234%d", "234%d", "0%d", "%d", "00234%d"}).Draw(t, "spelling"), national)
}

// Every row that was written is read, with its line, in any form, order of columns
// and compression. The digest is that of the content.
func TestReadReturnsWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawFile(rt)
		file := rapid.SampledFrom([]func(testing.TB, []byte) []byte{
			func(_ testing.TB, b []byte) []byte { return b }, gzipped, zstded,
		}).Draw(rt, "compression")(t, w.plain)
		got := readAll(t, bytes.NewReader(file), options(t, w.kind), rapid.IntRange(1, 30).Draw(rt, "chunk"))
		if !slices.Equal(w.rows, got.rows) || got.err != nil || len(got.refused) > 0 {
			rt.Fatalf("%v, refused %v, %d rows, written were %d:\n%s", got.err, got.refused, len(got.rows), len(w.rows), w.plain)
		}
		if got.digest != sha256.Sum256(w.plain) {
			rt.Fatal("the digest is not that of the content")
		}
	})
}

// Reading can stop at any line and resume there: the digest proves that it is the
// same file, and the remaining rows are read. A file that differs before that line
// has another digest, and a shorter file is refused.
func TestReadingResumesWhereItStopped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawFile(rt)
		o := options(t, w.kind)
		first := open(t, w.plain, o)
		n, _, err := first.Next(make([]linefile.Row, rapid.IntRange(1, 30).Draw(rt, "chunk")))
		if err != nil && !errors.Is(err, io.EOF) {
			rt.Fatal(err)
		}
		again := open(t, w.plain, o)
		if err := again.Skip(first.Place()); err != nil || again.Place() != first.Place() || again.Digest() != first.Digest() {
			rt.Fatalf("Skip(%d) = %v, now at %d", first.Place(), err, again.Place())
		}
		rest, _, err := again.Next(make([]linefile.Row, 100))
		if err != nil && !errors.Is(err, io.EOF) || n+rest != len(w.rows) {
			rt.Fatalf("%d and %d rows of %d, %v", n, rest, len(w.rows), err)
		}
		other := bytes.Clone(w.plain)
		if second := bytes.IndexByte(other, '\n') + 1; first.Place() > 2 && second < len(other) {
			other[second] ^= 'a' ^ 'b'
			if twin := open(t, other, o); twin.Skip(first.Place()) == nil && twin.Digest() == first.Digest() {
				rt.Fatal("another file passes for this one")
			}
		}
		err = open(t, w.plain, o).Skip(int64(bytes.Count(w.plain, []byte("\n"))) + 3)
		if fault.CodeOf(err) != fault.InvalidArgument {
			rt.Fatalf("a file that is too short: %v", err)
		}
	})
}

func open(tb testing.TB, content []byte, o linefile.Options) *linefile.Reader {
	tb.Helper()
	r, err := linefile.Open(bytes.NewReader(content), o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// After every chunk of a file that is larger than the buffer, the digest is that of
// the content up to there, in whatever pieces it arrives.
func TestDigestOfALargeFile(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	if err := nation(t, 20_000).Snapshot(&plain); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]io.Reader{
		"plain": bytes.NewReader(plain.Bytes()), "in halves": iotest.HalfReader(bytes.NewReader(plain.Bytes())),
		"gzip": bytes.NewReader(gzipped(t, plain.Bytes())), "zstd": bytes.NewReader(zstded(t, plain.Bytes())),
	} {
		r, err := linefile.Open(in, options(t, linefile.Snapshot))
		if err != nil {
			t.Fatal(err)
		}
		rest, sum := plain.Bytes(), sha256.New()
		for place := int64(1); err == nil; _, _, err = r.Next(make([]linefile.Row, 777)) {
			for ; place < r.Place(); place++ {
				end := bytes.IndexByte(rest, '\n') + 1
				sum.Write(rest[:end])
				rest = rest[end:]
			}
			if got := r.Digest(); !bytes.Equal(got[:], sum.Sum(nil)) {
				t.Fatalf("%s: the digest before line %d is another", name, place)
			}
		}
		if !errors.Is(err, io.EOF) || len(rest) > 0 {
			t.Errorf("%s: %v, and %d bytes are left", name, err, len(rest))
		}
	}
}

// In the middle of a line that is longer than the buffer, the place and the digest
// are still those before that line.
func TestDigestCoversOnlyWholeLines(t *testing.T) {
	t.Parallel()
	whole := "number,tenureStart,simChangedAt,state,stateSince\n+2348031000001,2019-03-04,,ACTIVE,\n"
	cut := errors.New("the line went dead")
	in := io.MultiReader(strings.NewReader(whole+strings.Repeat("x", 1<<20)), iotest.ErrReader(cut))
	got := readAll(t, in, options(t, linefile.Snapshot), 10)
	if got.place != 3 || got.digest != sha256.Sum256([]byte(whole)) || len(got.rows) != 1 {
		t.Errorf("place %d, %d rows, or another digest", got.place, len(got.rows))
	}
	if _, isFault := errors.AsType[*fault.Error](got.err); !errors.Is(got.err, cut) || isFault {
		t.Errorf("the error of the reader became %v", got.err)
	}
}

// An error of the underlying reader does not refuse the file, compressed or not, at
// the start or later.
func TestReadErrorDoesNotRefuseTheFile(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	if err := nation(t, 1000).Snapshot(&plain); err != nil {
		t.Fatal(err)
	}
	dead := errors.New("the line went dead")
	for name, file := range map[string][]byte{"plain": plain.Bytes(), "gzip": gzipped(t, plain.Bytes()), "zstd": zstded(t, plain.Bytes())} {
		for _, cut := range []int{0, 3, 20, len(file) / 2, len(file)} {
			in := io.MultiReader(bytes.NewReader(file[:cut]), iotest.ErrReader(dead))
			got := readAll(t, in, options(t, linefile.Snapshot), 100)
			if _, isFault := errors.AsType[*fault.Error](got.err); !errors.Is(got.err, dead) || isFault || len(got.refused) > 0 {
				t.Errorf("%s after %d bytes: %v, refused %v", name, cut, got.err, got.refused)
			}
		}
	}
	if _, err := linefile.Open(strings.NewReader(""), linefile.Options{Kind: "novel"}); err == nil || fault.CodeOf(err) != fault.Internal {
		t.Errorf("a kind that does not exist: %v", err)
	}
	stuck := readAll(t, stuckReader{}, options(t, linefile.Snapshot), 1)
	if !errors.Is(stuck.err, io.ErrNoProgress) {
		t.Errorf("a reader that returns nothing: %v", stuck.err)
	}
}

type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

// Reading rows of a snapshot does not allocate for each row.
func TestSnapshotRowsDoNotAllocate(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	var plain bytes.Buffer
	if err := nation(t, 20_000).Snapshot(&plain); err != nil {
		t.Fatal(err)
	}
	rows, o := make([]linefile.Row, 1000), options(t, linefile.Snapshot)
	for name, file := range map[string][]byte{"plain": plain.Bytes(), "quoted": quoteAll(plain.Bytes())} {
		n := testing.AllocsPerRun(3, func() {
			r := open(t, file, o)
			for {
				if _, _, err := r.Next(rows); err != nil {
					break
				}
			}
		})
		if n > 40 {
			t.Errorf("%s: %v allocations for 20,000 rows", name, n)
		}
	}
}
