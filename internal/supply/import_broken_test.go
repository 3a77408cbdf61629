package supply_test

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/linefile/broken"
	"github.com/lineproof/lineproof/internal/supply"
)

// newBrokenIntake returns an intake at the time for which the broken files are
// made. It comes upon lines of two networks.
func newBrokenIntake(t *testing.T) *intake {
	t.Helper()
	k := newIntake(t)
	k.clock = broken.Now
	return k
}

// others of MTN, and lines of AIRTEL, are there before.
func (k *intake) linesBefore(mtn bool) {
	k.t.Helper()
	k.chunk = 0
	if mtn {
		k.take(asOf(march), of(actives(0, 40)...))
	}
	k.takeAIRTEL(asOf(march), of(airtels(0, 10)...))
	k.chunk = 100
}

// sends begins and runs an import of a broken file.
func (k *intake) sends(b broken.Kind) supply.Import {
	k.t.Helper()
	form := supply.ImportForm{Kind: b.Kind}
	if b.Kind == linefile.Snapshot {
		form.AsOf = broken.AsOf
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(b.Reader()), nil }
	im, err := k.Run(k.t.Context(), k.begin(form).ID, supply.Source{Open: open}.InChunks(k.chunk), nil)
	if err != nil {
		k.t.Fatalf("%s: %v", b.Name, err)
	}
	return im
}

// reported are the refusals that a kind must have, as the report writes them.
func reported(b broken.Kind) []string {
	list := []string{}
	for _, r := range b.WantRefusals {
		list = append(list, fmt.Sprintf("%d %s %s", r.Place, r.Field, r.Reason))
	}
	return list
}

// shards splits the kinds that fit into memory, so that both processors work.
func shards() (parts [4][]broken.Kind) {
	for i, b := range broken.Kinds() {
		if !b.Large {
			parts[i%len(parts)] = append(parts[i%len(parts)], b)
		}
	}
	return parts
}

// Every kind of broken file is answered. One that is of no use is refused as a
// whole with a sentence that says why; of the others each wrong row is reported
// with its line, its column and the reason. Two rows where there were forty
// lines are held, so nothing of a snapshot is applied; of events the good ones
// are.
func TestBrokenFilesAreAnswered(t *testing.T) {
	t.Parallel()
	for i, part := range shards() {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			k := newBrokenIntake(t)
			k.linesBefore(true)
			for _, b := range part {
				k.answers(b)
			}
			k.sound()
			t.Logf("%d kinds", len(part))
		})
	}
}

func (k *intake) answers(b broken.Kind) {
	k.t.Helper()
	before := k.dump(tables)
	im := k.sends(b)
	if b.Kind == linefile.Events && !b.WantFile {
		k.answersEvents(b, im)
		return
	}
	if diff := cmp.Diff(before, k.dump(tables)); diff != "" {
		k.t.Errorf("%s: something of it was applied (-before +after):\n%s", b.Name, diff)
	}
	want := supply.Held
	if b.WantFile {
		want = supply.Rejected
	}
	if im.State != want || len(im.Reason) < 20 || !strings.HasSuffix(im.Reason, ".") || strings.Contains(im.Reason, "803") {
		k.t.Errorf("%s: the import is %s, because: %q", b.Name, im.State, im.Reason)
	}
	if refused := k.refused(im); b.WantRows != broken.Any && !cmp.Equal(reported(b), refused) || im.Counts.Refused != int64(len(refused)) {
		k.t.Errorf("%s: %d rows are refused, and reported are %q", b.Name, im.Counts.Refused, refused)
	}
	if im.State == supply.Held {
		k.cancel(im)
	}
}

// answersEvents holds a file of events to its good rows: they are applied, told
// before, or refused for what can only be seen beside the lines.
func (k *intake) answersEvents(b broken.Kind, im supply.Import) {
	k.t.Helper()
	c, refused := im.Counts, k.refused(im)
	if im.State != supply.Finished || c.Refused != int64(len(refused)) {
		k.t.Errorf("%s: the import is %s, with %d rows refused and reported %q", b.Name, im.State, c.Refused, refused)
	}
	for _, r := range reported(b) {
		if !slices.Contains(refused, r) {
			k.t.Errorf("%s: %s is not reported: %q", b.Name, r, refused)
		}
	}
	beside := c.Refused - int64(len(b.WantRefusals))
	if good := c.Changed + c.NoEffect + c.Duplicates + beside; good != int64(b.WantRows) || beside < 0 || beside > 1 {
		k.t.Errorf("%s: %d good rows, want %d: %+v, %q", b.Name, good, b.WantRows, c, refused)
	}
	if stored := k.count(`SELECT count(*) FROM line_event e JOIN supply_import i ON i.id = e.import WHERE i.uid = $1`, im.ID); int64(stored) != c.Changed+c.NoEffect {
		k.t.Errorf("%s: %d events are stored, %+v", b.Name, stored, c)
	}
}

// Where nothing else speaks against the file its good rows are applied, exactly
// those, and the lines of others stay as they were.
func TestGoodRowsOfBrokenFilesAreApplied(t *testing.T) {
	t.Parallel()
	for i, part := range shards() {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			k := newBrokenIntake(t)
			k.lenient()
			for _, b := range part {
				if b.Kind != linefile.Snapshot || b.WantFile {
					continue
				}
				k.reset()
				k.linesBefore(false)
				k.applies(b)
			}
		})
	}
}

func (k *intake) applies(b broken.Kind) {
	k.t.Helper()
	im := k.sends(b)
	rows := b.WantRows + len(b.WantRefusals)
	want := supply.Finished
	if b.WantRows == 0 || len(b.WantRefusals)*100 > 49*rows {
		want = supply.Held
	}
	if im.State != want || im.Rows != int64(rows) {
		k.t.Errorf("%s: the import is %s, %d rows, want %s and %d", b.Name, im.State, im.Rows, want, rows)
	}
	if want == supply.Held {
		k.cancel(im)
	}
	k.refuses(im, reported(b)...)
	k.counts(im, supply.Counts{Added: int64(b.WantRows), Refused: int64(len(b.WantRefusals))})
	lines := k.count(`SELECT count(*) FROM line_now WHERE number / 10000000 = 234803`)
	if lines != b.WantRows && want == supply.Finished || lines != 0 && want == supply.Held {
		k.t.Errorf("%s: there are %d lines, want %d", b.Name, lines, b.WantRows)
	}
	k.sound()
}

// Files that do not fit into memory, and bombs, need little more of it than any
// other file.
func TestLargeBrokenFilesNeedLittleMemory(t *testing.T) { //nolint:paralleltest // counts the memory of the whole process
	const enough = 64 << 20 // a window of zstd and its tables
	k := newBrokenIntake(t)
	k.linesBefore(true)
	used := func(b broken.Kind) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		k.answers(b)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	kinds := broken.Kinds()
	small := used(kinds[slices.IndexFunc(kinds, func(b broken.Kind) bool { return b.Sound() })])
	for _, b := range kinds {
		if !b.Large {
			continue
		}
		if got := used(b); got > small+enough {
			t.Errorf("%s: %d MiB were allocated in all, and %d MiB for a small file", b.Name, got>>20, small>>20)
		}
	}
}
