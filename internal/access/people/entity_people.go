package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// ChangeEntityPeople is the approval of what the regulator does to the people of an
// organisation that has an admin of its own: one member of staff, or the operator, who
// could add a person alone would have everything that the organisation has.
const ChangeEntityPeople approval.Kind = "entity.people"

// What is done; the values are stored with the approval.
const (
	actInvite        = "invite"
	actResetPassword = "reset_password"
	actResetFactor   = "reset_factor"
)

var actTexts = map[string]string{
	actInvite: "an invitation of a person to the organisation", actResetPassword: "a new password for one of its people", actResetFactor: "the removal of the two-factor authentication of one of its people",
}

// ChangeText says what an approval of [ChangeEntityPeople] does, by its details.
func ChangeText(details map[string]string) string {
	switch details["act"] {
	case actInvite:
		return "The person is invited by e-mail, and has from then on what the organisation has"
	case actResetPassword:
		return "The person gets an e-mail with a link to set a new password"
	}
	return "The two-factor authentication of the person is removed"
}

// changeRequest returns the request for something that is done to an account by somebody
// who is no admin of its organisation. Its kind is empty if one person may do it: the
// organisation has no admin yet.
func (p *People) changeRequest(ctx context.Context, from pg.DB, a registry.Account, ofStaff approval.Kind, act, reason string, by audit.Actor, request uuid.UUID) (approval.Request, error) {
	r := approval.Request{Subject: a.ID, Entity: a.Entity, Reason: reason, By: by, Request: request, At: p.now()}
	if a.Kind == registry.StaffAccount {
		r.Kind = ofStaff
		return r, nil
	}
	var has bool // or had: the last admin cannot be removed
	err := from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM account WHERE kind = 'admin' AND entity_id = $1 AND password_hash IS NOT NULL)`, a.Entity).Scan(&has)
	if err != nil {
		return r, fmt.Errorf("people: look for an admin: %w", err)
	}
	if has {
		r.Kind, r.Details = ChangeEntityPeople, map[string]string{"act": act}
	}
	return r, nil
}

// requestOfEntity requests a change of the people of an organisation, in the caller's
// transaction, and notifies its admins.
func (p *People) requestOfEntity(ctx context.Context, tx pg.Tx, r approval.Request) (pending uuid.UUID, err error) {
	pending, err = registry.RequestChange(ctx, tx, r, p.changeEntityPeople)
	if err != nil || pending == uuid.Nil {
		return pending, err
	}
	return pending, p.notifyOfPeople(ctx, tx, r.Entity, r.Details["act"], "requested it. It takes effect when a second person confirms it")
}

// changeEntityPeople is the effect of [ChangeEntityPeople].
func (p *People) changeEntityPeople(ctx context.Context, tx pg.Tx, by approval.Approval) (err error) {
	switch act := by.Details["act"]; act {
	case actInvite:
		err = p.inviteConfirmed(ctx, tx, by)
	case actResetPassword:
		err = p.sendReset(ctx, tx, by)
	case actResetFactor:
		err = p.resetFactor(ctx, tx, by)
	default:
		err = approval.ErrUnknownKind
	}
	if err != nil {
		return err
	}
	return p.notifyOfPeople(ctx, tx, by.Entity, by.Details["act"], "carried it out")
}

// inviteConfirmed sends the invitation of an account that is disabled until two people
// agree that it may join.
func (p *People) inviteConfirmed(ctx context.Context, tx pg.Tx, by approval.Approval) error {
	a, err := p.Registry.Account(ctx, tx, by.Subject)
	if err != nil {
		return err
	}
	renewed, err := p.Registry.Invite(ctx, tx, registry.Invitee{Kind: a.Kind, Entity: a.Entity, Email: a.Email})
	if err == nil && renewed.ID != a.ID {
		err = registry.ErrNoAccount
	}
	if err != nil {
		return err
	}
	return p.sendInvitation(ctx, tx, renewed, by.DecidedBy, by.Request)
}

// holdInvitation disables an account until its invitation is confirmed.
func (p *People) holdInvitation(ctx context.Context, tx pg.Tx, a *registry.Account) error {
	if err := p.Registry.Disable(ctx, tx, *a); err != nil {
		return err
	}
	a.Disabled = true
	return nil
}

// notifyOfPeople notifies the admins of an organisation of what the regulator does to its
// people, and of what has become of it.
func (p *People) notifyOfPeople(ctx context.Context, tx pg.Tx, entity uuid.UUID, act, became string) error {
	text, ok := actTexts[act]
	if !ok {
		return errors.New("people: no text for a change of the people of an organisation")
	}
	return p.NotifyAdmins(ctx, tx, Notice{PeopleChanged, message.Content{About: text, Detail: became, Path: "/portal/team"}}, entity)
}
