package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/people/internal/db"
)

// FactorOf reports whether a second factor of an account is in force, and how
// many recovery codes are left.
func (p *People) FactorOf(ctx context.Context, account uuid.UUID) (has bool, codes int64, err error) {
	q := db.New(p.Pool)
	f, err := q.Factor(ctx, account)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && f.ConfirmedAt == nil {
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
