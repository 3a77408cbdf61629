package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	// deadAfter is the age at which no process uses an epoch any more.
	deadAfter = EpochLifetime + 5*time.Minute
	// maxEnds limits the epochs that one call of [EndDead] ends.
	maxEnds = 1000
)

// EndDead records the ends of epochs that no process uses any more, because it was killed
// or left an outcome unknown.
// The batches that were in flight then, at most as many as could be, are its unused
// numbers; other gaps remain gaps. It returns how many epochs it ended. Two calls at the
// same time record the same.
func EndDead(ctx context.Context, from pg.DB) (int, error) {
	dead, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (s started, err error) {
		return s, row.Scan(&s.epoch, &s.node, &s.flushes, &s.ended, &s.last, &s.unknown)
	}, `SELECT s.epoch, s.node, s.flushes, w.epoch IS NOT NULL, coalesce(w.last, 0), coalesce(w.unknown, '{}')
		FROM journal_epoch_start s LEFT JOIN journal_epoch_end w ON w.epoch = s.epoch AND w.by_writer
		WHERE s.started_at < clock_timestamp() - make_interval(secs => $1) AND coalesce(w.unknown <> '{}', true)
			AND NOT EXISTS (SELECT FROM journal_epoch_end f WHERE f.epoch = s.epoch AND NOT f.by_writer)
		ORDER BY s.epoch LIMIT $2`, deadAfter.Seconds(), maxEnds)
	if err != nil {
		return 0, fmt.Errorf("journal: list epochs: %w", err)
	}
	for _, s := range dead {
		runs, err := RunsOfEpoch(ctx, from, s.node, s.epoch)
		if err != nil {
			return 0, err
		}
		last, unused := s.foundEnd(runs)
		if err := RecordFoundEnd(ctx, from, s.epoch, last, unused); err != nil {
			return 0, err
		}
	}
	return len(dead), nil
}

// foundEnd returns the end of an epoch by the batches that it has.
func (s *started) foundEnd(runs []Run) (last int64, unused []int64) {
	missing, last, end := gaps(runs)
	if !s.ended {
		unused, _ = inFlight(missing, end, s.flushes)
		return last, unused
	}
	for _, n := range s.unknown {
		if !slices.ContainsFunc(runs, func(r Run) bool { return r.First <= n && n <= r.Last }) {
			unused = append(unused, n)
		}
	}
	return s.last, unused
}
