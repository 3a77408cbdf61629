package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// maxCodes is how many codes may be wrong in a row. Three of a million codes are
// accepted at any moment: whoever knows the password and guesses finds one of them
// with a probability of 1 in 3,333 before the factor is locked. A limit per hour alone
// would let them guess for ever.
const maxCodes = 100

var (
	// ErrFactorLocked is returned only after the right password. While the factor is
	// locked, no code is evaluated.
	ErrFactorLocked = fault.New(fault.PermissionDenied,
		"Two-factor authentication of this account is locked after 100 wrong codes. Ask another administrator, or the operator of the service, to unlock it, and change your password.")

	// ErrNotLocked reports that there is nothing to unlock.
	ErrNotLocked = fault.New(fault.IncompatibleState, "Two-factor authentication of this account is not locked.")

	errOwnLock = fault.New(fault.IncompatibleState, "This is your own account. Ask another administrator to unlock it.")
)

// countCode counts a code that is about to be evaluated.
func (p *People) countCode(ctx context.Context, account uuid.UUID) error {
	// Of many concurrent codes only the allowed number is counted, and evaluated.
	tag, err := p.Pool.Exec(ctx, `UPDATE second_factor SET wrong_codes = wrong_codes + 1 WHERE account_id = $1 AND wrong_codes < $2 AND locked_at IS NULL`, account, maxCodes)
	switch {
	case err != nil:
		return fmt.Errorf("people: count a code: %w", err)
	case tag.RowsAffected() == 1:
		return nil
	}
	has, _, err := p.FactorOf(ctx, account)
	switch {
	case err != nil:
		return err
	case !has:
		return ErrNoFactor
	}
	return errors.Join(p.lockFactor(ctx, account), ErrFactorLocked)
}

// lockFactor locks a factor for which as many codes were wrong as may be, and notifies
// the owner. It does so once.
func (p *People) lockFactor(ctx context.Context, account uuid.UUID) error {
	now := p.now()
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE second_factor SET locked_at = $2 WHERE account_id = $1 AND wrong_codes >= $3 AND locked_at IS NULL`, account, now, maxCodes)
		if err != nil {
			return fmt.Errorf("people: lock a second factor: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		a, err := p.Registry.Account(ctx, tx, account)
		if err != nil {
			return err
		}
		if err := p.QueueEmail(ctx, tx, Email{Kind: FactorLocked, Account: account}); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: audit.Actor{Kind: audit.System}, Action: audit.FactorLocked, Subject: account, Entity: a.Entity})
	})
}

// UnlockFactor lets an account use its second factor again.
func (p *People) UnlockFactor(ctx context.Context, a registry.Account, by audit.Actor, request uuid.UUID) error {
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE second_factor SET wrong_codes = 0, locked_at = NULL WHERE account_id = $1 AND locked_at IS NOT NULL`, a.ID)
		if err != nil {
			return fmt.Errorf("people: unlock a second factor: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrNotLocked
		}
		return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: audit.FactorUnlocked, Subject: a.ID, Entity: a.Entity, Request: request})
	})
}

// UnlockFactorOf is UnlockFactor on behalf of an administrator of the regulator, or of
// an admin for a colleague. Nobody can unlock their own: the person who guessed could.
func (p *People) UnlockFactorOf(ctx context.Context, account uuid.UUID, who access.Principal, request uuid.UUID) error {
	a, err := p.managed(ctx, account, who, errOwnLock)
	if err != nil {
		return err
	}
	return p.UnlockFactor(ctx, a, who.Actor(), request)
}
