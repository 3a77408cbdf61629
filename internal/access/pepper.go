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
// ever hashed. With it every key, token and session would be refused, and what
// is made with it would be refused elsewhere.
var ErrPepper = errors.New("the pepper is not one under which the credentials of this database were hashed; " +
	"restore LINEPROOF_DATA/pepper, or set LINEPROOF_PEPPERS to the same list on every node")

// pepperProbe is the text that is kept under every pepper. It is no credential.
const pepperProbe = "lineproof pepper check"

// OpenPeppers returns the peppers after it has held them against the database,
// and leaves a mark of the newest there. Exist says whether there are any yet:
// on a database in use, list, which makes one where there is none, is then not
// even called.
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
		// Two nodes that start on a new database with a pepper each must not both
		// find it unmarked.
		if err := db.New(tx).LockPeppers(ctx); err != nil {
			return fmt.Errorf("access: lock the peppers: %w", err)
		}
		if err := CheckPeppers(ctx, tx, peppers); err != nil {
			return err
		}
		return db.New(tx).InsertPepperCheck(ctx, db.InsertPepperCheckParams{Mac: peppers.Sign(pepperProbe), CreatedAt: time.Now()})
	})
}

// CheckPeppers returns ErrPepper when the database was marked under peppers of
// which none is among these. Nil stands for no pepper at all.
func CheckPeppers(ctx context.Context, from pg.DB, peppers *secret.Peppers) error {
	marks, err := db.New(from).PepperChecks(ctx)
	if err != nil {
		return fmt.Errorf("access: look for the pepper's mark: %w", err)
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
