// This part of the package opens the peppers of the settings, and refuses those under which no
// credential of the database was hashed.

package rowmac

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// ErrPepper reports a pepper under which no credential of this database was
// ever hashed. With it every key, token and session would be rejected here, and
// every credential created here would be rejected by the other nodes.
var ErrPepper = errors.New("the pepper is not one under which the credentials of this database were hashed; " +
	"restore LINEPROOF_DATA/pepper, or set LINEPROOF_PEPPERS to the same list on every node")

// OpenPeppers returns the peppers of list after comparing them with the database,
// and stores a mark of the newest there. Exist says whether a pepper was
// configured or created before. If none was, list would create one; on a database
// that is already marked Open then fails without calling list.
func OpenPeppers(ctx context.Context, pool *pgxpool.Pool, exist bool, list func() ([]secret.Text, error)) (*secret.Peppers, error) {
	if !exist {
		if err := CheckPeppers(ctx, pool, nil); err != nil {
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
			return fmt.Errorf("rowmac: lock: %w", err)
		}
		if err := CheckPeppers(ctx, tx, opened); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO pepper_check (mac, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, opened.Sign(secret.ForPepperMarks), time.Now())
		return fault.Wrap(err, "rowmac: mark the newest")
	})
}

// CheckPeppers returns ErrPepper if the database has marks and none of them was
// made with one of these peppers. Nil means no pepper at all.
func CheckPeppers(ctx context.Context, from pg.DB, list *secret.Peppers) error {
	marks, err := pg.Collect(ctx, from, pgx.RowTo[[]byte], `SELECT mac FROM pepper_check`)
	if err != nil {
		return fmt.Errorf("rowmac: read the marks: %w", err)
	}
	if len(marks) == 0 {
		return nil
	}
	if list != nil {
		for _, mac := range list.Candidates(secret.ForPepperMarks) {
			if slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Equal(m, mac) }) {
				return nil
			}
		}
	}
	return ErrPepper
}
