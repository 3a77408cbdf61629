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

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// written is a file and what must be read from it.
type written struct {
	kind  linefile.Kind
	zone  *time.Location
	plain []byte
	rows  []linefile.Row
}

// options are those with which the file is read.
func (w written) options(tb testing.TB) linefile.Options {
	tb.Helper()
	o := options(tb, w.kind)
	o.Zone = w.zone
	return o
}

// drawFile draws a valid file in any of its possible forms.
func drawFile(t *rapid.T, zones []*time.Location) written {
	w := written{
		kind: rapid.SampledFrom([]linefile.Kind{linefile.Snapshot, linefile.Events}).Draw(t, "kind"),
		zone: rapid.SampledFrom(zones).Draw(t, "zone"),
	}
	draw, columns, optional := drawSnap, []string{"number", "state", "stateSince"}, []string{"tenureStart", "simChangedAt", "churnAt"}
	if w.kind == linefile.Events {
		draw, columns = drawEvent, []string{"id", "number", "type", "effectiveAt"}
		optional = []string{"network", "level", "reason", "scope", "firstHolder", "churnAt", "voids", "note"}
	}
	f := form{zone: w.zone, has: map[string]bool{}}
	for _, column := range optional {
		if f.has[column] = rapid.SampledFrom([]bool{true, true, true, false}).Draw(t, "has "+column); f.has[column] {
			columns = append(columns, column)
		}
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
		row, cells := draw(t, f)
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

// form is how a file is written.
type form struct {
	zone *time.Location  // of its bare dates
	has  map[string]bool // the optional columns that it has
}

func drawSnap(t *rapid.T, f form) (row linefile.Row, cells map[string]string) {
	cells = map[string]string{}
	row.Number, cells["number"] = drawNumber(t)
	s := &row.Snap
	tenure := rapid.Int64Range(line64(1990), line64(2026)).Draw(t, "tenure")
	since := rapid.Int64Range(tenure, line64(2026)).Draw(t, "since")
	var bare bool
	if s.Tenure, bare, cells["tenureStart"] = f.drawTime(t, tenure, "", "UNKNOWN"); !f.has["tenureStart"] {
		s.Tenure, bare = line.Never, false
	}
	set(s, line.TenureDay, bare)
	s.State = line.State(rapid.IntRange(int(line.StateActive), int(line.StateBarred)).Draw(t, "state"))
	cells["state"] = s.State.String()
	if s.SIM, bare, cells["simChangedAt"] = f.drawTime(t, since, "", "UNKNOWN", "NEVER"); !f.has["simChangedAt"] {
		s.SIM, bare = line.Never, false
	}
	set(s, line.SIMDay, bare)
	set(s, line.SIMUnknown, s.SIM == line.Never && (!f.has["simChangedAt"] || cells["simChangedAt"] != "NEVER"))
	s.StateSince, bare, cells["stateSince"] = f.drawTime(t, since)
	if s.State == line.StateActive && rapid.Bool().Draw(t, "always") {
		s.StateSince, cells["stateSince"] = s.Tenure, ""
	}
	if s.State == line.StateEnded && bare {
		s.StateSince = line.DayStart(s.StateSince, f.zone)
		set(s, line.EndDay, true)
	}
	if s.Until = line.Never; s.State == line.StateNoticed && f.has["churnAt"] {
		if s.Until, bare, cells["churnAt"] = f.drawTime(t, rapid.Int64Range(since, line64(2087)).Draw(t, "churn at"), ""); bare {
			s.Until = line.DayStart(s.Until, f.zone)
		}
	}
	return row, cells
}

func set(s *line.Baseline, bit line.Bits, on bool) {
	if on {
		s.Bits |= bit
	}
}

func drawEvent(t *rapid.T, f form) (row linefile.Row, cells map[string]string) {
	cells = map[string]string{}
	row.Number, cells["number"] = drawNumber(t)
	word := rapid.StringOfN(rapid.RuneFrom([]rune(`abcXYZ019-_ ,"';é漢`)), 0, 20, -1)
	e := &row.Event
	e.ID = rapid.StringMatching(`[ -~]{1,64}`).Draw(t, "id")
	for column, to := range map[string]*string{
		"network": &e.Network, "level": &e.Level, "reason": &e.Reason, "scope": &e.Scope, "voids": &e.Voids, "note": &e.Note,
	} {
		if f.has[column] {
			*to = word.Draw(t, column)
			cells[column] = *to
		}
	}
	cells["firstHolder"] = rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "first holder")
	e.FirstHolder = f.has["firstHolder"] && cells["firstHolder"] == "true"
	e.Kind = rapid.SampledFrom(reportedKinds()).Draw(t, "type")
	e.Effective, e.Day, cells["effectiveAt"] = f.drawTime(t, rapid.Int64Range(line64(1990), line64(2026)).Draw(t, "effective"))
	if e.ChurnAt = line.Never; f.has["churnAt"] {
		e.ChurnAt, _, cells["churnAt"] = f.drawTime(t, rapid.Int64Range(line64(1990), line64(2087)).Draw(t, "churn at"), "")
	}
	cells["id"], cells["type"] = e.ID, e.Kind.String()
	return row, cells
}

// reportedKinds are the kinds of event that suppliers report.
func reportedKinds() []line.Kind {
	return slices.DeleteFunc(line.Kinds(), func(k line.Kind) bool {
		return k == line.Confirm || k == line.Restate
	})
}

func line64(year int) int64 { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() }

// drawTime writes a time in one of its forms, or as a bare date, or one of the words
// instead of it, which are Never.
func (f form) drawTime(t *rapid.T, unix int64, words ...string) (at line.Instant, bare bool, text string) {
	of := time.Unix(unix, 0).UTC()
	forms := []string{of.Format(time.RFC3339), of.Format("2006-01-02T15:04:05.999Z"), of.Add(time.Second - 1).Format(time.RFC3339Nano)}
	if lagos := of.In(time.FixedZone("", 3600)); lagos.Year() <= 2087 {
		forms = append(forms, lagos.Format(time.RFC3339))
	}
	if local := of.In(f.zone); local.Year() <= 2087 {
		forms = append(forms, local.Format(time.DateOnly))
	}
	text = rapid.SampledFrom(append(forms, words...)).Draw(t, "form")
	if slices.Contains(words, text) {
		return line.Never, false, text
	}
	at, bare, ok := line.ParseInstant(text, f.zone)
	if !ok {
		t.Fatalf("%s is no time", text)
	}
	return at, bare, text
}

func drawNumber(t *rapid.T) (phone.Number, string) {
	national := 8_030_000_000 + rapid.Int64Range(0, 9_999_999).Draw(t, "number")
	n, _ := phone.FromInt(2_340_000_000_000 + national)
	return n, fmt.Sprintf(rapid.SampledFrom([]string{"+234%d", "234%d", "0%d", "%d", "00234%d"}).Draw(t, "spelling"), national)
}

// fileZones are zones of bare dates. None of them is west of Greenwich, so that no time
// since 1990 is in 1989 there.
func fileZones(tb testing.TB) []*time.Location {
	tb.Helper()
	zones := []*time.Location{time.UTC}
	for _, name := range []string{"Africa/Lagos", "Europe/Berlin", "Asia/Kolkata"} {
		zones = append(zones, zone(tb, name))
	}
	return zones
}

// Every row that was written is read, with its line, in any form, order of columns
// and compression. The digest is that of the content.
func TestReadReturnsWhatWasWritten(t *testing.T) {
	t.Parallel()
	zones := fileZones(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := drawFile(rt, zones)
		file := rapid.SampledFrom([]func(testing.TB, []byte) []byte{
			func(_ testing.TB, b []byte) []byte { return b }, gzipped, zstded,
		}).Draw(rt, "compression")(t, w.plain)
		got := readAll(t, bytes.NewReader(file), w.options(t), rapid.IntRange(1, 30).Draw(rt, "chunk"))
		if !slices.Equal(w.rows, got.rows) || got.err != nil || len(got.refused) > 0 {
			rt.Fatalf("%v, refused %v, %d rows, written were %d (-want +got):\n%s\n%s", got.err, got.refused, len(got.rows), len(w.rows), cmp.Diff(w.rows, got.rows), w.plain)
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
	zones := fileZones(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := drawFile(rt, zones)
		o := w.options(t)
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
