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

// MaxPage is how many entries [List] returns at most.
const MaxPage = 1000

// Filter says which entries are meant. Its zero value means all.
type Filter struct {
	Entity  uuid.UUID
	Actor   uuid.UUID
	Kind    ActorKind // of the actor
	Subject uuid.UUID
	Request uuid.UUID
	Action  string    // the beginning of the action's word: "key." means everything about keys
	Since   time.Time // not earlier
	Until   time.Time // earlier
	Limit   int       // at most MaxPage, which is also what 0 means
	Before  uuid.UUID // an entry: only what is older
}

// ErrNoEntry reports an entry that is not in the trail.
var ErrNoEntry = fault.New(fault.NotFound, "There is no such entry in the audit trail.")

// Written is an entry as it stands in the trail. Its Before and After are masked.
type Written struct {
	ID uuid.UUID
	Entry
}

// List returns the entries that f means, the newest first.
func List(ctx context.Context, from pg.DB, f Filter) ([]Written, error) {
	limit := f.Limit
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	q := db.New(planned{from})
	var before time.Time
	if f.Before != uuid.Nil {
		at, err := q.At(ctx, f.Before)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, ErrNoEntry
		}
		if err != nil {
			return nil, fmt.Errorf("audit: find the entry to go on from: %w", err)
		}
		before = at
	}
	rows, err := read(ctx, q, f, before, limit)
	if err != nil {
		return nil, fmt.Errorf("audit: list: %w", err)
	}
	list := make([]Written, 0, len(rows))
	for _, r := range rows {
		w := Written{r.ID, Entry{
			At: r.At.UTC(), Actor: Actor{Kind: ActorKind(r.ActorKind), ID: r.ActorID.UUID}, Action: Action(r.Action),
			Subject: r.SubjectID, Entity: r.EntityID.UUID, Request: r.RequestID.UUID,
		}}
		if r.FromAddr != nil {
			w.Actor.From = *r.FromAddr
		}
		if w.Before, err = changed(r.Before); err != nil {
			return nil, err
		}
		if w.After, err = changed(r.After); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// read asks for the entries in the way that has an index.
func read(ctx context.Context, q *db.Queries, f Filter, before time.Time, limit int) ([]db.Audit, error) {
	named := f.Entity != uuid.Nil || f.Actor != uuid.Nil || f.Subject != uuid.Nil || f.Request != uuid.Nil
	if named || f.Action == "" && f.Kind == "" {
		return q.List(ctx, db.ListParams{
			EntityID: pg.ID(f.Entity), ActorID: pg.ID(f.Actor), SubjectID: pg.ID(f.Subject), RequestID: pg.ID(f.Request), ActorKind: string(f.Kind), Action: f.Action,
			Since: moment(f.Since), Until: moment(f.Until), BeforeAt: moment(before), BeforeID: pg.ID(f.Before), Most: int64(limit),
		})
	}
	return q.ListSorts(ctx, db.ListSortsParams{
		ActorKind: string(f.Kind), Action: f.Action, Since: moment(f.Since), Until: moment(f.Until), BeforeAt: moment(before), BeforeID: pg.ID(f.Before), Most: int64(limit),
	})
}

// planned has the database plan every question for the values in it. A plan
// that is kept for all of them cannot know which filters are set, and would read
// the trail from its end.
type planned struct{ pg.DB }

func (p planned) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return p.DB.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

func changed(text []byte) (fields map[string]any, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("audit: read what changed: %w", err)
	}
	return fields, nil
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
