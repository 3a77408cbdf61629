package erasure

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Runner erases. Its archiver's pool must have the rights of the owner: the serving role
// can change nothing in the journal.
type Runner struct {
	Archiver *journal.Archiver
	OnSearch func(records int64) // reports how many records were read to find those of a number; may be nil
	// Feeds are the feeds from which the events about a number are erased with its records;
	// nil for none.
	Feeds *feed.Archive
}

// Run erases what an order names, and returns the order as it is then.
func (r *Runner) Run(ctx context.Context, id uuid.UUID) (Erasure, error) {
	pool := r.Archiver.Pool
	e, err := find(ctx, pool, id)
	switch {
	case err != nil:
		return e, err
	case e.State == Waiting:
		return e, ErrNotConfirmed
	case e.State == Confirmed:
		if err := r.mark(ctx, &e); err != nil {
			return e, err
		}
	}
	if e.State == Marked {
		if err := r.erase(ctx, id); err != nil {
			return e, err
		}
		if err := r.eraseFeeds(ctx, &e); err != nil {
			return e, err
		}
		if err := r.finish(ctx, id); err != nil {
			return e, err
		}
	}
	return find(ctx, pool, id)
}

// RunAll runs every order that is confirmed and not finished, and removes what is left of
// records that were erased on a day that had not ended. It returns the orders that it ran.
func (r *Runner) RunAll(ctx context.Context) (done []Erasure, err error) {
	all, err := unfinished(ctx, r.Archiver.Pool)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e, err = r.Run(ctx, e.ID); err != nil {
			return done, err
		}
		done = append(done, e)
	}
	days, err := journal.DaysToRewrite(ctx, r.Archiver.Pool)
	for _, day := range days {
		if err == nil {
			_, err = r.Archiver.Erase(ctx, day)
		}
	}
	if err == nil {
		err = r.rewriteOrders(ctx) // an older transaction may have kept the number of a finished order in the file
	}
	return done, err
}

// mark chooses the records of an order, lists them in a file, and marks them in the
// journal.
func (r *Runner) mark(ctx context.Context, e *Erasure) error {
	inForce, err := holdsInForce(ctx, r.Archiver.Pool)
	if err != nil {
		return err
	}
	l := list{Erasure: e.ID, Ground: e.Ground, At: r.Archiver.Now().UTC()}
	choose := func(found *record.Entry) {
		switch {
		case found.Erased():
		case inForce.keep(found):
			e.Held++
		default:
			l.add(found)
		}
	}
	if e.number != 0 {
		err = (&journal.Search{
			Pool: r.Archiver.Pool, Files: r.Archiver.Files, To: r.Archiver.Now().AddDate(0, 0, 1), Numbers: []int64{e.number},
			Match: func(number, _ int64) bool { return number == e.number }, OnProgress: r.OnSearch,
		}).Run(ctx, func(found *record.Entry) error { choose(found); return nil })
	}
	for _, id := range e.requestIDs {
		if err != nil {
			return err
		}
		var found record.Entry
		if found, err = journal.Find(ctx, r.Archiver.Pool, r.Archiver.Files, id); fault.CodeOf(err) == fault.NotFound {
			err = nil
			continue
		}
		choose(&found)
	}
	if err != nil {
		return err
	}
	if l.Feeds, err = r.findFeeds(ctx, e, &inForce); err != nil {
		return err
	}
	e.State, e.Records = Marked, int64(len(l.Records))
	return r.store(ctx, &l, e)
}

// store lists what an erasure covers, first in a file and then in the database.
func (r *Runner) store(ctx context.Context, l *list, e *Erasure) error {
	if len(l.Records)+len(l.Days)+len(l.Feeds) > 0 {
		if err := appendList(ctx, r.Archiver.Files, l); err != nil {
			return err
		}
	}
	return r.note(ctx, l, e)
}

// note notes in the database what a list covers. What it knows of the erasure already
// stays, unless the list has more.
func (r *Runner) note(ctx context.Context, l *list, e *Erasure) error {
	records, err := l.erased()
	if err != nil {
		return err
	}
	return pg.InTx(ctx, r.Archiver.Pool, func(tx pg.Tx) error {
		if err := journal.MarkErased(ctx, tx, e.ID, records, l.Days); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO erasure (id, ground, state, asked_at, marked_at, records, held) VALUES ($1, $2, $3, $4, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET state = excluded.state, marked_at = coalesce(erasure.marked_at, excluded.marked_at), records = greatest(erasure.records, excluded.records), held = greatest(erasure.held, excluded.held)`,
			e.ID, e.Ground, Marked, l.At, e.Records, e.Held)
		return fault.Wrap(err, "erasure: mark")
	})
}

// erase blanks everything that an erasure covers.
func (r *Runner) erase(ctx context.Context, id uuid.UUID) error {
	days, err := journal.MarkedDays(ctx, r.Archiver.Pool, id)
	if err != nil {
		return err
	}
	r.Archiver.BeforeReplacing = func(ctx context.Context, a journal.Archive) error {
		return appendList(ctx, r.Archiver.Files, &list{Erasure: id, At: r.Archiver.Now().UTC(), Replaced: &a})
	}
	for _, day := range days {
		if _, err := r.Archiver.Erase(ctx, day); err != nil {
			return fmt.Errorf("%s: %w", day.Format(time.DateOnly), err)
		}
	}
	return nil
}

// finish forgets the number of the order, too.
func (r *Runner) finish(ctx context.Context, id uuid.UUID) error {
	now := r.Archiver.Now().UTC()
	err := pg.InTx(ctx, r.Archiver.Pool, func(tx pg.Tx) error {
		var e Erasure
		err := tx.QueryRow(ctx, `UPDATE erasure SET state = $2, finished_at = $3, number = NULL, request_ids = NULL WHERE id = $1 AND state = $4 RETURNING ground, records, held`,
			id, Finished, now, Marked).Scan(&e.Ground, &e.Records, &e.Held)
		if err != nil {
			return fmt.Errorf("erasure: finish: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: audit.Actor{Kind: audit.Operator}, Action: audit.JournalErased, Subject: id,
			After: map[string]any{"ground": e.Ground, "records": e.Records, "held": e.Held},
		})
	})
	if err != nil {
		return err
	}
	return r.rewriteOrders(ctx)
}

// rewriteOrders writes the small file of the orders anew: until then PostgreSQL keeps the
// bytes of finished ones in it.
func (r *Runner) rewriteOrders(ctx context.Context) error {
	_, err := r.Archiver.Pool.Exec(ctx, `VACUUM FULL erasure`)
	return fault.Wrap(err, "erasure: write the orders anew")
}

// Again erases everything that was ever erased and is not, or is not known to be: after
// the database was restored to an earlier time. It returns how many erasures it ran.
func (r *Runner) Again(ctx context.Context) (int, error) {
	var ids []uuid.UUID
	seen := make(map[uuid.UUID]bool)
	err := readLists(ctx, r.Archiver.Files, func(l *list) error {
		if l.Replaced != nil {
			return journal.RestoreReplaced(ctx, r.Archiver.Pool, r.Archiver.Files, *l.Replaced)
		}
		if !seen[l.Erasure] {
			seen[l.Erasure] = true
			ids = append(ids, l.Erasure)
		}
		if r.Feeds != nil {
			if err := r.Feeds.Erase(ctx, l.Feeds); err != nil {
				return err
			}
		}
		return r.note(ctx, l, &Erasure{ID: l.Erasure, Ground: l.Ground, Records: int64(len(l.Records))})
	})
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if _, err := r.Run(ctx, id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
