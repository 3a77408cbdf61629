package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrPepper reports a pepper under which no credential of this database was
// ever hashed. With it every key, token and session would be rejected here, and
// every credential created here would be rejected by the other nodes.
var ErrPepper = errors.New("the pepper is not one under which the credentials of this database were hashed; " +
	"restore LINEPROOF_DATA/pepper, or set LINEPROOF_PEPPERS to the same list on every node")

// pepperProbe is a fixed text whose HMAC is stored for every pepper that was in
// use. It is no credential.
const pepperProbe = "lineproof pepper check"

// OpenPeppers returns the peppers of list after comparing them with the database,
// and stores a mark of the newest there. Exist says whether a pepper was
// configured or created before. If none was, list would create one; on a database
// that is already marked OpenPeppers then fails without calling list.
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
	peppers, err := secret.NewPeppers(texts)
	if err != nil {
		return nil, err
	}
	return peppers, pg.InTx(ctx, pool, func(tx pg.Tx) error {
		// Two nodes that start on a new database with different peppers must not
		// both find it unmarked.
		if err := db.New(tx).LockPeppers(ctx); err != nil {
			return fmt.Errorf("access: lock the peppers: %w", err)
		}
		if err := CheckPeppers(ctx, tx, peppers); err != nil {
			return err
		}
		return db.New(tx).InsertPepperCheck(ctx, db.InsertPepperCheckParams{Mac: peppers.Sign(pepperProbe), CreatedAt: time.Now()})
	})
}

// CheckPeppers returns ErrPepper if the database has marks and none of them was
// made with one of these peppers. Nil means no pepper at all.
func CheckPeppers(ctx context.Context, from pg.DB, peppers *secret.Peppers) error {
	marks, err := db.New(from).PepperChecks(ctx)
	if err != nil {
		return fmt.Errorf("access: read the marks of peppers: %w", err)
	}
	if len(marks) == 0 {
		return nil
	}
	if peppers != nil {
		for _, mac := range peppers.Candidates(pepperProbe) {
			if slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Equal(m, mac) }) {
				return nil
			}
		}
	}
	return ErrPepper
}
