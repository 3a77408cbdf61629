package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Sort is the column that sorts a list of entities.
type Sort string

// The orders in which entities can be listed.
const (
	ByName    Sort = "name"
	ByCreated Sort = "created"
	ByStatus  Sort = "state" // and then by name
)

// Activity is the use that an entity makes of the service.
type Activity string

// The activities. An entity that supplies lines may verify numbers too.
const (
	SuppliesLines Activity = "supplies"
	OnlyVerifies  Activity = "asks"
)

// MaxFound is the maximum page size of [Registry.Search].
const MaxFound = 200

// EntityFilter selects and orders entities. Its zero value selects all of them,
// ordered by name.
type EntityFilter struct {
	Text       string // part of the name, or of the CAC number in any spelling
	Status     Status
	Activity   Activity
	Client     uuid.UUID // that onboarded them
	Sort       Sort
	Descending bool
	After      uuid.UUID // the Next of the page before
	Limit      int       // at most MaxFound, which is also the default
}

// EntityPage is one page of the entities found.
type EntityPage struct {
	Entities []EntityDetails
	Next     uuid.UUID // the After of the next page; zero on the last
}

// searchSQL selects the entities of the page first and counts accounts only for
// those. Its verbs are the conditions and, twice, the order.
const searchSQL = `SELECT ` + detailColumns + ` FROM (SELECT * FROM entity e WHERE %s ORDER BY %s LIMIT $1) e ORDER BY %[2]s`

// orders are the columns of each order. Each order has an index.
var orders = map[Sort][]string{
	ByName:    {`lower(e.name) COLLATE "C"`},
	ByCreated: {`e.created_at`},
	ByStatus:  {`e.status`, `lower(e.name) COLLATE "C"`},
}

// Search returns one page of entities. A text has no index: it is compared with
// every entity that matches the other conditions.
func (r *Registry) Search(ctx context.Context, f EntityFilter) (EntityPage, error) {
	text, args, err := r.query(ctx, f)
	if err != nil {
		return EntityPage{}, err
	}
	list, err := pg.Collect(ctx, r.Pool, scanDetails, text, args...)
	if err != nil {
		return EntityPage{}, fmt.Errorf("registry: search: %w", err)
	}
	found := EntityPage{Entities: list}
	if limit := f.pageSize(); len(list) > limit {
		found.Entities, found.Next = list[:limit], list[limit-1].ID
	}
	return found, nil
}

func (f EntityFilter) pageSize() int {
	if f.Limit <= 0 || f.Limit > MaxFound {
		return MaxFound
	}
	return f.Limit
}

// query returns the statement of a search and its arguments. It selects one row
// more than the page has, to know whether there is a next page.
func (r *Registry) query(ctx context.Context, f EntityFilter) (text string, args []any, err error) {
	if orders[f.Sort] == nil {
		f.Sort = ByName
	}
	q := &pg.Where{Args: []any{f.pageSize() + 1}}
	f.addConditions(q)
	if err := r.addCursor(ctx, q, f); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf(searchSQL, q, pg.OrderBy(f.order(), f.Descending)), q.Args, nil
}

func (f EntityFilter) order() []string { return append(slices.Clone(orders[f.Sort]), "e.id") }

func (f EntityFilter) addConditions(q *pg.Where) {
	if f.Status != "" {
		q.Add(`e.status = ?`, string(f.Status))
	}
	switch f.Activity {
	case SuppliesLines:
		q.Add(`e.supplies`)
	case OnlyVerifies:
		q.Add(`NOT e.supplies`)
	}
	if f.Client != uuid.Nil {
		q.Add(`e.client_id = ?`, f.Client)
	}
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(f.Text, ""), "\x00", ""))
	if text == "" {
		return
	}
	number, _ := ParseCAC(text)
	class := number.Class
	if text[0] >= '0' && text[0] <= '9' {
		class = "" // digits alone match every class of number, not only companies
	}
	q.Add(`(strpos(lower(e.name), lower(?)) > 0 OR strpos(upper(e.cac), upper(?)) > 0
		OR (?::text <> '' AND starts_with(e.cac_digits, ?) AND (?::text = '' OR e.cac_class = ?)))`,
		text, text, number.Digits, number.Digits, class, class)
}

// addCursor adds the condition that skips everything up to the entity f.After. If
// that entity does not exist, the first page is returned.
func (r *Registry) addCursor(ctx context.Context, q *pg.Where, f EntityFilter) error {
	if f.After == uuid.Nil {
		return nil
	}
	var name, status string
	var created time.Time
	err := r.Pool.QueryRow(ctx, `SELECT lower(name), status, created_at FROM entity WHERE id = $1`, f.After).Scan(&name, &status, &created)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("registry: read the last entity of the page before: %w", err)
	}
	place := map[Sort][]any{ByName: {name}, ByCreated: {created}, ByStatus: {status, name}}[f.Sort]
	q.After(f.order(), append(place, f.After), f.Descending)
	return nil
}

// WithCAC lists at most ten entities with a CAC number, in any spelling, oldest first.
func (r *Registry) WithCAC(ctx context.Context, written string) ([]Entity, error) {
	number, ok := ParseCAC(written)
	if !ok {
		return nil, nil
	}
	list, err := pg.Collect(ctx, r.Pool, scanEntity, `SELECT `+entityColumns+` FROM entity WHERE `+withCAC+` ORDER BY created_at LIMIT 10`, number.Text, number.Class, number.Digits)
	return list, fault.Wrap(err, "registry: look for a CAC number")
}

// SameCAC lists at most ten other entities with the same CAC number as this one,
// in any spelling, oldest first.
func (r *Registry) SameCAC(ctx context.Context, id uuid.UUID) ([]Entity, error) {
	list, err := pg.Collect(ctx, r.Pool, scanEntity, `SELECT o.id, o.name, o.cac, o.status, o.document_required, o.created_at FROM entity e JOIN entity o
		ON upper(o.cac) = upper(e.cac) OR (o.cac_class = e.cac_class AND o.cac_digits = e.cac_digits)
		WHERE e.id = $1 AND o.id <> e.id ORDER BY o.created_at, o.id LIMIT 10`, id)
	return list, fault.Wrap(err, "registry: look for the same CAC number")
}
