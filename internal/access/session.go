package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrBadLogin is the one answer to every wrong combination.
var ErrBadLogin = fault.New(fault.Unauthenticated, "The e-mail address or the password is not right.")

// Login is what a person gets who has logged in. The token is shown this once.
type Login struct {
	FullName  string
	Text      secret.Text
	ExpiresAt time.Time
	Verified  bool
}

// LogIn opens a session. An unknown address costs what a known one does: its
// password is checked against nothing, at the same price.
func (k *Keeper) LogIn(ctx context.Context, email string, password secret.Text, request uuid.UUID) (Login, error) {
	// First of all: whoever is refused here has not cost a connection.
	leave, err := k.Passwords.Enter(ctx)
	if err != nil {
		return Login{}, err
	}
	defer leave()
	var account db.AccountForLoginRow
	hash := ""
	if key, ok := registry.EmailKey(email); ok {
		account, err = db.New(k.Pool).AccountForLogin(ctx, key)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return Login{}, fmt.Errorf("access: find the account: %w", err)
		}
		if account.PasswordHash != nil {
			hash = *account.PasswordHash
		}
	}
	right, err := k.Passwords.Matches(hash, password)
	if err != nil {
		return Login{}, err
	}
	if !right || !account.Standing {
		return Login{}, ErrBadLogin
	}

	now := k.now()
	l := Login{
		FullName: account.Name, Text: secret.New(secret.Session), ExpiresAt: now.Add(k.SessionLifetime), Verified: account.VerifiedAt != nil,
	}
	session := uuid.Must(uuid.NewV7())
	err = pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		err := db.New(tx).InsertSession(ctx, db.InsertSessionParams{
			ID: session, AccountID: account.ID, Mac: k.Peppers.Sign(l.Text.Reveal()), ExpiresAt: l.ExpiresAt, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: audit.Actor{Kind: audit.Account, ID: account.ID}, Action: audit.LoggedIn,
			Subject: session, Entity: account.EntityID.UUID, Request: request,
		})
	})
	if err != nil {
		return Login{}, fmt.Errorf("access: open a session: %w", err)
	}
	return l, nil
}

// Forget drops tokens and sessions that expired a day ago or earlier.
func (k *Keeper) Forget(ctx context.Context) (int64, error) {
	before, total := k.now().Add(-24*time.Hour), int64(0)
	for _, forget := range []func(context.Context, time.Time) (int64, error){db.New(k.Pool).ForgetTokens, db.New(k.Pool).ForgetSessions} {
		n, err := pg.InBites(func() (int64, error) { return forget(ctx, before) })
		total += n
		if err != nil {
			return total, fmt.Errorf("access: forget: %w", err)
		}
	}
	return total, nil
}
