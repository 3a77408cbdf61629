package watchlist

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Match is one number in one list.
type Match struct {
	Number phone.Number
	List   uuid.UUID
	Entity uuid.UUID
}

// MatchTest finds test numbers in the test lists of an organisation.
func MatchTest(ctx context.Context, tx pg.Tx, entity uuid.UUID, numbers []phone.Number) ([]Match, error) {
	// Members and lists are read one after the other: no list may be replaced meanwhile.
	if _, err := tx.Exec(ctx, `SELECT FROM watch_list WHERE entity_id = $1 AND mode = 'test' FOR SHARE`, entity); err != nil {
		return nil, fmt.Errorf("watchlist: lock test lists: %w", err)
	}
	return matchLists(ctx, tx, numbers, ` AND l.mode = 'test' AND l.entity_id = $2`, entity)
}

// MatchLive finds numbers in the active live lists. Tx has the mark
// of the outbox locked, so that no list changes meanwhile.
func MatchLive(ctx context.Context, tx pg.Tx, numbers []phone.Number) ([]Match, error) {
	return matchLists(ctx, tx, numbers, ` AND l.mode = 'live'`)
}

// matchLists finds numbers in the active lists that the condition selects.
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
	found, err := findBlocks(ctx, tx, keys, byBlock)
	if err != nil {
		return nil, fmt.Errorf("watchlist: match numbers: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	var list int32
	var id, entity uuid.UUID
	err = pg.ForEach(ctx, tx, []any{&list, &id, &entity}, func() error {
		for _, n := range found[list] {
			matches = append(matches, Match{Number: n, List: id, Entity: entity})
		}
		return nil
	}, `SELECT blocks, id, entity_id FROM watch_list l WHERE l.blocks = ANY($1) AND l.state = 'active'`+condition, append([]any{slices.Collect(maps.Keys(found))}, args...)...)
	return matches, fault.Wrap(err, "watchlist: match numbers")
}

// findBlocks finds the numbers of these blocks in lists, by the number of the list in
// watch_block. It must not read the whole table, which PostgreSQL would do
// before it has statistics of lists that were just loaded. The blocks are looked up one by
// one: for block = ANY there is a bitmap of pages, which for thousands of blocks does not
// fit into work_mem, and then every row of a page is compared with every block.
func findBlocks(ctx context.Context, tx pg.Tx, keys []int64, byBlock map[int64][]phone.Number) (map[int32][]phone.Number, error) {
	found := make(map[int32][]phone.Number)
	var key int64
	var list int32
	var text pgtype.DriverBytes
	batch := &pgx.Batch{}
	batch.Queue(`SET LOCAL enable_seqscan = off`)
	batch.Queue(`SELECT b.block, b.list, b.members FROM unnest($1::bigint[]) AS k (block) CROSS JOIN LATERAL (SELECT * FROM watch_block w WHERE w.block = k.block OFFSET 0) b`, keys).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&key, &list, &text}, func() error {
			for _, n := range byBlock[key] {
				if _, rest := place(n); contains(text, rest) {
					found[list] = append(found[list], n)
				}
			}
			return nil
		})
		return err
	})
	batch.Queue(`SET LOCAL enable_seqscan TO DEFAULT`)
	return found, tx.SendBatch(ctx, batch).Close()
}

// WhoWatches returns the organisations that have an active live list with members, in the
// order of their ids.
func WhoWatches(ctx context.Context, from pg.DB) ([]uuid.UUID, error) {
	entities, err := pg.Collect(ctx, from, pgx.RowTo[uuid.UUID], `SELECT DISTINCT entity_id FROM watch_list WHERE mode = 'live' AND state = 'active' AND members > 0 ORDER BY entity_id`)
	return entities, fault.Wrap(err, "watchlist: find who watches")
}

// Interval is a run of numbers, without its end.
type Interval struct{ Start, End int64 }

// CountWithin returns how many numbers each organisation watches in these intervals, by its
// active live lists. A number in two lists counts twice. Intervals begin and end with whole
// blocks, as ranges of a numbering plan do; others are counted by their whole blocks.
func CountWithin(ctx context.Context, from pg.DB, intervals []Interval) (map[uuid.UUID]int64, error) {
	counts := make(map[uuid.UUID]int64)
	if len(intervals) == 0 {
		return counts, nil
	}
	var first, end []int64
	for _, i := range intervals {
		first, end = append(first, i.Start/perBlock), append(end, (i.End+perBlock-1)/perBlock)
	}
	var entity uuid.UUID
	var count int64
	err := pg.ForEach(ctx, from, []any{&entity, &count}, func() error {
		counts[entity] = count
		return nil
	}, `SELECT l.entity_id, sum(CASE WHEN octet_length(b.members) = $3 THEN bit_count(b.members) ELSE get_byte(b.members, 0) END)::bigint
		FROM unnest($1::bigint[], $2::bigint[]) AS r (first, past) JOIN watch_block b ON b.block >= r.first AND b.block < r.past JOIN watch_list l ON l.blocks = b.list
		WHERE l.mode = 'live' AND l.state = 'active' GROUP BY l.entity_id`, first, end, bitmapSize)
	return counts, fault.Wrap(err, "watchlist: count numbers")
}
