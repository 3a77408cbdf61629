package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// FactorOf reports whether two-factor authentication of an account is enabled, and
// how many recovery codes are left.
func (p *People) FactorOf(ctx context.Context, account uuid.UUID) (has bool, codes int64, err error) {
	// Whether there is a factor could have been changed by deleting it; the account's row is signed.
	var sum, mac []byte
	err = p.Pool.QueryRow(ctx, `SELECT has_factor, row_sum, row_mac FROM account WHERE id = $1`, account).Scan(&has, &sum, &mac)
	err = pg.Signed(ctx, p.Pool, err, accountRow(account, sum, mac))
	if errors.Is(err, pgx.ErrNoRows) {
		return false, 0, registry.ErrNoAccount
	}
	if err != nil {
		return false, 0, fmt.Errorf("people: find the second factor: %w", err)
	}
	if !has {
		return false, 0, nil
	}
	codes, err = recoveryCodesLeft(ctx, p.Pool, account)
	if err != nil {
		return false, 0, fmt.Errorf("people: count recovery codes: %w", err)
	}
	return true, codes, nil
}

// FactorState is the state of an account's two-factor authentication.
type FactorState struct {
	Enabled bool
	Locked  bool // after too many wrong codes
}

// FactorsOf returns the states of the accounts that have two-factor authentication
// enabled.
func (p *People) FactorsOf(ctx context.Context, accounts []uuid.UUID) (map[uuid.UUID]FactorState, error) {
	locked, err := pg.CollectMap[uuid.UUID, bool](ctx, p.Pool,
		`SELECT account_id, locked_at IS NOT NULL FROM second_factor WHERE account_id = ANY($1::uuid[]) AND confirmed_at IS NOT NULL`, accounts)
	if err != nil {
		return nil, fmt.Errorf("people: find second factors: %w", err)
	}
	states := make(map[uuid.UUID]FactorState, len(locked))
	for account, is := range locked {
		states[account] = FactorState{Enabled: true, Locked: is}
	}
	return states, nil
}

var errOwnFactor = fault.New(fault.IncompatibleState, "This is your own account. Disable two-factor authentication under Security, or ask another administrator to reset it.")

// ResetFactorOf is ResetFactor on behalf of an administrator of the regulator.
// Administrators cannot reset their own: otherwise an unattended session would be
// enough to disable two-factor authentication.
func (p *People) ResetFactorOf(ctx context.Context, account uuid.UUID, reason string, who access.Principal, request uuid.UUID) error {
	switch {
	case who.Role != access.Administrator:
		return access.ErrPermission
	case account == who.Account:
		return errOwnFactor
	}
	return p.ResetFactor(ctx, account, reason, who.Actor(), request)
}
