package journal_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Wherever archiving was interrupted, an erasure leaves the personal part of no record, neither
// in the database nor in the archive.
func TestErasureReachesADayWhoseArchivingWasBrokenOff(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	for i, broken := range p.interruptions() {
		day := p.day(t, 40+i)
		records := p.fill(t, day, 5, 2)
		if err := p.archivist().Note(t.Context(), day); err != nil {
			t.Fatal(err)
		}
		broken(t, day)
		mark := func(tx pg.Tx) error {
			return journal.MarkErased(t.Context(), tx, uuid.New(), nil, []time.Time{day})
		}
		if err := pg.InTx(t.Context(), p.owner, mark); err != nil {
			t.Fatal(err)
		}
		if n, err := p.archivist().Erase(t.Context(), day); err != nil || n != int64(len(records)) {
			t.Errorf("broken off at %d: %d of %d erased, %v", i, n, len(records), err)
		}
		p.archive(t, day)
		if r := p.checkArchives(t); !r.OK() || r.Erased != r.Entries || r.Archives != i+1 {
			t.Errorf("broken off at %d: %d of %d records are erased in the archives: %+v", i, r.Erased, r.Entries, r)
		}
	}
}

// Erasing one of two days on which the same numbers were asked about leaves the other whole.
func TestErasureOfADayLeavesTheFilesOfOthers(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	days := []time.Time{p.day(t, 40), p.day(t, 41)}
	for _, day := range days {
		p.fill(t, day, 3, 2)
		p.archive(t, day)
	}
	mark := func(tx pg.Tx) error { return journal.MarkErased(t.Context(), tx, uuid.New(), nil, days[:1]) }
	if err := pg.InTx(t.Context(), p.owner, mark); err != nil {
		t.Fatal(err)
	}
	if n, err := p.archivist().Erase(t.Context(), days[0]); err != nil || n != 6 {
		t.Fatalf("%d erased, %v", n, err)
	}
	if r := p.checkArchives(t); !r.OK() || r.Erased != 6 || r.Entries != 12 {
		t.Errorf("%+v", r)
	}
}
