package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Collect returns all rows of a query.
func Collect[T any](ctx context.Context, from DB, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := from.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// CollectOne returns the one row of a query, or [pgx.ErrNoRows].
func CollectOne[T any](ctx context.Context, from DB, scan pgx.RowToFunc[T], sql string, args ...any) (one T, err error) {
	rows, err := from.Query(ctx, sql, args...)
	if err != nil {
		return one, err
	}
	return pgx.CollectOneRow(rows, scan)
}

// CollectMap returns the two columns of all rows of a query by the first.
func CollectMap[K comparable, V any](ctx context.Context, from DB, sql string, args ...any) (map[K]V, error) {
	rows, err := from.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	var key K
	var value V
	found := map[K]V{}
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		found[key] = value
		return nil
	})
	return found, err
}
