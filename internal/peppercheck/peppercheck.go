// Package peppercheck opens the peppers of the settings, and refuses those under which no
// credential of the database was hashed.
package peppercheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrPepper reports a pepper under which no credential of this database was
// ever hashed. With it every key, token and session would be rejected here, and
// every credential created here would be rejected by the other nodes.
var ErrPepper = errors.New("the pepper is not one under which the credentials of this database were hashed; " +
	"restore LINEPROOF_DATA/pepper, or set LINEPROOF_PEPPERS to the same list on every node")

// probe is a fixed text whose HMAC is stored for every pepper that was in
// use. It is no credential.
const probe = "lineproof pepper check"

// Open returns the peppers of list after comparing them with the database,
// and stores a mark of the newest there. Exist says whether a pepper was
// configured or created before. If none was, list would create one; on a database
// that is already marked Open then fails without calling list.
func Open(ctx context.Context, pool *pgxpool.Pool, exist bool, list func() ([]secret.Text, error)) (*secret.Peppers, error) {
	if !exist {
		if err := Check(ctx, pool, nil); err != nil {
			return nil, err
		}
	}
	texts, err := list()
	if err != nil {
		return nil, err
	}
	opened, err := secret.NewPeppers(texts)
	if err != nil {
		return nil, err
	}
	return opened, pg.InTx(ctx, pool, func(tx pg.Tx) error {
		// Two nodes that start on a new database with different peppers must not
		// both find it unmarked.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof peppers', 0))`); err != nil {
			return fmt.Errorf("peppercheck: lock: %w", err)
		}
		if err := Check(ctx, tx, opened); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO pepper_check (mac, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, opened.Sign(probe), time.Now()); err != nil {
			return fmt.Errorf("peppercheck: mark the newest: %w", err)
		}
		return nil
	})
}

// Check returns ErrPepper if the database has marks and none of them was
// made with one of these peppers. Nil means no pepper at all.
func Check(ctx context.Context, from pg.DB, list *secret.Peppers) error {
	rows, err := from.Query(ctx, `SELECT mac FROM pepper_check`)
	if err != nil {
		return fmt.Errorf("peppercheck: read the marks: %w", err)
	}
	marks, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return fmt.Errorf("peppercheck: read the marks: %w", err)
	}
	if len(marks) == 0 {
		return nil
	}
	if list != nil {
		for _, mac := range list.Candidates(probe) {
			if slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Equal(m, mac) }) {
				return nil
			}
		}
	}
	return ErrPepper
}
