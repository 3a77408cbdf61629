package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// PlanOf returns the plan of PostgreSQL for a search.
func (r *Registry) PlanOf(ctx context.Context, s EntityFilter) (string, error) {
	text, args, err := r.query(ctx, s)
	if err != nil {
		return "", err
	}
	if _, err := r.Pool.Exec(ctx, `ANALYZE entity`); err != nil {
		return "", fmt.Errorf("registry: %w", err)
	}
	rows, err := r.Pool.Query(ctx, "EXPLAIN "+text, args...)
	if err != nil {
		return "", fmt.Errorf("registry: %w", err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}
