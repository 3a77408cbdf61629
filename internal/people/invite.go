package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// Guest is somebody who is to get an account.
type Guest struct {
	Email  string
	Kind   registry.AccountKind
	Entity uuid.UUID // for which they will work; zero for staff, and for the inviting admin's own
	Role   string    // of staff
}

// Invite makes an account for a guest on behalf of somebody with a session, and
// has a letter sent with a link by which they accept. The admin of an entity
// invites to that entity; an administrator of the regulator invites to any, and
// staff.
func (p *People) Invite(ctx context.Context, g Guest, who access.Principal, request uuid.UUID) (Invited, error) {
	staff := g.Kind == registry.StaffAccount
	switch {
	case who.Manages && staff:
		return Invited{}, access.ErrPermission
	case who.Manages:
		if g.Entity != uuid.Nil && g.Entity != who.Entity {
			return Invited{}, registry.ErrNoEntity
		}
		g.Entity = who.Entity
	case who.Role != access.Administrator:
		return Invited{}, access.ErrPermission
	case !staff && g.Entity == uuid.Nil:
		return Invited{}, errWhere
	case staff && g.Entity != uuid.Nil:
		return Invited{}, errStaffWhere
	}
	if err := p.spareInvitations(ctx, who); err != nil {
		return Invited{}, err
	}
	return p.Welcome(ctx, g, who.Actor(), request)
}

// spareInvitations counts an invitation. Letters to strangers are cheap to cause
// and a nuisance to get.
func (p *People) spareInvitations(ctx context.Context, who access.Principal) error {
	err := p.sparing(ctx, "invitations\x00"+who.Account.String(), mostInvitations)
	if errors.Is(err, errGuesses) {
		return errInvitations
	}
	return err
}

var errInvitations = &fault.Error{
	Code: fault.TooManyRequests, Message: "Too many invitations in a short time. Wait for half an hour, then go on.", RetryAfter: window,
}

var (
	errWhere      = fault.ErrInvalid.With(fault.Violation{Field: "entityUid", Code: fault.Required, Message: "Say for which entity the person will work."})
	errStaffWhere = fault.ErrInvalid.With(fault.Violation{Field: "entityUid", Code: fault.NotAllowed, Message: "Staff work for no entity. Leave it out."})
)

// Invited is an account that was made for a guest.
type Invited struct {
	registry.Account

	// Waits is the approval after which the role is the one that was asked for.
	// Until then it is auditor, which changes nothing. Zero: nothing is waited for.
	Waits uuid.UUID
}

// Welcome is Invite for whoever may invite anybody. A new administrator begins
// as an auditor, because nobody makes one alone.
func (p *People) Welcome(ctx context.Context, g Guest, by audit.Actor, request uuid.UUID) (i Invited, err error) {
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		i, err = p.welcome(ctx, tx, g, by, request)
		return err
	})
	if err != nil {
		return Invited{}, err
	}
	return i, nil
}

func (p *People) welcome(ctx context.Context, tx pg.Tx, g Guest, by audit.Actor, request uuid.UUID) (i Invited, err error) {
	begins := g.Role
	if begins == string(access.Administrator) {
		begins = string(access.Auditor)
	}
	i.Account, err = p.Registry.Invite(ctx, tx, registry.Invitee{Kind: g.Kind, Entity: g.Entity, Role: begins, Email: g.Email})
	if err != nil {
		return Invited{}, err
	}
	if err := p.strip(ctx, tx, i.ID); err != nil {
		return Invited{}, err
	}
	if begins != g.Role {
		if i.Waits, err = p.Registry.GiveRole(ctx, tx, i.ID, g.Role, "An invitation to the regulator's staff.", by, request); err != nil {
			return Invited{}, err
		}
	}
	return i, p.sendInvitation(ctx, tx, i.Account, by, request)
}

func (p *People) sendInvitation(ctx context.Context, tx pg.Tx, a registry.Account, by audit.Actor, request uuid.UUID) error {
	if err := p.Post(ctx, tx, Letter{Kind: Invitation, Account: a.ID}); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by, Action: audit.Invited, Subject: a.ID, Entity: a.Entity, Request: request,
		After: map[string]any{"kind": string(a.Kind), "role": a.Role, "email": a.Email},
	})
}

// Accept gives an invited person their name and password, by the link.
func (p *People) Accept(ctx context.Context, token, name string, password secret.Text, from audit.Actor, request uuid.UUID) (registry.Account, error) {
	a, err := p.ownerOf(ctx, invite, token)
	if err != nil {
		return registry.Account{}, err
	}
	a.Name = name
	var wrong fault.Form
	for _, err := range []error{registry.CheckName("name", name), p.Registry.CheckPassword("password", password, a.Words()...)} {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			wrong.Add(f.Violations...)
		}
	}
	if err := wrong.Err(); err != nil {
		return registry.Account{}, err
	}
	hash, err := p.Registry.HashPassword(ctx, "password", password, a.Words()...)
	if err != nil {
		return registry.Account{}, err
	}
	from.Kind, from.ID = audit.Account, a.ID
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.useLink(ctx, tx, invite, token, a.ID); err != nil {
			return err
		}
		if err := p.Registry.Accept(ctx, tx, a.ID, name, hash); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: from, Action: audit.InvitationAccepted, Subject: a.ID, Entity: a.Entity, Request: request})
	})
	if err != nil {
		return registry.Account{}, err
	}
	return a, nil
}

// Team lists the people whom somebody works with: of their entity, or the
// regulator's staff.
func (p *People) Team(ctx context.Context, who access.Principal) ([]registry.Account, error) {
	return p.Registry.Accounts(ctx, who.Entity)
}

var errSelf = fault.New(fault.IncompatibleState, "This is your own account. Somebody else has to remove it.")

// Remove ends the account of somebody whom one looks after: the admin of an
// entity its people, an administrator of the regulator anybody.
func (p *People) Remove(ctx context.Context, account uuid.UUID, who access.Principal, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return err
	}
	switch {
	case who.Manages && a.Entity != who.Entity:
		return registry.ErrNoAccount
	case !who.Manages && who.Role != access.Administrator:
		return access.ErrPermission
	case a.ID == who.Account:
		return errSelf
	}
	return p.Dismiss(ctx, a, who.Actor(), request)
}

// Dismiss is Remove for whoever may remove anybody. What the person held is
// gone; an invitation lets them begin anew.
func (p *People) Dismiss(ctx context.Context, a registry.Account, by audit.Actor, request uuid.UUID) error {
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.Registry.Disable(ctx, tx, a); err != nil {
			return err
		}
		if _, err := p.Keeper.EndSessions(ctx, tx, a.ID, uuid.Nil, by, request); err != nil {
			return err
		}
		if err := p.strip(ctx, tx, a.ID); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: audit.AccountDisabled, Subject: a.ID, Entity: a.Entity, Request: request})
	})
}

// strip takes away everything by which somebody could get in but the password.
func (p *People) strip(ctx context.Context, tx pg.Tx, account uuid.UUID) error {
	q, now := db.New(tx), p.now()
	_, err := q.DropFactor(ctx, account)
	if err == nil {
		err = q.DropDevices(ctx, account)
	}
	if err == nil {
		err = q.EndLinks(ctx, db.EndLinksParams{AccountID: account, Now: &now})
	}
	if err != nil {
		return fmt.Errorf("people: take away what lets somebody in: %w", err)
	}
	return nil
}
