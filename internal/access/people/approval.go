package people

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The approvals about accounts of staff. One person who could reset another, or remove
// those who could object, would be two people.
const (
	RemoveAdministrator approval.Kind = "staff.remove"
	ResetStaffFactor    approval.Kind = "staff.reset_factor"
	ResetStaffPassword  approval.Kind = "staff.reset_password"
)

// requestChange is [registry.RequestChange] in a transaction of its own, after a check
// that the change is possible at present. It returns an [approval.WaitsError] if a second
// person has to confirm it.
func (p *People) requestChange(ctx context.Context, r approval.Request, check func(pg.Tx) error, effect approval.Effect) error {
	pending := uuid.Nil
	err := pg.InTx(ctx, p.Pool, func(tx pg.Tx) (err error) {
		if err := check(tx); err != nil {
			return err
		}
		if r.Kind == ChangeEntityPeople {
			pending, err = p.requestOfEntity(ctx, tx, r)
		} else {
			pending, err = registry.RequestChange(ctx, tx, r, effect)
		}
		return err
	})
	if err != nil {
		return err
	}
	return approval.Waits(pending)
}

// errByHand reports a link that one person alone would hold.
var errByHand = fault.New(fault.IncompatibleState,
	"The link for a new password of a member of staff, or of an organisation that has an admin, goes to that person alone, by e-mail, when a second person has confirmed it. Request it without printing the link.")

// StartReset starts a new password on behalf of a person who cannot request it. It
// sends the e-mail with the link or, if byHand is set, returns the link, which the
// operator passes on by other means. A second person has to confirm it for a member of
// staff, and for the people of an organisation that has an admin: then it returns an
// [approval.WaitsError], and the link is never given by hand.
func (p *People) StartReset(ctx context.Context, a registry.Account, byHand bool, reason string, by audit.Actor, request uuid.UUID) (link secret.Text, until time.Time, err error) {
	if !(Email{Kind: Reset, Account: a.ID}).suits(a) {
		return "", time.Time{}, registry.ErrNoAccount
	}
	r, err := p.changeRequest(ctx, p.Pool, a, ResetStaffPassword, actResetPassword, reason, by, request)
	if err != nil {
		return "", time.Time{}, err
	}
	if !byHand && r.Kind != "" {
		return "", time.Time{}, p.requestChange(ctx, r, func(pg.Tx) error { return nil }, p.sendReset)
	}
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if !byHand {
			return p.sendReset(ctx, tx, approval.Alone(r))
		}
		if r.Kind != "" {
			alone, err := registry.MayActAlone(ctx, tx, by)
			if err != nil {
				return err
			}
			if !alone {
				return errByHand
			}
		}
		if r.Kind == ChangeEntityPeople {
			if err := p.notifyOfPeople(ctx, tx, a.Entity, actResetPassword, "carried it out"); err != nil {
				return err
			}
		}
		if link, until, err = p.newLink(ctx, tx, reset, a.ID); err != nil {
			return err
		}
		return p.recordReset(ctx, tx, a, true, approval.Alone(r))
	})
	return link, until, err
}

// sendReset is the effect of [ResetStaffPassword], and of the reset of everybody else.
func (p *People) sendReset(ctx context.Context, tx pg.Tx, by approval.Approval) error {
	a, err := p.Registry.Account(ctx, tx, by.Subject)
	if err != nil {
		return err
	}
	e := Email{Kind: Reset, Account: a.ID}
	if !e.suits(a) {
		return registry.ErrNoAccount
	}
	if err := p.QueueEmail(ctx, tx, e); err != nil {
		return err
	}
	return p.recordReset(ctx, tx, a, false, by)
}

// recordReset records who started the reset. The second person saw no link, so that only
// the requester stands behind the account.
func (p *People) recordReset(ctx context.Context, tx pg.Tx, a registry.Account, byHand bool, by approval.Approval) error {
	if err := registry.RecordStaffAccess(ctx, tx, a, registry.AccessReset, by.RequestedBy, p.now()); err != nil {
		return err
	}
	after := by.Both()
	after["byHand"] = byHand
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by.DecidedBy, Action: audit.ResetStarted, Subject: a.ID, Entity: a.Entity, Request: by.Request, After: after,
	})
}

// Effects returns the effects of the approvals that this package requests.
func (p *People) Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{RemoveAdministrator: p.disable, ResetStaffFactor: p.resetFactor, ResetStaffPassword: p.sendReset, ChangeEntityPeople: p.changeEntityPeople}
}
