package requestlog

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Filter selects refused requests of an organisation.
type Filter struct {
	Entity     uuid.UUID
	Key        uuid.UUID    // zero for all
	Codes      []fault.Code // nil for all
	Correlator string       // "" for all
	Number     string       // in E.164; "" for all
	Before     Position     // zero for the newest
	Limit      int
}

// Position is the place of a request in the list.
type Position struct {
	At time.Time
	ID uuid.UUID
}

// Find returns refused requests, newest first.
func Find(ctx context.Context, from pg.DB, peppers *secret.Peppers, now time.Time, f Filter) ([]Refused, error) {
	var q pg.Where
	q.Add(`r.entity_id = ? AND r.at >= ?`, f.Entity, now.Add(-Retention))
	if f.Key != uuid.Nil {
		q.Add(`r.key_id = ?`, f.Key)
	}
	if f.Correlator != "" {
		q.Add(`r.correlator = ?`, f.Correlator)
	}
	if f.Number != "" {
		q.Add(`r.number_mac = ANY(?)`, peppers.Candidates(secret.ForRefusedNumbers, f.Entity.String(), f.Number))
	}
	if !f.Before.At.IsZero() {
		q.Add(`(r.at, r.id) < (?, ?)`, f.Before.At, f.Before.ID)
	}
	if f.Codes == nil && f.Key == uuid.Nil {
		return find(ctx, from, &q, f.Limit)
	}
	if f.Codes == nil {
		f.Codes = fault.Codes
	}
	return findByCode(ctx, from, &q, f.Codes, f.Limit)
}

// ErrNone reports that the organisation has no such request.
var ErrNone = errors.New("requestlog: no such request")

// clockSkew is how far the time of an id and the time of its row may be apart: the id is
// made when the request begins, and the row when it ends.
const clockSkew = 10 * time.Minute

// Get returns a refused request of an organisation.
func Get(ctx context.Context, from pg.DB, entity, id uuid.UUID) (Refused, error) {
	if id.Version() != 7 {
		return Refused{}, ErrNone
	}
	seconds, nanoseconds := id.Time().UnixTime()
	at := time.Unix(seconds, nanoseconds)
	var q pg.Where
	q.Add(`r.entity_id = ? AND r.at BETWEEN ? AND ? AND r.id = ?`, entity, at.Add(-clockSkew), at.Add(clockSkew), id)
	list, err := find(ctx, from, &q, 1)
	if err == nil && len(list) == 0 {
		err = ErrNone
	}
	if err != nil {
		return Refused{}, err
	}
	return list[0], nil
}

const newest = ` ORDER BY r.at DESC, r.id DESC LIMIT `

func find(ctx context.Context, from pg.DB, q *pg.Where, limit int) ([]Refused, error) {
	most := q.Bind(`?`, limit)
	return read(ctx, from, `refused_request r WHERE `+q.String()+newest+most, q.Args)
}

// findByCode takes the newest of each code from an index of codes. An organisation may
// have millions of refused requests, and among them very few of a code, or of a key.
func findByCode(ctx context.Context, from pg.DB, q *pg.Where, codes []fault.Code, limit int) ([]Refused, error) {
	q.Add(`r.code = c.code`)
	list, most := q.Bind(`?::text[]`, codes), q.Bind(`?`, limit)
	return read(ctx, from, `unnest(`+list+`) AS c (code)
		CROSS JOIN LATERAL (SELECT r.* FROM refused_request r WHERE `+q.String()+newest+most+`) r`+newest+most, q.Args)
}

func read(ctx context.Context, from pg.DB, source string, args []any) ([]Refused, error) {
	list, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (r Refused, err error) {
		err = row.Scan(&r.At, &r.ID, &r.Entity, &r.Key, &r.Mode, &r.Route, &r.Status, &r.Code, &r.Violations, &r.Correlator, &r.Skipped)
		return r, err
	}, `SELECT r.at, r.id, r.entity_id, r.key_id, r.mode, r.route, r.status, r.code, r.violations, r.correlator, r.skipped FROM `+source, args...)
	return list, fault.Wrap(err, "requestlog: read")
}
