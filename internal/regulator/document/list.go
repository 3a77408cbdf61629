package document

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// MaxPage is how many documents [Store.List] returns at most.
const MaxPage = 1000

// Filter selects documents and their order. The zero value selects all.
type Filter struct {
	Entity     uuid.UUID
	States     []State
	Type       string
	Sort       Sort // "" for the default order of List
	Descending bool // only with Sort
	// Called maps labels to the names that the reader sees, for ByKind; a label that
	// is not in it is its own name.
	LabelNames map[string]string
	After      string // the cursor that List returned as next, for the same order
	Limit      int    // at most MaxPage, which is also what 0 means
}

var errCursor = fault.ErrInvalid.With(fault.Violation{Field: "cursor", Code: fault.BadFormat, Message: "Use the value of next in the previous response, or omit the cursor."})

// listSQL selects the ids first, because
// sorting whole rows takes twice the time. Its format verbs are the condition and,
// twice, the order.
const listSQL = `SELECT ` + columns + ` FROM (SELECT d.id FROM document d JOIN entity e ON e.id = d.entity_id WHERE %s ORDER BY %s LIMIT $1) p
	JOIN document d ON d.id = p.id JOIN entity e ON e.id = d.entity_id LEFT JOIN document o ON o.replaced_by = d.id ORDER BY %[2]s`

// List returns the documents that f selects, and a cursor if there are more.
// Without a sort, the newest is first. If f selects only documents that wait for a
// reviewer, the oldest is first: it has waited longest.
func (s *Store) List(ctx context.Context, f Filter) (docs []Document, next string, err error) {
	limit := f.Limit
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	if orders[f.Sort].value == "" {
		f.Sort, f.Descending = "", !slices.Equal(f.States, []State{Clean})
	}
	// One row more than the page shows whether there are more.
	q := &pg.Where{Args: []any{limit + 1}}
	f.conditions(q)
	order, err := f.order(q)
	if err != nil {
		return nil, "", err
	}
	docs, err = pg.Collect(ctx, s.Pool, scan, fmt.Sprintf(listSQL, q, order), q.Args...)
	if err != nil {
		return nil, "", fmt.Errorf("document: list: %w", err)
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
	case 1: // the index also has the order for this form
		q.Add(`d.state = ?`, string(f.States[0]))
	default:
		q.Add(`d.state = ANY(?::text[])`, stateNames(f.States))
	}
	if f.Type != "" {
		q.Add(`d.type = ?`, f.Type)
	}
}

func stateNames(states []State) []string {
	list := make([]string, len(states))
	for i, s := range states {
		list[i] = string(s)
	}
	return list
}
