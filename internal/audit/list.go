package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/audit/internal/db"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

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
	q := db.New(freshPlan{from})
	var before time.Time
	if f.Before != uuid.Nil {
		at, err := q.At(ctx, f.Before)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, ErrNoEntry
		}
		if err != nil {
			return nil, fmt.Errorf("audit: find the last entry of the page before: %w", err)
		}
		before = at
	}
	rows, err := read(ctx, q, f, before, limit)
	if err != nil {
		return nil, fmt.Errorf("audit: list: %w", err)
	}
	list := make([]Record, 0, len(rows))
	for _, r := range rows {
		w := Record{r.ID, Entry{
			At: r.At.UTC(), Actor: Actor{Kind: ActorKind(r.ActorKind), ID: r.ActorID.UUID}, Action: Action(r.Action),
			Subject: r.SubjectID, Entity: r.EntityID.UUID, Request: r.RequestID.UUID,
		}}
		if r.FromAddr != nil {
			w.Actor.From = *r.FromAddr
		}
		if w.Before, err = decode(r.Before); err != nil {
			return nil, err
		}
		if w.After, err = decode(r.After); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// read uses the query that has an index for the filter.
func read(ctx context.Context, q *db.Queries, f Filter, before time.Time, limit int) ([]db.Audit, error) {
	byID := f.Entity != uuid.Nil || f.Actor != uuid.Nil || f.Subject != uuid.Nil || f.Request != uuid.Nil
	if byID || f.Action == "" && f.Kind == "" {
		return q.List(ctx, db.ListParams{
			EntityID: pg.ID(f.Entity), ActorID: pg.ID(f.Actor), SubjectID: pg.ID(f.Subject), RequestID: pg.ID(f.Request), ActorKind: string(f.Kind), Action: f.Action,
			Since: nilIfZero(f.Since), Until: nilIfZero(f.Until), BeforeAt: nilIfZero(before), BeforeID: pg.ID(f.Before), MaxRows: int64(limit),
		})
	}
	return q.ListByAction(ctx, db.ListByActionParams{
		ActorKind: string(f.Kind), Action: f.Action, Since: nilIfZero(f.Since), Until: nilIfZero(f.Until), BeforeAt: nilIfZero(before), BeforeID: pg.ID(f.Before), MaxRows: int64(limit),
	})
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
		return nil, fmt.Errorf("audit: decode the changed values: %w", err)
	}
	return fields, nil
}

func nilIfZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
