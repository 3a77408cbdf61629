package journal

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// PagesRead returns how many pages of a day of the database the search reads, as
// PostgreSQL counts them.
func (s *Search) PagesRead(ctx context.Context, day time.Time) (pages int, err error) {
	var plans []struct {
		Plan struct {
			Type  string `json:"Node Type"`
			Lossy int    `json:"Lossy Heap Blocks"`
			Exact int    `json:"Exact Heap Blocks"`
		}
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if err := tx.Conn().PgConn().Exec(ctx, readSettings).Close(); err != nil {
			return err
		}
		var text []byte
		sql, args := (&searchRun{Search: s, numbers: s.Numbers}).query(dayOf(day))
		if err := tx.QueryRow(ctx, `EXPLAIN (ANALYZE, FORMAT JSON) `+sql, args...).Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal(text, &plans)
	})
	if err == nil && plans[0].Plan.Type != "Bitmap Heap Scan" {
		err = errors.New("the plan is a " + plans[0].Plan.Type)
	}
	if err != nil {
		return 0, err
	}
	return plans[0].Plan.Lossy + plans[0].Plan.Exact, nil
}
