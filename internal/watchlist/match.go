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

// MatchLive returns which of these numbers are in which active live lists. Tx has the mark
// of the outbox locked, so that no list changes meanwhile.
func MatchLive(ctx context.Context, tx pg.Tx, numbers []phone.Number) (matches []Match, err error) {
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
		WHERE b.block = ANY($1) AND l.state = 'active' AND l.mode = 'live'`, keys)
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
