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
	"github.com/lineproof/lineproof/internal/pg"
)

// ErrIncompleteAccount reports an account that may not create live keys yet; its
// violations name what is missing.
var ErrIncompleteAccount = fault.New(fault.IncompleteAccount,
	"To create a live key, first complete your account; violations lists what is missing. A test key can be created at once.")

// ErrNoKeyRight reports a member who may not create live keys.
var ErrNoKeyRight = fault.New(fault.PermissionDenied,
	"Live keys are created by the admins of your organisation, and by members to whom an admin has given that right. Ask one of them, or create a test key.")

// The fields of the violations of [ErrIncompleteAccount].
const (
	EmailField  = "email"
	FactorField = "secondFactor"
)

// CheckKeyMaker returns [ErrNoKeyRight] for a member without that right, and
// [ErrIncompleteAccount] unless the account has a confirmed
// e-mail address and two-factor authentication. A live key reads the lines of the
// country: whoever creates one must be reachable, and a password alone, which the
// onboarding client may have chosen, must not be enough.
func (p *People) CheckKeyMaker(ctx context.Context, from pg.DB, account uuid.UUID) error {
	has, err := db.New(from).KeyMaker(ctx, account)
	if errors.Is(err, pgx.ErrNoRows) {
		return access.ErrPermission
	}
	if err != nil {
		return fmt.Errorf("people: read the account of the key's maker: %w", err)
	}
	signed, err := pg.RowsSigned(ctx, from, accountRow(account, has.RowSum, has.RowMac))
	if err != nil {
		return err
	}
	if !signed {
		return access.ErrPermission
	}
	if !has.MakesKeys {
		return ErrNoKeyRight
	}
	var missing fault.Form
	missing.Check(has.Verified, EmailField, fault.Required,
		"Confirm your e-mail address: follow the link in the e-mail that you got when your account was created. If you no longer have it, request a password reset: its link confirms the address, too.")
	missing.Check(has.HasFactor, FactorField, fault.Required,
		"Enable two-factor authentication: in the portal under Security, or with POST /api/regulator/v1/second-factor.")
	if len(missing.Violations()) > 0 {
		return ErrIncompleteAccount.With(missing.Violations()...)
	}
	return nil
}
