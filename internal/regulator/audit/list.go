package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Subjects returns the different subjects of what actors did since a time,
// of some actions.
func Subjects(ctx context.Context, from pg.DB, actors []uuid.UUID, since time.Time, actions ...Action) ([]uuid.UUID, error) {
	list, err := pg.Collect(ctx, from, pgx.RowTo[uuid.UUID],
		`SELECT DISTINCT subject_id FROM audit WHERE actor_id = ANY($1) AND action = ANY($2) AND at >= $3`, actors, actions, since)
	return list, fault.Wrap(err, "audit: list subjects")
}

// MaxPage is the maximum page size of [List].
const MaxPage = 1000

// Filter selects entries. Its zero value selects all.
type Filter struct {
	Entity  uuid.UUID
	Actor   uuid.UUID
	Kind    ActorKind // of the actor
	Subject uuid.UUID
	Request uuid.UUID
	Action  string    // a prefix of the action: "key." selects everything about keys
	Since   time.Time // inclusive
	Until   time.Time // exclusive
	Limit   int       // at most MaxPage, which is also the default
	Before  uuid.UUID // an entry: select older ones
}

// ErrNoEntry reports an entry that does not exist.
var ErrNoEntry = fault.New(fault.NotFound, "There is no such entry in the audit trail.")

// Record is a stored entry. Its Before and After are masked.
type Record struct {
	ID uuid.UUID
	Entry
}

// List returns the selected entries, the newest first.
func List(ctx context.Context, from pg.DB, f Filter) ([]Record, error) {
	limit := f.Limit
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	var before time.Time
	if f.Before != uuid.Nil {
		err := from.QueryRow(ctx, `SELECT at FROM audit WHERE id = $1`, f.Before).Scan(&before)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, ErrNoEntry
		}
		if err != nil {
			return nil, fmt.Errorf("audit: find the last entry of the page before: %w", err)
		}
	}
	list, err := f.read(ctx, freshPlan{from}, before, limit)
	if err != nil {
		return nil, fmt.Errorf("audit: list: %w", err)
	}
	return list, nil
}

const columns = `id, at, actor_kind, actor_id, action, subject_id, entity_id, request_id, from_addr, before, after`

// read uses the query that has an index for the filter. A filter that is null or empty
// selects everything.
func (f Filter) read(ctx context.Context, from pg.DB, before time.Time, limit int) ([]Record, error) {
	byID := f.Entity != uuid.Nil || f.Actor != uuid.Nil || f.Subject != uuid.Nil || f.Request != uuid.Nil
	if byID || f.Action == "" && f.Kind == "" {
		return pg.Collect(ctx, from, scan, `SELECT `+columns+` FROM audit
			WHERE ($1::uuid IS NULL OR entity_id = $1) AND ($2::uuid IS NULL OR actor_id = $2) AND ($3::uuid IS NULL OR subject_id = $3)
			  AND ($4::uuid IS NULL OR request_id = $4) AND ($5::text = '' OR actor_kind = $5) AND ($6::text = '' OR starts_with(action, $6))
			  AND ($7::timestamptz IS NULL OR at >= $7) AND ($8::timestamptz IS NULL OR at < $8)
			  AND ($9::timestamptz IS NULL OR (at, id) < ($9, $10::uuid))
			ORDER BY at DESC, id DESC LIMIT $11::bigint`,
			pg.ID(f.Entity), pg.ID(f.Actor), pg.ID(f.Subject), pg.ID(f.Request), f.Kind, f.Action,
			nilIfZero(f.Since), nilIfZero(f.Until), nilIfZero(before), pg.ID(f.Before), limit)
	}
	// A rare combination of action and kind would make the query above read the whole table.
	// There are few combinations: the recursive query finds them one by one with one index
	// step each, and each selected one is then read backwards.
	return pg.Collect(ctx, from, scan, `WITH RECURSIVE combination AS (
			(SELECT f.action, f.actor_kind FROM audit f ORDER BY f.action, f.actor_kind LIMIT 1)
			UNION ALL
			SELECT n.action, n.actor_kind FROM combination s CROSS JOIN LATERAL (
				SELECT a.action, a.actor_kind FROM audit a WHERE (a.action, a.actor_kind) > (s.action, s.actor_kind) ORDER BY a.action, a.actor_kind LIMIT 1) n
		)
		SELECT `+columns+` FROM (SELECT e.* FROM combination s CROSS JOIN LATERAL (
			SELECT * FROM audit a WHERE a.action = s.action AND a.actor_kind = s.actor_kind
			  AND ($3::timestamptz IS NULL OR a.at >= $3) AND ($4::timestamptz IS NULL OR a.at < $4)
			  AND ($5::timestamptz IS NULL OR (a.at, a.id) < ($5, $6::uuid))
			ORDER BY a.at DESC, a.id DESC LIMIT $7::bigint) e
			WHERE starts_with(s.action, $2::text) AND ($1::text = '' OR s.actor_kind = $1)) found
		ORDER BY at DESC, id DESC LIMIT $7`,
		f.Kind, f.Action, nilIfZero(f.Since), nilIfZero(f.Until), nilIfZero(before), pg.ID(f.Before), limit)
}

func scan(row pgx.CollectableRow) (r Record, err error) {
	var actor, entity, request uuid.NullUUID
	var from *netip.Addr
	var before, after []byte
	if err = row.Scan(&r.ID, &r.At, &r.Actor.Kind, &actor, &r.Action, &r.Subject, &entity, &request, &from, &before, &after); err != nil {
		return r, err
	}
	r.At, r.Actor.ID, r.Entity, r.Request = r.At.UTC(), actor.UUID, entity.UUID, request.UUID
	if from != nil {
		r.Actor.From = *from
	}
	if r.Before, err = decode(before); err == nil {
		r.After, err = decode(after)
	}
	return r, err
}

// freshPlan makes PostgreSQL plan every query for its values. A cached generic plan
// cannot know which filters are set, and would read the table from its end.
type freshPlan struct{ pg.DB }

func (p freshPlan) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.DB.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

func decode(text []byte) (fields map[string]any, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("decode the changed values: %w", err)
	}
	return fields, nil
}

func nilIfZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
