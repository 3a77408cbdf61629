package watchlist

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// Whether a list is held must not say whether one number is a line. With a threshold that is
// known, somebody fills a list with known numbers up to it, and adds one more. So each list
// has a threshold of its own, which nobody outside can know; each change is judged with some
// numbers more or less than were missing; and the verdict takes effect hours later, once for
// all changes until then. Lists that are held or deleted are counted, and staff hear of many.
const (
	leastPermille, morePermille = 70, 61 // a share from 7 to 13 % holds a list
	leastFree, moreFree         = 30, 41 // from 30 to 70 never do
	noise                       = 16     // so many numbers more or less than are missing

	leastDelay, moreDelay = 4 * time.Hour, 20 // hours
)

// threshold is exceeded by a list with more than free numbers and more than so many permille,
// which is then held.
type threshold struct{ free, permille int64 }

func (s *Service) threshold(list uuid.UUID) threshold {
	h := s.Guard.Secret(list)
	return threshold{free: leastFree + int64(h>>8%moreFree), permille: leastPermille + int64(h>>24%morePermille)}
}

func (t threshold) tooMany(n, of, shift int64) bool {
	return n > 0 && n+shift > t.free && (n+shift)*1000 > of*t.permille
}

func (t threshold) tooBad(c *sample) bool {
	shift := rand.Int64N(2*noise+1) - noise //nolint:gosec // it must be unpredictable, not secret
	return t.tooMany(c.missing, c.sampled, shift) || t.tooMany(c.uncovered, c.sampled, shift)
}

// decide keeps what was found about the numbers that entered in a change, for the verdict.
func (s *Service) decide(l *stored, change *sample) {
	t := s.threshold(l.ID)
	l.toHold = l.toHold || t.tooBad(change) || t.tooBad(&l.sample)
	if l.judgeAt.IsZero() && l.State != Held {
		l.judgeAt = l.ChangedAt.Add(leastDelay + time.Duration(rand.IntN(moreDelay))*time.Hour) //nolint:gosec // likewise
	}
}

const judgeInterval = time.Minute

// Run gives verdicts until ctx ends. Every node may call it.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	pause.Loop{
		Interval: judgeInterval,
		Failed: func(err error) {
			log.LogAttrs(ctx, slog.LevelWarn, "watch-lists could not be judged, will retry", slog.Any("error", err))
		},
		Recovered: func() { log.LogAttrs(ctx, slog.LevelInfo, "watch-lists are judged again") },
	}.Run(ctx, func(ctx context.Context) error { return s.JudgeDue(ctx, s.now()) })
}

// JudgeDue gives the verdicts that are due at a time.
func (s *Service) JudgeDue(ctx context.Context, at time.Time) error {
	type due struct {
		id uuid.UUID
		o  Owner
	}
	list, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (d due, err error) {
		return d, row.Scan(&d.id, &d.o.Entity, &d.o.Mode)
	}, `SELECT id, entity_id, mode FROM watch_list WHERE judge_at <= $1 ORDER BY judge_at LIMIT 1000`, at)
	if err != nil {
		return fmt.Errorf("watchlist: find lists to judge: %w", err)
	}
	var failed []error // one list must not keep the others waiting
	for i := range list {
		failed = append(failed, pg.InTx(ctx, s.Pool, func(tx pg.Tx) error { return s.giveVerdict(ctx, tx, &list[i].o, list[i].id, at) }))
	}
	return errors.Join(failed...)
}

func (s *Service) giveVerdict(ctx context.Context, tx pg.Tx, o *Owner, id uuid.UUID, at time.Time) error {
	l, err := lock(ctx, tx, o, id)
	if err == ErrNoList || err == nil && (l.judgeAt.IsZero() || l.judgeAt.After(at)) { //nolint:errorlint // it is returned as it is
		return nil // it was deleted, or another node was faster
	}
	if err != nil {
		return err
	}
	l.judgeAt = time.Time{}
	if !l.toHold || l.State == Held {
		return l.save(ctx, tx)
	}
	l.State, l.toHold = Held, false
	if err := l.save(ctx, tx); err != nil {
		return err
	}
	err = audit.Write(ctx, tx, audit.Entry{
		At: s.now(), Actor: audit.Actor{Kind: audit.System}, Action: audit.ListHeld, Subject: id, Entity: o.Entity,
		After: map[string]any{"members": l.Members, "sampled": l.sampled, "missing": l.missing, "uncovered": l.uncovered},
	})
	if err != nil {
		return err
	}
	if err := s.Guard.CountLists(ctx, tx, o.Entity, 1, 0); err != nil {
		return err
	}
	return tell(ctx, tx, o.feed(), &l.List, s.now())
}
