package people

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/idtime"
)

// factorWait is for how long a second factor counts for nothing but logging in, unless the
// owner of the account has confirmed the e-mail address by a link: as long before the set-up
// at most, or after it. Staff whom founders or the operator have just enrolled, with the
// person beside them, followed none. A phished password alone would otherwise set one up and
// have all that the account may do, before the owner has read the e-mail about it.
const factorWait = 24 * time.Hour

// ErrFactorWaits reports an account whose two-factor authentication does not count yet.
var ErrFactorWaits = fault.New(fault.IncompleteAccount,
	"Two-factor authentication of your account was just set up and is not confirmed yet; violations says until when. After confirming it, repeat this request.")

// factorSetAt returns when a second factor was set up: the row of the account, which is
// signed, names its id, so a stolen login of the database cannot move it. One whose id does
// not say so counts as set up now.
func factorSetAt(id uuid.UUID, now time.Time) time.Time {
	if at, ok := idtime.Of(id); ok {
		return at
	}
	return now
}

// factorWaits reports whether an account has a second factor that does not count yet, and
// until when.
func (p *People) factorWaits(has *accountStanding) (until time.Time, waits bool) {
	if !has.HasFactor {
		return time.Time{}, false
	}
	now := p.now()
	set := factorSetAt(has.FactorID.UUID, now)
	confirmed, since := has.VerifiedAt != nil && has.VerifiedBy == "email", set.Add(-factorWait)
	if confirmed && has.VerifiedAt.After(since) || has.Staff && has.CreatedAt.After(since) {
		return time.Time{}, false
	}
	until = set.Add(factorWait)
	return until, now.Before(until)
}

// FactorWaitsCode is the code of the violation of [FactorField] for a second factor that does
// not count yet; that of an account without one is [fault.Required].
const FactorWaitsCode = fault.NotAllowed

// missingFactor returns what an account lacks to have a second factor that counts, with the
// error that it is alone, or nil.
func (p *People) missingFactor(has *accountStanding) (*fault.Violation, *fault.Error) {
	if !has.HasFactor {
		return &fault.Violation{Field: FactorField, Code: fault.Required, Message: howToSetUp}, ErrNoFactorYet
	}
	if until, waits := p.factorWaits(has); waits {
		return &fault.Violation{Field: FactorField, Code: FactorWaitsCode, Message: "Your two-factor authentication counts for this from " +
			until.Format(emailTime) + " on. Follow the link in the e-mail that we sent to confirm it now."}, ErrFactorWaits
	}
	return nil, nil
}

// keepCounting lets an owner replace a second factor that counts, having proved it with a
// code: the next one counts as if the address had been confirmed now. One that does not
// count is not worth more by that.
func (p *People) keepCounting(ctx context.Context, tx pg.Tx, account uuid.UUID) error {
	has, err := standing(ctx, tx, account)
	if err != nil {
		return err
	}
	if _, waits := p.factorWaits(&has); waits || !has.HasFactor {
		return nil
	}
	return p.Registry.KeepConfirmed(ctx, tx, account)
}
