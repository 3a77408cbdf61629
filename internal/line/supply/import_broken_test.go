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

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/brokenfile"
)

// newBrokenFileEnv returns an env at the time for which the broken files are made, and
// with dates in UTC, as in the files. A snapshot is held if it changes a greater share
// of the lines.
func newBrokenFileEnv(t *testing.T, holdPercent int) *importEnv {
	t.Helper()
	k := newImportEnv(t)
	k.clock = brokenfile.Now
	k.setPolicy(func(p *policy.Policy) { p.TimeZone, p.HoldPercent = "UTC", holdPercent })
	return k
}

// others of MTN, and lines of AIRTEL, are there before.
func (k *importEnv) linesBefore(mtn bool) {
	k.t.Helper()
	k.chunk = 0
	if mtn {
		k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
	}
	k.importAIRTEL(asOf(march), snapshotOf(airtels(0, 10)...))
	k.chunk = 100
}

// sendBroken creates and runs an import of a broken file.
func (k *importEnv) sendBroken(b brokenfile.Case) supply.Import {
	k.t.Helper()
	form := supply.ImportForm{Kind: b.Kind}
	if b.Kind == linefile.Snapshot {
		form.AsOf = brokenfile.AsOf
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(b.Reader()), nil }
	im, err := k.Run(k.t.Context(), k.create(form).ID, supply.Source{Open: open}.InChunks(k.chunk), nil)
	if err != nil {
		k.t.Fatalf("%s: %v", b.Name, err)
	}
	return im
}

// wantedRefusals are the refusals that a case must have, as in the report.
func wantedRefusals(b brokenfile.Case) []string {
	list := []string{}
	for _, r := range b.WantRefusals {
		list = append(list, fmt.Sprintf("%d %s %s", r.Place, r.Field, r.Reason))
	}
	return list
}

// shards splits the cases that fit into memory, so that they run in parallel.
func shards() (parts [4][]brokenfile.Case) {
	for i, b := range brokenfile.Cases() {
		if !b.Large {
			parts[i%len(parts)] = append(parts[i%len(parts)], b)
		}
	}
	return parts
}

// Every broken file is reported. A file that cannot be used is rejected as a whole
// with the reason; otherwise each wrong row is reported with its line, column and
// reason. A snapshot of two rows for a network with forty lines is held, so nothing
// of it is applied; of an events file the valid events are applied.
func TestBrokenFilesAreReported(t *testing.T) {
	t.Parallel()
	for i, part := range shards() {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			k := newBrokenFileEnv(t, 10)
			k.linesBefore(true)
			for _, b := range part {
				k.checkBroken(b)
			}
			k.wantConsistent()
			t.Logf("%d kinds", len(part))
		})
	}
}

func (k *importEnv) checkBroken(b brokenfile.Case) {
	k.t.Helper()
	before := k.dump(lineTables)
	im := k.sendBroken(b)
	if b.Kind == linefile.Events && !b.WantFileRefused {
		k.checkBrokenEvents(b, im)
		return
	}
	if diff := cmp.Diff(before, k.dump(lineTables)); diff != "" {
		k.t.Errorf("%s: something of it was applied (-before +after):\n%s", b.Name, diff)
	}
	want := supply.Held
	if b.WantFileRefused {
		want = supply.Rejected
	}
	if im.State != want || len(im.Reason) < 20 || !strings.HasSuffix(im.Reason, ".") || strings.Contains(im.Reason, "803") {
		k.t.Errorf("%s: the import is %s, because: %q", b.Name, im.State, im.Reason)
	}
	if refused := k.refused(im); b.WantRows != brokenfile.Unknown && !cmp.Equal(wantedRefusals(b), refused) || im.Counts.Refused != int64(len(refused)) {
		k.t.Errorf("%s: %d rows are refused, and reported are %q", b.Name, im.Counts.Refused, refused)
	}
	if im.State == supply.Held {
		k.cancel(im)
	}
}

// checkBrokenEvents checks the valid rows of an events file: they are applied,
// duplicates, or refused because of the state of the line.
func (k *importEnv) checkBrokenEvents(b brokenfile.Case, im supply.Import) {
	k.t.Helper()
	c, refused := im.Counts, k.refused(im)
	if im.State != supply.Finished || c.Refused != int64(len(refused)) {
		k.t.Errorf("%s: the import is %s, with %d rows refused and reported %q", b.Name, im.State, c.Refused, refused)
	}
	for _, r := range wantedRefusals(b) {
		if !slices.Contains(refused, r) {
			k.t.Errorf("%s: %s is not reported: %q", b.Name, r, refused)
		}
	}
	beside := c.Refused - int64(len(b.WantRefusals))
	if good := c.Changed + c.NoEffect + c.Waiting + c.Duplicates + beside; good != int64(b.WantRows) {
		k.t.Errorf("%s: %d valid rows, want %d: %+v, %q", b.Name, good, b.WantRows, c, refused)
	}
	for _, r := range refused {
		beside := strings.HasSuffix(r, " id ID_REUSED") || strings.HasSuffix(r, " NOT_ALLOWED") // by other cases, or by other authorities
		if !beside && !slices.Contains(wantedRefusals(b), r) {
			k.t.Errorf("%s: %s is reported", b.Name, r)
		}
	}
	if stored := k.count(`SELECT count(*) FROM line_event e JOIN supply_import i ON i.id = e.import WHERE i.uid = $1`, im.ID); int64(stored) != c.Changed+c.NoEffect+c.Waiting {
		k.t.Errorf("%s: %d events are stored, %+v", b.Name, stored, c)
	}
}

// If the file need not be held, exactly its valid rows are applied, and the lines of
// other networks do not change.
func TestGoodRowsOfBrokenFilesAreApplied(t *testing.T) {
	t.Parallel()
	for i, part := range shards() {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			k := newBrokenFileEnv(t, 49)
			for _, b := range part {
				if b.Kind != linefile.Snapshot || b.WantFileRefused {
					continue
				}
				k.reset()
				k.linesBefore(false)
				k.checkApplied(b)
			}
		})
	}
}

func (k *importEnv) checkApplied(b brokenfile.Case) {
	k.t.Helper()
	im := k.sendBroken(b)
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
	k.wantRefused(im, wantedRefusals(b)...)
	k.wantCounts(im, supply.Counts{Added: int64(b.WantRows), Refused: int64(len(b.WantRefusals))})
	lines := k.count(`SELECT count(*) FROM line_now WHERE number / 10000000 = 234803`)
	if lines != b.WantRows && want == supply.Finished || lines != 0 && want == supply.Held {
		k.t.Errorf("%s: there are %d lines, want %d", b.Name, lines, b.WantRows)
	}
	k.wantConsistent()
}

// Files that do not fit into memory, and decompression bombs, need little more memory
// than any other file.
func TestLargeBrokenFilesNeedLittleMemory(t *testing.T) { //nolint:paralleltest // counts the memory of the whole process
	const enough = 64 << 20 // a window of zstd and its tables
	k := newBrokenFileEnv(t, 10)
	k.linesBefore(true)
	used := func(b brokenfile.Case) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		k.checkBroken(b)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	kinds := brokenfile.Cases()
	small := used(kinds[slices.IndexFunc(kinds, func(b brokenfile.Case) bool { return b.Valid() })])
	for _, b := range kinds {
		if !b.Large {
			continue
		}
		if got := used(b); got > small+enough {
			t.Errorf("%s: %d MiB were allocated in all, and %d MiB for a small file", b.Name, got>>20, small>>20)
		}
	}
}
