package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// ChangePassword replaces the password of somebody who knows the old one. Every
// other session of theirs ends.
func (p *People) ChangePassword(ctx context.Context, who access.Principal, old, fresh secret.Text, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, who.Account)
	if err != nil {
		return err
	}
	if err := p.Registry.CheckPassword("newPassword", fresh, a.Words()...); err != nil {
		return err
	}
	if err := p.check(ctx, who, old, nil); err != nil {
		return err
	}
	hash, err := p.Registry.HashPassword(ctx, "newPassword", fresh, a.Words()...)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		return p.setPassword(ctx, tx, a, hash, who.ID, audit.PasswordChanged, who.Actor(), request)
	})
}

// setPassword ends every session but one, and every letter that could still
// change the password.
func (p *People) setPassword(ctx context.Context, tx pg.Tx, a registry.Account, hash string, but uuid.UUID, what audit.Action, by audit.Actor, request uuid.UUID) error {
	if err := p.Registry.SetPassword(ctx, tx, a.ID, hash); err != nil {
		return err
	}
	if _, err := p.Keeper.EndSessions(ctx, tx, a.ID, but, by, request); err != nil {
		return err
	}
	now := p.now()
	if err := db.New(tx).EndLinks(ctx, db.EndLinksParams{AccountID: a.ID, Kind: string(reset), Now: &now}); err != nil {
		return fmt.Errorf("people: end links: %w", err)
	}
	if err := p.Post(ctx, tx, Letter{Kind: PasswordChanged, Account: a.ID}); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: what, Subject: a.ID, Entity: a.Entity, Request: request})
}

// AskReset has a letter sent with a link by which a new password can be set. It
// does the same, and says the same, for an address that has no account: a job
// is queued that will find nobody to write to.
func (p *People) AskReset(ctx context.Context, email string) error {
	err := p.sparing(ctx, "resets\x00"+subject(email), mostResets)
	if errors.Is(err, errGuesses) {
		return nil // enough letters are on their way
	}
	if err != nil {
		return err
	}
	a, err := p.Registry.AccountByEmail(ctx, p.Pool, email)
	if errors.Is(err, registry.ErrNoAccount) {
		a.ID = uuid.Must(uuid.NewV7())
	} else if err != nil {
		return err
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error { return p.Post(ctx, tx, Letter{Kind: Reset, Account: a.ID}) })
}

// CompleteReset sets a new password for whoever has the link. Every session
// ends, and every device is forgotten: whoever knew the old password may have
// used it. A second factor stays.
func (p *People) CompleteReset(ctx context.Context, token string, fresh secret.Text, from audit.Actor, request uuid.UUID) error {
	a, err := p.ownerOf(ctx, reset, token)
	if err != nil {
		return err
	}
	hash, err := p.Registry.HashPassword(ctx, "newPassword", fresh, a.Words()...)
	if err != nil {
		return err
	}
	from.Kind, from.ID = audit.Account, a.ID
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.useLink(ctx, tx, reset, token, a.ID); err != nil {
			return err
		}
		if err := db.New(tx).DropDevices(ctx, a.ID); err != nil {
			return fmt.Errorf("people: forget devices: %w", err)
		}
		if err := p.confirm(ctx, tx, a, from, request); err != nil {
			return err
		}
		return p.setPassword(ctx, tx, a, hash, uuid.Nil, audit.PasswordReset, from, request)
	})
}

// ConfirmEmail notes that whoever has the link reads the mail of the account.
func (p *People) ConfirmEmail(ctx context.Context, token string, from audit.Actor, request uuid.UUID) error {
	a, err := p.ownerOf(ctx, confirm, token)
	if err != nil {
		return err
	}
	from.Kind, from.ID = audit.Account, a.ID
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.useLink(ctx, tx, confirm, token, a.ID); err != nil {
			return err
		}
		return p.confirm(ctx, tx, a, from, request)
	})
}

func (p *People) confirm(ctx context.Context, tx pg.Tx, a registry.Account, by audit.Actor, request uuid.UUID) error {
	news, err := p.Registry.Confirm(ctx, tx, a.ID)
	if err != nil || !news {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: audit.EmailConfirmed, Subject: a.ID, Entity: a.Entity, Request: request})
}
