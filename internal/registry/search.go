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

	"github.com/lineproof/lineproof/internal/cac"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// Sort is what a list of entities is sorted by.
type Sort string

// The orders in which entities can be listed.
const (
	ByName    Sort = "name"
	ByCreated Sort = "created"
	ByStatus  Sort = "state" // and then by name
)

// Trade is what an entity does here.
type Trade string

// The trades. Whoever supplies lines may ask, too.
const (
	SuppliesLines Trade = "supplies"
	OnlyAsks      Trade = "asks"
)

// MaxFound is how many entities [Registry.Search] returns at most.
const MaxFound = 200

// Search says which entities are wanted, and in which order. Its zero value means
// all of them, by name.
type Search struct {
	Text       string // a part of the name, or of the CAC number in any spelling
	Status     Status
	Trade      Trade
	Client     uuid.UUID // that brought them in
	Sort       Sort
	Descending bool
	After      uuid.UUID // an entity: only what stands behind it
	Limit      int       // at most MaxFound, which is also what 0 means
}

// Found is a part of what was searched for.
type Found struct {
	Entities []Standing
	Next     uuid.UUID // to go on with as After; zero at the end
}

// searchSQL looks for the entities first and counts what those have, not what
// all have. Its verbs are the conditions and, twice, the order.
const searchSQL = `SELECT e.id, e.name, e.cac, e.status, e.document_required, e.supplies, e.asks, e.client_id, e.status_reason, e.status_since, e.created_at,
	(SELECT count(*) FROM api_key k WHERE k.entity_id = e.id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $1)) AS keys,
	(SELECT count(*) FROM account a WHERE a.entity_id = e.id AND a.disabled_at IS NULL) AS accounts
	FROM (SELECT * FROM entity e WHERE %s ORDER BY %s LIMIT $2) e ORDER BY %[2]s`

// orders are the columns of each order. Each has an index.
var orders = map[Sort][]string{
	ByName:    {`lower(e.name) COLLATE "C"`},
	ByCreated: {`e.created_at`},
	ByStatus:  {`e.status`, `lower(e.name) COLLATE "C"`},
}

// Search lists entities. A text is looked for in every one of those that the rest
// of the search leaves.
func (r *Registry) Search(ctx context.Context, s Search) (Found, error) {
	text, args, err := r.query(ctx, s)
	if err != nil {
		return Found{}, err
	}
	rows, err := r.Pool.Query(ctx, text, args...)
	if err != nil {
		return Found{}, fmt.Errorf("registry: search: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[db.StandingsRow])
	if err != nil {
		return Found{}, fmt.Errorf("registry: search: %w", err)
	}
	var found Found
	if limit := s.most(); len(list) > limit {
		list, found.Next = list[:limit], list[limit-1].ID
	}
	for _, row := range list {
		found.Entities = append(found.Entities, standing(row))
	}
	return found, nil
}

// most is how many entities are returned.
func (s Search) most() int {
	if s.Limit <= 0 || s.Limit > MaxFound {
		return MaxFound
	}
	return s.Limit
}

// query is the search as PostgreSQL is asked: for one more than is returned, so
// that it is known whether there are more.
func (r *Registry) query(ctx context.Context, s Search) (text string, args []any, err error) {
	if orders[s.Sort] == nil {
		s.Sort = ByName
	}
	q := &pg.Where{Args: []any{r.now(), s.most() + 1}}
	s.filter(q)
	if err := r.behind(ctx, q, s); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf(searchSQL, q, pg.OrderBy(s.order(), s.Descending)), q.Args, nil
}

func (s Search) order() []string { return append(slices.Clone(orders[s.Sort]), "e.id") }

func (s Search) filter(q *pg.Where) {
	if s.Status != "" {
		q.Add(`e.status = ?`, string(s.Status))
	}
	switch s.Trade {
	case SuppliesLines:
		q.Add(`e.supplies`)
	case OnlyAsks:
		q.Add(`NOT e.supplies`)
	}
	if s.Client != uuid.Nil {
		q.Add(`e.client_id = ?`, s.Client)
	}
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(s.Text, ""), "\x00", ""))
	if text == "" {
		return
	}
	number, _ := cac.Parse(text)
	class := number.Class
	if text[0] >= '0' && text[0] <= '9' {
		class = "" // nobody has said that a company is meant
	}
	q.Add(`(strpos(lower(e.name), lower(?)) > 0 OR strpos(upper(e.cac), upper(?)) > 0
		OR (?::text <> '' AND starts_with(e.cac_digits, ?) AND (?::text = '' OR e.cac_class = ?)))`,
		text, text, number.Digits, number.Digits, class, class)
}

// behind leaves out what stands before the entity after which to go on. One that
// is not there leads to the beginning.
func (r *Registry) behind(ctx context.Context, q *pg.Where, s Search) error {
	if s.After == uuid.Nil {
		return nil
	}
	var name, status string
	var created time.Time
	err := r.Pool.QueryRow(ctx, `SELECT lower(name), status, created_at FROM entity WHERE id = $1`, s.After).Scan(&name, &status, &created)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("registry: find where to go on: %w", err)
	}
	place := map[Sort][]any{ByName: {name}, ByCreated: {created}, ByStatus: {status, name}}[s.Sort]
	q.Behind(s.order(), append(place, s.After), s.Descending)
	return nil
}

// SameCAC lists other entities that have the CAC number of one, in whatever
// spelling, oldest first: at most ten.
func (r *Registry) SameCAC(ctx context.Context, id uuid.UUID) ([]Entity, error) {
	rows, err := db.New(r.Pool).OthersWithCAC(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("registry: look for the same CAC number: %w", err)
	}
	list := make([]Entity, len(rows))
	for i, o := range rows {
		list[i] = Entity{ID: o.ID, Name: o.Name, CAC: o.Cac, Status: Status(o.Status), DocumentRequired: o.DocumentRequired, CreatedAt: o.CreatedAt.UTC()}
	}
	return list, nil
}
