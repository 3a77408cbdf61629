package document

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// MaxPage is how many documents [Store.List] returns at most.
const MaxPage = 1000

// Filter says which documents are meant, and in which order. Its zero value means
// all.
type Filter struct {
	Entity     uuid.UUID
	States     []State
	Type       string
	Sort       Sort // "" for the order that List has by itself
	Descending bool // of what is sorted
	// Called are labels as a reader knows them, for ByKind; one that is not in it
	// stands for itself.
	Called map[string]string
	After  string // what List returned as next, to go on from there in the same order
	Limit  int    // at most MaxPage, which is also what 0 means
}

var errCursor = fault.ErrInvalid.With(fault.Violation{Field: "cursor", Code: fault.BadFormat, Message: "Give what the last answer returned as next, or nothing."})

// listSQL has the columns of the query Find. It looks for the ids first, because
// to sort whole rows takes twice the time. Its verbs are the condition and, twice,
// the order.
const listSQL = `SELECT d.id, d.entity_id, e.name AS entity_name, d.type, d.label, d.file_name, d.media_type, d.size, d.sha256, d.state, d.reason, d.note,
	d.uploader, d.uploader_id, d.created_at, d.moved_at, d.held_at, d.held_for, o.id AS replaces, d.replaced_by
	FROM (SELECT d.id FROM document d JOIN entity e ON e.id = d.entity_id WHERE %s ORDER BY %s LIMIT $1) p
	JOIN document d ON d.id = p.id JOIN entity e ON e.id = d.entity_id LEFT JOIN document o ON o.replaced_by = d.id ORDER BY %[2]s`

// List returns the documents that f means and where to go on if there are more.
// Unless f has a sort, the newest is first. Those that wait for a reviewer, asked
// for alone, come the other way round: who has waited longest is first.
func (s *Store) List(ctx context.Context, f Filter) (docs []Document, next string, err error) {
	limit := f.Limit
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	if orders[f.Sort].value == "" {
		f.Sort, f.Descending = "", !slices.Equal(f.States, []State{Clean})
	}
	// One more than is shown tells whether there are more.
	q := &pg.Where{Args: []any{limit + 1}}
	f.conditions(q)
	order, err := f.order(q)
	if err != nil {
		return nil, "", err
	}
	rows, err := s.Pool.Query(ctx, fmt.Sprintf(listSQL, q, order), q.Args...)
	if err != nil {
		return nil, "", fmt.Errorf("document: list: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[db.FindRow])
	if err != nil {
		return nil, "", fmt.Errorf("document: list: %w", err)
	}
	docs = make([]Document, len(list))
	for i := range list {
		docs[i] = documentOf(&list[i])
	}
	if len(docs) > limit {
		docs = docs[:limit]
		next = f.next(&docs[limit-1])
	}
	return docs, next, nil
}

func (f *Filter) conditions(q *pg.Where) {
	if f.Entity != uuid.Nil {
		q.Add(`d.entity_id = ?`, f.Entity)
	}
	switch len(f.States) {
	case 0:
	case 1: // in a form for which the index has the order, too
		q.Add(`d.state = ?`, string(f.States[0]))
	default:
		q.Add(`d.state = ANY(?::text[])`, words(f.States))
	}
	if f.Type != "" {
		q.Add(`d.type = ?`, f.Type)
	}
}

func words(states []State) []string {
	list := make([]string, len(states))
	for i, s := range states {
		list[i] = string(s)
	}
	return list
}
