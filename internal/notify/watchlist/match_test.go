package watchlist_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Changes in thousands of blocks are matched as fast as the first time, when PostgreSQL
// has settled on a plan for any blocks, and also where a bitmap of their pages would not
// fit into memory.
func TestManyBlocksAreMatchedWithoutReadingTheTable(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const blocks, lists, changes, rounds = 10_000, 40, 5_000, 8
	_, err := e.pool.Exec(t.Context(), `INSERT INTO watch_block (block, list, members) SELECT $1::bigint + b, -l, '\x0000' FROM generate_series(1, $2::integer) l, generate_series(0, $3::integer - 1) b`,
		number(0).Int()/1000, lists, blocks)
	if err != nil {
		t.Fatal(err)
	}
	some := make([]phone.Number, changes)
	for i := range some {
		some[i] = number(i * 2 * 1000)
	}
	var took []time.Duration
	err = pg.InTx(t.Context(), e.pool, func(tx pg.Tx) error {
		if _, err := tx.Exec(t.Context(), `SET LOCAL work_mem = '64kB'`); err != nil {
			return err
		}
		for range rounds {
			began := time.Now()
			if _, err := watchlist.MatchLive(t.Context(), tx, some); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := took[0], took[rounds-1]; last > 4*first+time.Second {
		t.Errorf("matching took %s at first and %s in the end", first, last)
	}
	t.Logf("matched in %s", took)
}
