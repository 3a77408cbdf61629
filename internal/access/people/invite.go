package people

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// InviteForm is the input of an invitation.
type InviteForm struct {
	Email  string
	Kind   registry.AccountKind
	Entity uuid.UUID // of the invited person; zero for staff, and for the entity of the inviting admin
	Role   string    // for staff
}

// Invite creates an account on behalf of a person with a session, and sends an
// e-mail with a link to accept the invitation. The admin of an entity invites to
// that entity; an administrator of the regulator invites to any entity, and staff.
// It does the same for an address that has an account elsewhere: only the e-mail is another.
func (p *People) Invite(ctx context.Context, f InviteForm, who access.Principal, request uuid.UUID) (i Invited, err error) {
	switch {
	case who.Manages && f.Kind == registry.StaffAccount:
		return Invited{}, access.ErrPermission
	case who.Manages:
		if f.Entity != uuid.Nil && f.Entity != who.Entity {
			return Invited{}, registry.ErrNoEntity
		}
		f.Entity = who.Entity
	case who.Role != access.Administrator:
		return Invited{}, access.ErrPermission
	}
	if err := p.throttleInvitations(ctx, who); err != nil {
		return Invited{}, err
	}
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		i, err = p.createInvited(ctx, tx, f, who.Manages, who.Actor(), request)
		return err
	})
	return i, err
}

// throttleInvitations limits how many invitations a person can send: e-mails to
// strangers are easily sent and a nuisance to receive.
func (p *People) throttleInvitations(ctx context.Context, who access.Principal) error {
	err := p.throttle(ctx, "invitations", who.Account.String(), maxInvitations)
	if errors.Is(err, errTooManyAttempts) {
		return errInvitations
	}
	return err
}

var errInvitations = &fault.Error{
	Code: fault.TooManyRequests, Message: "Too many invitations in a short time. Wait half an hour and try again.", RetryAfter: window,
}

// Invited is an account that was just created by an invitation.
type Invited struct {
	registry.Account

	// Pending is the approval that must be confirmed before the account of staff gets
	// the requested role, and is an auditor, which cannot change anything, until then; or
	// before the account of an organisation that has an admin is invited at all, and is
	// disabled until then. It is zero if no approval is needed.
	Pending uuid.UUID
}

// CreateInvited is Invite by the operator, without a check of permissions. New staff who will decide
// start as auditors, because it takes two people to make somebody a decider.
func (p *People) CreateInvited(ctx context.Context, f InviteForm, by audit.Actor, request uuid.UUID) (i Invited, err error) {
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		i, err = p.createInvited(ctx, tx, f, false, by, request)
		return err
	})
	if err != nil {
		return Invited{}, err
	}
	return i, nil
}

// createInvited invites a person; own is set if an admin of the organisation does it.
func (p *People) createInvited(ctx context.Context, tx pg.Tx, f InviteForm, own bool, by audit.Actor, request uuid.UUID) (i Invited, err error) {
	initialRole := f.Role
	if registry.Decides(initialRole) {
		initialRole = string(access.Auditor)
	}
	i.Account, err = p.Registry.Invite(ctx, tx, registry.Invitee{Kind: f.Kind, Entity: f.Entity, Role: initialRole, Email: f.Email})
	if err != nil {
		return Invited{}, err
	}
	if err := registry.RecordStaffAccess(ctx, tx, i.Account, registry.AccessCreated, by, p.now()); err != nil {
		return Invited{}, err
	}
	if err := p.revokeCredentials(ctx, tx, i.ID); err != nil {
		return Invited{}, err
	}
	if initialRole != f.Role {
		if i.Pending, err = p.Registry.GiveRole(ctx, tx, i.ID, f.Role, "An invitation to the regulator's staff.", by, request); err != nil {
			return Invited{}, err
		}
	}
	if !own && f.Kind != registry.StaffAccount {
		r, err := p.changeRequest(ctx, tx, i.Account, "", actInvite, "An invitation to the organisation.", by, request)
		if err != nil {
			return Invited{}, err
		}
		if r.Kind != "" {
			if i.Pending, err = p.requestOfEntity(ctx, tx, r); err == nil && i.Pending != uuid.Nil {
				err = p.holdInvitation(ctx, tx, &i.Account)
			}
			return i, err
		}
	}
	return i, p.sendInvitation(ctx, tx, i.Account, by, request)
}

func (p *People) sendInvitation(ctx context.Context, tx pg.Tx, a registry.Account, by audit.Actor, request uuid.UUID) error {
	if err := p.QueueEmail(ctx, tx, Email{Kind: Invitation, Account: a.ID}); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by, Action: audit.Invited, Subject: a.ID, Entity: a.Entity, Request: request,
		After: map[string]any{"kind": string(a.Kind), "role": a.Role, "email": a.Email},
	})
}

// Accept sets the name and the password of an invited person who has the link.
func (p *People) Accept(ctx context.Context, token, name string, password secret.Text, from audit.Actor, request uuid.UUID) (registry.Account, error) {
	a, err := p.ownerOf(ctx, invite, token)
	if err != nil {
		return registry.Account{}, err
	}
	a.Name = name
	var wrong fault.Form
	for _, err := range []error{registry.CheckName("name", name), p.Registry.CheckPassword("password", password, a.GuessableWords()...)} {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			wrong.Add(f.Violations...)
		}
	}
	if err := wrong.Err(); err != nil {
		return registry.Account{}, err
	}
	hash, err := p.Registry.HashPassword(ctx, a.ID, "password", password, a.GuessableWords()...)
	if err != nil {
		return registry.Account{}, err
	}
	from.Kind, from.ID = audit.Account, a.ID
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.useLink(ctx, tx, invite, token, a.ID); err != nil {
			return err
		}
		gaveWay, err := p.Registry.Accept(ctx, tx, a, name, hash)
		if err != nil {
			return err
		}
		if err := p.endGivenWay(ctx, tx, gaveWay, from, request); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: from, Action: audit.InvitationAccepted, Subject: a.ID, Entity: a.Entity, Request: request})
	})
	if err != nil {
		return registry.Account{}, err
	}
	return a, nil
}

// endGivenWay ends the sessions of an account that gave its address to an invited person,
// if there is one. It is disabled: nobody has shown that it belongs to the person whose
// address it had.
func (p *People) endGivenWay(ctx context.Context, tx pg.Tx, gaveWay registry.Account, by audit.Actor, request uuid.UUID) error {
	if gaveWay.ID == uuid.Nil {
		return nil
	}
	if _, err := p.Access.EndSessions(ctx, tx, gaveWay.ID, uuid.Nil, by, request); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by, Action: audit.AccountDisabled, Subject: gaveWay.ID, Entity: gaveWay.Entity, Request: request,
		After: map[string]any{"reason": "its e-mail address was never confirmed, and its owner has accepted an invitation"},
	})
}

// Team lists the accounts of the caller's entity, or the regulator's staff.
func (p *People) Team(ctx context.Context, who access.Principal) ([]registry.Account, error) {
	return p.Registry.Accounts(ctx, who.Entity)
}

var errSelf = fault.New(fault.IncompatibleState, "This is your own account. Ask another admin to remove it.")

// Remove disables an account on behalf of a person with a session: the admin of an
// entity can remove its people, an administrator of the regulator anybody. The reason is
// required only to remove an administrator.
func (p *People) Remove(ctx context.Context, account uuid.UUID, reason string, who access.Principal, request uuid.UUID) error {
	a, err := p.managed(ctx, account, who, errSelf)
	if err != nil {
		return err
	}
	return p.DisableAccount(ctx, a, reason, who.Actor(), request)
}

// managed returns an account that a person may manage: an admin those of their own
// organisation, an administrator of the regulator all. Their own is refused with an error
// that says why.
func (p *People) managed(ctx context.Context, account uuid.UUID, who access.Principal, own error) (registry.Account, error) {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return registry.Account{}, err
	}
	switch {
	case who.Manages && a.Entity != who.Entity:
		return registry.Account{}, registry.ErrNoAccount
	case !who.Manages && who.Role != access.Administrator:
		return registry.Account{}, access.ErrPermission
	case a.ID == who.Account:
		return registry.Account{}, own
	}
	return a, nil
}

// DisableAccount is Remove without a check of permissions. The credentials of the
// person are revoked; they can be invited again and start over. A second person has to
// confirm the removal of an administrator: then it returns an [approval.WaitsError].
func (p *People) DisableAccount(ctx context.Context, a registry.Account, reason string, by audit.Actor, request uuid.UUID) error {
	r := approval.Request{Kind: RemoveAdministrator, Subject: a.ID, Entity: a.Entity, Reason: reason, By: by, Request: request, At: p.now()}
	if a.Role != string(access.Administrator) {
		return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error { return p.disable(ctx, tx, approval.Alone(r)) })
	}
	return p.requestChange(ctx, r, func(tx pg.Tx) error { return p.Registry.CheckDisable(ctx, tx, a) }, p.disable)
}

// disable is the effect of [RemoveAdministrator], and of the removal of everybody else.
func (p *People) disable(ctx context.Context, tx pg.Tx, by approval.Approval) error {
	a, err := p.Registry.Account(ctx, tx, by.Subject)
	if err != nil {
		return err
	}
	if err := p.Registry.Disable(ctx, tx, a); err != nil {
		return err
	}
	if _, err := p.Access.EndSessions(ctx, tx, a.ID, uuid.Nil, by.DecidedBy, by.Request); err != nil {
		return err
	}
	if err := p.revokeCredentials(ctx, tx, a.ID); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by.DecidedBy, Action: audit.AccountDisabled, Subject: a.ID, Entity: a.Entity, Request: by.Request, After: by.Both(),
	})
}

// revokeCredentials deletes everything that can be used to log in, except the
// password.
func (p *People) revokeCredentials(ctx context.Context, tx pg.Tx, account uuid.UUID) error {
	_, err := tx.Exec(ctx, deleteFactorSQL, account)
	if err == nil {
		err = forgetDevices(ctx, tx, account)
	}
	if err == nil {
		err = p.endLinks(ctx, tx, account, "")
	}
	return fault.Wrap(err, "people: revoke credentials")
}
