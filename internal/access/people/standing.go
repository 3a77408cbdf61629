package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Faults of an account that may not do something yet, or at all. The violations of those
// that are incomplete name what is missing.
var (
	ErrIncompleteAccount = fault.New(fault.IncompleteAccount,
		"To create a live key, first complete your account; violations lists what is missing. A test key can be created at once.")
	ErrIncompleteSupplier = fault.New(fault.IncompleteAccount, "To supply lines, first complete your account; violations lists what is missing. The API client of your organisation does not depend on it.")

	// ErrNoFactorYet reports an account without two-factor authentication that does
	// something for which package stepup requires it.
	ErrNoFactorYet = fault.New(fault.IncompleteAccount, "This action needs two-factor authentication of your account. After setting it up, repeat this request.")

	// ErrNoKeyRight reports a member who may not create live keys.
	ErrNoKeyRight = fault.New(fault.PermissionDenied,
		"Live keys are created by the admins of your organisation, and by members to whom an admin has given that right. Ask one of them, or create a test key.")

	// ErrNoSupplyRight reports a member who may not supply lines.
	ErrNoSupplyRight = fault.New(fault.PermissionDenied,
		"Files of lines are sent by the admins of your organisation, and by members to whom an admin has given that right under Team. Ask one of them.")
)

// The fields of the violations of [ErrIncompleteAccount] and its like.
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
	has, err := standing(ctx, from, account)
	if err != nil {
		return err
	}
	if !has.MakesKeys {
		return ErrNoKeyRight
	}
	return p.incomplete(&has, stepup.CreateKey, ErrIncompleteAccount)
}

// CheckSupplier is [People.CheckKeyMaker] for a person who supplies lines. What an operator
// reports takes effect without anybody at the regulator, so one phished password must not
// be enough for it.
func (p *People) CheckSupplier(ctx context.Context, from pg.DB, account uuid.UUID) error {
	has, err := standing(ctx, from, account)
	if err != nil {
		return err
	}
	if !has.Supplies {
		return ErrNoSupplyRight
	}
	return p.incomplete(&has, stepup.SupplyLines, ErrIncompleteSupplier)
}

// CheckFactor returns [ErrNoFactorYet] for an account without two-factor authentication, and
// [ErrFactorWaits] for one where it does not count yet, if package stepup requires it always
// for the action. What it requires for live things alone
// is checked where they are made; see [People.CheckLive].
func (p *People) CheckFactor(ctx context.Context, account uuid.UUID, action stepup.Action) error {
	if action.NeedsFactor(true) == stepup.Never && action.NeedsFactor(false) == stepup.Never {
		return nil // without a query
	}
	return p.checkFactor(ctx, p.Pool, account, action, stepup.Always)
}

// CheckLive is [People.CheckFactor] for something live, in the transaction that makes it.
func (p *People) CheckLive(ctx context.Context, from pg.DB, account uuid.UUID, action stepup.Action) error {
	return p.checkFactor(ctx, from, account, action, stepup.ForLive)
}

func (p *People) checkFactor(ctx context.Context, from pg.DB, account uuid.UUID, action stepup.Action, least stepup.Factor) error {
	has, err := standing(ctx, from, account)
	if err != nil {
		return err
	}
	if !p.wantsFactor(&has, action, least) {
		return nil
	}
	lacks, as := p.missingFactor(&has)
	if lacks == nil {
		return nil
	}
	return as.With(*lacks)
}

// wantsFactor reports whether an account must have two-factor authentication for something
// to which at least that row of package stepup's table applies.
func (p *People) wantsFactor(has *accountStanding, action stepup.Action, least stepup.Factor) bool {
	if has.Staff && !p.StaffFactor || !has.Staff && !p.EntityFactor {
		return false
	}
	return action.NeedsFactor(has.Staff) >= least
}

const howToSetUp = "Enable two-factor authentication: in the portal under Security, or with POST /api/regulator/v1/second-factor."

// incomplete returns the error with everything that the account lacks for the action, or nil.
func (p *People) incomplete(has *accountStanding, action stepup.Action, as *fault.Error) error {
	var missing fault.Form
	missing.Check(has.Verified, EmailField, fault.Required,
		"Confirm your e-mail address: follow the link in the e-mail that you got when your account was created. If you no longer have it, request a password reset: its link confirms the address, too.")
	if lacks, _ := p.missingFactor(has); lacks != nil && p.wantsFactor(has, action, stepup.ForLive) {
		missing.Add(*lacks)
	}
	if len(missing.Violations()) > 0 {
		return as.With(missing.Violations()...)
	}
	return nil
}

// MakesKeys reports whether an account has the right to create live keys: admins have it,
// and members to whom an admin has given it.
func (p *People) MakesKeys(ctx context.Context, from pg.DB, account uuid.UUID) (bool, error) {
	has, err := standing(ctx, from, account)
	return has.MakesKeys, err
}

// accountStanding is what the account of a person has for what is dangerous.
type accountStanding struct {
	Staff, Verified, MakesKeys, Supplies, HasFactor bool

	FactorID       uuid.NullUUID
	VerifiedAt     *time.Time
	VerifiedBy     string
	CreatedAt      time.Time
	RowSum, RowMAC []byte
}

// standing reads what the account has. A row that is not signed gives no right.
func standing(ctx context.Context, from pg.DB, account uuid.UUID) (accountStanding, error) {
	has, err := pg.CollectOne(ctx, from, pgx.RowToStructByPos[accountStanding],
		`SELECT kind = 'staff', verified_at IS NOT NULL, kind <> 'member' OR makes_keys, kind <> 'member' OR supplies, has_factor,
		factor_id, verified_at, coalesce(verified_by, ''), created_at, row_sum, row_mac FROM account WHERE id = $1`, account)
	err = pg.Signed(ctx, from, err, accountRow(account, has.RowSum, has.RowMAC))
	if errors.Is(err, pgx.ErrNoRows) {
		return accountStanding{}, access.ErrPermission
	}
	if err != nil {
		return accountStanding{}, fmt.Errorf("people: read what an account has: %w", err)
	}
	return has, nil
}
