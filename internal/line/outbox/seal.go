package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Seal keeps everything that happens to a number from being told before a time. A number can
// have several: it is sealed until the last of them ends.
type Seal struct {
	ID      uuid.UUID
	Number  phone.Number
	Until   time.Time
	Active  bool // a second person has confirmed it
	AskedAt time.Time
	Expires time.Time // until when it can be confirmed
	Waiting int64     // changes of the number that wait
}

// AddSeal stores a seal. It has no effect before [StartSeal].
func AddSeal(ctx context.Context, tx pg.Tx, s Seal) error {
	_, err := tx.Exec(ctx, `INSERT INTO line_seal (id, number, until, active, asked_at, expires_at) VALUES ($1, $2, $3, false, $4, $5)`,
		s.ID, s.Number.Int(), s.Until, s.AskedAt, s.Expires)
	if err != nil {
		return fmt.Errorf("outbox: store a seal: %w", err)
	}
	return nil
}

// StartSeal lets a seal take effect: what is committed from then on about its number waits.
// It returns false if the seal does not exist or its time is over.
func StartSeal(ctx context.Context, tx pg.Tx, id uuid.UUID, now time.Time) (bool, error) {
	started, err := tx.Exec(ctx, `UPDATE line_seal SET active = true WHERE id = $1 AND NOT active AND until > $2`, id, now)
	if err != nil {
		return false, fmt.Errorf("outbox: start a seal: %w", err)
	}
	return started.RowsAffected() == 1, nil
}

// EndSeal ends a seal before its time. It returns false if it is not active.
func EndSeal(ctx context.Context, tx pg.Tx, id uuid.UUID, now time.Time) (bool, error) {
	ended, err := tx.Exec(ctx, `UPDATE line_seal SET until = $2 WHERE id = $1 AND active AND until > $2`, id, now)
	if err != nil {
		return false, fmt.Errorf("outbox: end a seal: %w", err)
	}
	if ended.RowsAffected() == 1 {
		_, err = tx.Exec(ctx, `SELECT pg_notify($1, '')`, Channel) // wakes the reader that passes the changes on
	}
	return ended.RowsAffected() == 1, err
}

// Seals returns the seals, the one that ends first first.
func Seals(ctx context.Context, from pg.DB) ([]Seal, error) {
	all, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (s Seal, err error) {
		var number int64
		err = row.Scan(&s.ID, &number, &s.Until, &s.Active, &s.AskedAt, &s.Expires, &s.Waiting)
		s.Number, _ = phone.FromInt(number)
		s.Until, s.AskedAt, s.Expires = s.Until.UTC(), s.AskedAt.UTC(), s.Expires.UTC()
		return s, err
	}, `SELECT id, number, until, active, asked_at, expires_at, (SELECT count(*) FROM sealed_change c WHERE c.feed AND c.number = s.number)
		FROM line_seal s ORDER BY until, id`)
	if err != nil {
		return nil, fmt.Errorf("outbox: read seals: %w", err)
	}
	return all, nil
}

// FindSeal returns an active seal that has not ended, and false if there is none.
func FindSeal(ctx context.Context, from pg.DB, id uuid.UUID, now time.Time) (s Seal, found bool, err error) {
	var number int64
	err = from.QueryRow(ctx, `SELECT id, number, until FROM line_seal WHERE id = $1 AND active AND until > $2`, id, now).Scan(&s.ID, &number, &s.Until)
	if errors.Is(err, pgx.ErrNoRows) {
		return Seal{}, false, nil
	}
	if err != nil {
		return Seal{}, false, fmt.Errorf("outbox: find a seal: %w", err)
	}
	s.Number, _ = phone.FromInt(number)
	s.Until, s.Active = s.Until.UTC(), true
	return s, true, nil
}

// deleteUnconfirmed deletes the seals that nobody has confirmed in time.
const deleteUnconfirmed = `DELETE FROM line_seal WHERE id IN (SELECT id FROM line_seal WHERE NOT active AND expires_at < $1 LIMIT $2)`

// SetAsideForFeed keeps the changes of sealed numbers for later, and returns the others. The
// feed publishes them in their order when the seal ends.
func SetAsideForFeed(ctx context.Context, tx pg.Tx, changes []Change) (others []Change, err error) {
	return setAside(ctx, tx, changes, true)
}

// SetAsideForNotices is SetAsideForFeed for the notices about past answers, which compare
// answers with everything that is known, and only need to look at the number again.
func SetAsideForNotices(ctx context.Context, tx pg.Tx, changes []Change) (others []Change, err error) {
	return setAside(ctx, tx, changes, false)
}

// Changes must have been read before, and not in a snapshot that is kept: a change that was
// committed after its number was sealed is then never taken for one of an open number.
func setAside(ctx context.Context, tx pg.Tx, changes []Change, ofFeed bool) (others []Change, err error) {
	sealed, err := pg.Collect(ctx, tx, pgx.RowTo[int64], `SELECT DISTINCT number FROM line_seal WHERE active`)
	if err != nil {
		return nil, fmt.Errorf("outbox: read the sealed numbers: %w", err)
	}
	if len(sealed) == 0 {
		return changes, nil
	}
	var waiting []int64
	for i := range changes {
		if slices.Contains(sealed, changes[i].Number.Int()) && !changes[i].IsClass() {
			waiting = append(waiting, changes[i].N)
			continue
		}
		others = append(others, changes[i])
	}
	if len(waiting) == 0 {
		return changes, nil
	}
	_, err = tx.Exec(ctx, `INSERT INTO sealed_change (n, number, reported_at, from_version, version, effective, until, import, kind, before, after, from_network, network, correction, feed)
		SELECT n, number, reported_at, from_version, version, effective, until, import, kind, before, after, from_network, network, correction, $2 AND kind < $3
		FROM line_change WHERE n = ANY($1) ON CONFLICT (n) DO UPDATE SET feed = sealed_change.feed OR excluded.feed`, waiting, ofFeed, int16(Unsealed))
	if err != nil {
		return nil, fmt.Errorf("outbox: set changes aside: %w", err)
	}
	return others, nil
}

// EndedSeals is what seals let go when they end.
type EndedSeals struct {
	IDs     []uuid.UUID
	Changes []Change // for the feeds, in their order
	again   []Change // for the other readers
}

// Empty reports whether no seal has ended and nothing was left of an earlier one.
func (r *EndedSeals) Empty() bool { return len(r.IDs) == 0 && len(r.Changes) == 0 && len(r.again) == 0 }

// TakeEnded deletes the seals that have ended, and takes the changes that waited for them. Tx
// has the mark of the feed locked, and tells them before all that it reads after its mark:
// so the changes of a number stay in their order.
func TakeEnded(ctx context.Context, tx pg.Tx, now time.Time) (r EndedSeals, err error) {
	rows, err := tx.Query(ctx, `DELETE FROM line_seal WHERE active AND until <= $1 RETURNING id`, now)
	if err != nil {
		return r, fmt.Errorf("outbox: end seals: %w", err)
	}
	if r.IDs, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
		return r, fmt.Errorf("outbox: end seals: %w", err)
	}
	rows, err = tx.Query(ctx, `DELETE FROM sealed_change c WHERE NOT EXISTS (SELECT FROM line_seal s WHERE s.active AND s.number = c.number)
		RETURNING n, number, 0::bigint AS lines, reported_at, import, kind, coalesce(from_version, 0), coalesce(version, 0),
			coalesce(effective, -2147483648), coalesce(until, -2147483648), coalesce(before, 0), coalesce(after, 0), coalesce(from_network, 0), network, correction, feed`)
	if err != nil {
		return r, fmt.Errorf("outbox: release changes: %w", err)
	}
	var forFeed bool
	err = scanChanges(rows, []any{&forFeed}, func(c Change) {
		if forFeed {
			r.Changes = append(r.Changes, c)
		}
		c.Kind = Unsealed
		r.again = append(r.again, c)
	})
	byPlace := func(a, b Change) int { return cmp.Compare(a.N, b.N) }
	slices.SortFunc(r.Changes, byPlace)
	slices.SortFunc(r.again, byPlace)
	return r, err
}

// Announce lets the other readers look at the numbers again. Call it late
// in the transaction, as [Append].
func (r *EndedSeals) Announce(ctx context.Context, tx pg.Tx) error {
	return Append(ctx, tx, r.again...)
}
