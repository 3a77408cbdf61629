package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
)

// FactorOf reports whether two-factor authentication of an account is enabled, and
// how many recovery codes are left.
func (p *People) FactorOf(ctx context.Context, account uuid.UUID) (has bool, codes int64, err error) {
	q := db.New(p.Pool)
	has, err = q.HasFactor(ctx, account)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !has {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, fmt.Errorf("people: find the second factor: %w", err)
	}
	codes, err = q.RecoveryCodesLeft(ctx, account)
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
	rows, err := db.New(p.Pool).FactorsOf(ctx, accounts)
	if err != nil {
		return nil, fmt.Errorf("people: find second factors: %w", err)
	}
	states := make(map[uuid.UUID]FactorState, len(rows))
	for _, r := range rows {
		states[r.AccountID] = FactorState{Enabled: true, Locked: r.Locked}
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
