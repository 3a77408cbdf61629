package document

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// MaxPage is how many documents [Store.List] returns at most.
const MaxPage = 1000

// Filter says which documents are meant. Its zero value means all.
type Filter struct {
	Entity uuid.UUID
	States []State
	Type   string
	After  string // what List returned as next, to go on from there
	Limit  int    // at most MaxPage, which is also what 0 means
}

var errCursor = fault.ErrInvalid.With(fault.Violation{Field: "cursor", Code: fault.BadFormat, Message: "Give what the last answer returned as next, or nothing."})

// List returns the documents that f means, the newest first, and where to go on
// if there are more. Those that wait for a reviewer, asked for alone, come the
// other way round: who has waited longest is first.
func (s *Store) List(ctx context.Context, f Filter) (docs []Document, next string, err error) {
	limit := f.Limit
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	var after uuid.UUID
	if f.After != "" {
		if after, err = uuid.Parse(f.After); err != nil || len(f.After) != 36 {
			return nil, "", errCursor
		}
	}
	states := make([]string, len(f.States))
	for i, state := range f.States {
		states[i] = string(state)
	}
	// One more than is shown tells whether there are more.
	p := db.NewestParams{EntityID: pg.ID(f.Entity), States: states, Type: f.Type, After: pg.ID(after), Most: int32(limit) + 1}
	if slices.Equal(f.States, []State{Clean}) {
		rows, failed := db.New(s.Pool).Oldest(ctx, db.OldestParams(p))
		docs, err = documentsOf(rows, func(r *db.OldestRow) db.FindRow { return db.FindRow(*r) }), failed
	} else {
		rows, failed := db.New(s.Pool).Newest(ctx, p)
		docs, err = documentsOf(rows, func(r *db.NewestRow) db.FindRow { return db.FindRow(*r) }), failed
	}
	if err != nil {
		return nil, "", fmt.Errorf("document: list: %w", err)
	}
	if len(docs) > limit {
		docs = docs[:limit]
		next = docs[limit-1].ID.String()
	}
	return docs, next, nil
}

func documentsOf[R any](rows []R, plain func(*R) db.FindRow) []Document {
	docs := make([]Document, len(rows))
	for i := range rows {
		row := plain(&rows[i])
		docs[i] = documentOf(&row)
	}
	return docs
}
