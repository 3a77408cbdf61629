package people

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Prove verifies the password of a person who has a session, and the code where the
// account has a second factor, before a change that a stolen session must not allow. The
// session then counts as proved for some minutes; see [access.Service.IsProved].
func (p *People) Prove(ctx context.Context, who access.Principal, password secret.Text, code string, request uuid.UUID) error {
	has, _, err := p.FactorOf(ctx, who.Account)
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(password != "", "password", fault.Required, "Enter the password.")
	wrong.Check(!has || code != "", "otp", fault.Required, "Enter the code from your authenticator app.")
	if err := wrong.Err(); err != nil {
		return err
	}
	var recovery bool
	check := func() error {
		right, used, err := p.checkCode(ctx, who.Account, code)
		if err == nil && !right {
			err = errCode
		}
		recovery = used
		return err
	}
	if !has {
		check = nil
	}
	if _, err := p.reauthenticate(ctx, who, password, check); err != nil {
		return err
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if recovery {
			if err := p.recordRecovery(ctx, tx, who.Account, who.Entity, who.Actor(), request); err != nil {
				return err
			}
		}
		return p.Access.ProveSession(ctx, tx, who.ID, who.Actor(), request)
	})
}
