package publiclog

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// archivedDay compares the archive of a day with the batches of the day in the log.
type archivedDay struct {
	answers int64
	root    merkle.Hash
	tree    merkle.Tree
	inLog   int64 // answers in the batches of the log
}

// checkArchives compares the archives with the log: the root of an archived day is the root
// over the roots of its batches, all of which the log has. So a batch that was removed before
// its day was archived is found. A day that began before the log is left out, and one whose
// entries have left the database: those were read from the archive itself, and the tree has
// shown that they are all of them.
func (r *Report) checkArchives(ctx context.Context, from pg.DB) error {
	days, err := r.archivedDays(ctx, from)
	if err != nil || len(days) == 0 {
		return err
	}
	var day time.Time
	var entry []byte
	err = pg.ForEach(ctx, from, []any{&day, &entry}, func() error {
		if d := days[day.UTC()]; d != nil {
			if b, err := logentry.DecodeBatch(entry); err == nil {
				d.tree.Add(b.Root[:])
				d.inLog += int64(b.Count)
			}
		}
		return nil
	}, `SELECT date_trunc('day', l.at, 'UTC'), l.entry FROM log_entry l
		WHERE l.kind = 1 AND NOT l.lost AND (l.at AT TIME ZONE 'UTC')::date IN (SELECT day FROM journal_archive) ORDER BY l.at, l.epoch, l.n`)
	if err != nil {
		return fmt.Errorf("publiclog: compare with the archives: %w", err)
	}
	for day, d := range days {
		if d.inLog == 0 {
			continue
		}
		if d.inLog != d.answers || d.tree.Root() != d.root {
			r.find("the archive of %s has other batches than the log: %d answers, and the log has %d", day.Format(time.DateOnly), d.answers, d.inLog)
		}
	}
	return nil
}

// archivedDays returns the archived days that began after the log did.
func (r *Report) archivedDays(ctx context.Context, from pg.DB) (map[time.Time]*archivedDay, error) {
	days := map[time.Time]*archivedDay{}
	var day time.Time
	var answers int64
	var root []byte
	err := pg.ForEach(ctx, from, []any{&day, &answers, &root}, func() error {
		days[day.UTC()] = &archivedDay{answers: answers, root: merkle.Hash(root)}
		return nil
	}, `SELECT day::timestamp AT TIME ZONE 'UTC', entries, root FROM journal_archive WHERE day::timestamp AT TIME ZONE 'UTC' >= $1`, r.Began)
	return days, fault.Wrap(err, "publiclog: read the archives")
}
