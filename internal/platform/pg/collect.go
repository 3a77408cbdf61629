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
	var key K
	var value V
	found := map[K]V{}
	err := ForEach(ctx, from, []any{&key, &value}, func() error {
		found[key] = value
		return nil
	}, sql, args...)
	return found, err
}

// ForEach scans each row of a query into the variables, and calls do.
func ForEach(ctx context.Context, from DB, into []any, do func() error, sql string, args ...any) error {
	rows, err := from.Query(ctx, sql, args...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, into, do)
	}
	return err
}
