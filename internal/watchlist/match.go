package watchlist

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Match is one number in one list.
type Match struct {
	Number phone.Number
	List   uuid.UUID
	Entity uuid.UUID
}

// MatchTest returns which of these test numbers are in which test lists of an
// organisation.
func MatchTest(ctx context.Context, tx pg.Tx, entity uuid.UUID, numbers []phone.Number) ([]Match, error) {
	return matchLists(ctx, tx, numbers, ` AND l.mode = 'test' AND l.entity_id = $2`, entity)
}

// MatchLive returns which of these numbers are in which active live lists. Tx has the mark
// of the outbox locked, so that no list changes meanwhile.
func MatchLive(ctx context.Context, tx pg.Tx, numbers []phone.Number) ([]Match, error) {
	return matchLists(ctx, tx, numbers, ` AND l.mode = 'live'`)
}

// matchLists returns which numbers are in which active lists of those that the condition
// selects.
func matchLists(ctx context.Context, tx pg.Tx, numbers []phone.Number, condition string, args ...any) (matches []Match, err error) {
	byBlock := make(map[int64][]phone.Number)
	var keys []int64
	for _, n := range numbers {
		key, _ := place(n)
		if byBlock[key] == nil {
			keys = append(keys, key)
		}
		if !slices.Contains(byBlock[key], n) {
			byBlock[key] = append(byBlock[key], n)
		}
	}
	rows, err := tx.Query(ctx, `SELECT b.block, b.members, l.id, l.entity_id FROM watch_block b JOIN watch_list l ON l.blocks = b.list
		WHERE b.block = ANY($1) AND l.state = 'active'`+condition, append([]any{keys}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("watchlist: match numbers: %w", err)
	}
	var key int64
	var text []byte
	var list, entity uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&key, &text, &list, &entity}, func() error {
		for _, n := range byBlock[key] {
			if _, rest := place(n); contains(text, rest) {
				matches = append(matches, Match{Number: n, List: list, Entity: entity})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("watchlist: match numbers: %w", err)
	}
	return matches, nil
}

// WhoWatches returns the organisations that have an active live list with members, in the
// order of their ids.
func WhoWatches(ctx context.Context, from pg.DB) ([]uuid.UUID, error) {
	rows, err := from.Query(ctx, `SELECT DISTINCT entity_id FROM watch_list WHERE mode = 'live' AND state = 'active' AND members > 0 ORDER BY entity_id`)
	if err != nil {
		return nil, fmt.Errorf("watchlist: find who watches: %w", err)
	}
	entities, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("watchlist: find who watches: %w", err)
	}
	return entities, nil
}
