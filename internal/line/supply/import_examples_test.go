package supply_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
)

// examplesOf counts the examples of an import by kind.
func (k *importEnv) examplesOf(im supply.Import) (list []filerows.Example, byKind map[string]int64) {
	k.t.Helper()
	list, err := filerows.FindExamples(k.t.Context(), k.Pool, im.Key())
	if err != nil {
		k.t.Fatal(err)
	}
	byKind = map[string]int64{}
	for _, e := range list {
		byKind[e.Kind]++
	}
	return list, byKind
}

// A held snapshot has examples of all that it would do, ten of each kind at most and once
// however often it is checked, also of numbers that it lacks. One that is applied has none.
func TestHeldSnapshotsHaveExamples(t *testing.T) {
	t.Parallel()
	for name, lie := range suspiciousSnapshots {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.chunk = 7
			applied := k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
			held := k.run(k.create(asOf(may)), lie.content, supply.Held)
			k.run(held, lie.content, supply.Held)
			want := map[string]int64{}
			for kind, n := range map[string]int64{filerows.Added: lie.counts.Added, filerows.Changed: lie.counts.Changed, filerows.Ended: lie.counts.Ended} {
				if n > 0 {
					want[kind] = min(n, filerows.MaxExamples)
				}
			}
			list, got := k.examplesOf(held)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("examples by kind (-want +got):\n%s", diff)
			}
			for _, e := range list {
				if e.After == e.Before || e.After == "" || (e.Before == "") != (e.Kind == filerows.Added) || strings.HasPrefix(e.After, "QUARANTINED") != (e.Kind == filerows.Ended) {
					t.Errorf("an example is %+v", e)
				}
			}
			if list, _ := k.examplesOf(applied); len(list) > 0 {
				t.Errorf("a file that was applied has the examples %+v", list)
			}
		})
	}
}

// An example says what the line is and what it would be.
func TestExamplesSayWhatChanges(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 4)...))
	held := k.run(k.create(asOf(may)), snapshotOf(active(0, "2024-02-03"), number(1)+",2024-02-03,2026-04-03,ACTIVE,", active(4, "2026-04-20"), number(5)+",2024-02-03,,PARKED,2026-04-01"), supply.Held)
	list, _ := k.examplesOf(held)
	want := []filerows.Example{
		{Kind: filerows.Added, Number: number(4), After: "ACTIVE, holder since 2026-04-20"},
		{Kind: filerows.Added, Number: number(5), After: "PARKED, since 2026-04-01, holder since 2024-02-03"},
		{Kind: filerows.Changed, Number: number(1), Before: "ACTIVE, holder since 2024-02-03", After: "ACTIVE, holder since 2024-02-03, SIM since 2026-04-03"},
		{Kind: filerows.Ended, Number: number(2), Before: "ACTIVE, holder since 2024-02-03", After: "QUARANTINED, since 2026-05-01, holder since 2024-02-03"},
		{Kind: filerows.Ended, Number: number(3), Before: "ACTIVE, holder since 2024-02-03", After: "QUARANTINED, since 2026-05-01, holder since 2024-02-03"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}
