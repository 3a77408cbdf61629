package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// ChangePassword replaces the password of a person who knows the old one. Every
// other session of theirs ends.
func (p *People) ChangePassword(ctx context.Context, who access.Principal, old, fresh secret.Text, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, who.Account)
	if err != nil {
		return err
	}
	if err := p.Registry.CheckPassword("newPassword", fresh, a.GuessableWords()...); err != nil {
		return err
	}
	verified, err := p.reauthenticate(ctx, who, old, nil)
	if err != nil {
		return err
	}
	hash, err := p.Registry.HashPassword(ctx, a.ID, "newPassword", fresh, a.GuessableWords()...)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		// Another request may have changed the password meanwhile.
		var current string
		if err := tx.QueryRow(ctx, `SELECT coalesce(password_hash, '') FROM account WHERE id = $1 FOR UPDATE`, a.ID).Scan(&current); err != nil {
			return fmt.Errorf("people: lock the password: %w", err)
		}
		if current != verified {
			return errPassword
		}
		return p.setPassword(ctx, tx, a, hash, who.ID, audit.PasswordChanged, who.Actor(), request)
	})
}

// setPassword stores a password hash. It ends every session but one, and every
// link that could still change the password.
func (p *People) setPassword(ctx context.Context, tx pg.Tx, a registry.Account, hash string, but uuid.UUID, what audit.Action, by audit.Actor, request uuid.UUID) error {
	if err := p.Registry.SetPassword(ctx, tx, a.ID, hash); err != nil {
		return err
	}
	if _, err := p.Access.EndSessions(ctx, tx, a.ID, but, by, request); err != nil {
		return err
	}
	if err := p.endLinks(ctx, tx, a.ID, reset); err != nil {
		return fmt.Errorf("people: end links: %w", err)
	}
	if err := p.QueueEmail(ctx, tx, Email{Kind: PasswordChanged, Account: a.ID}); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: what, Subject: a.ID, Entity: a.Entity, Request: request})
}

// RequestReset sends an e-mail with a link for setting a new password. For an address
// without an account it does and returns the same: the queued job will find no
// account to send an e-mail to.
func (p *People) RequestReset(ctx context.Context, email string) error {
	err := p.throttle(ctx, "resets", accountKey(email), maxResets)
	if errors.Is(err, errTooManyAttempts) {
		return nil // enough e-mails have been sent
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
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error { return p.QueueEmail(ctx, tx, Email{Kind: Reset, Account: a.ID}) })
}

// CompleteReset sets a new password for the holder of the link. Every session ends
// and every known device is deleted, because a person who knew the old password
// may have used it. Two-factor authentication stays enabled.
func (p *People) CompleteReset(ctx context.Context, token string, fresh secret.Text, from audit.Actor, request uuid.UUID) error {
	a, err := p.ownerOf(ctx, reset, token)
	if err != nil {
		return err
	}
	hash, err := p.Registry.HashPassword(ctx, a.ID, "newPassword", fresh, a.GuessableWords()...)
	if err != nil {
		return err
	}
	from.Kind, from.ID = audit.Account, a.ID
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.useLink(ctx, tx, reset, token, a.ID); err != nil {
			return err
		}
		if err := forgetDevices(ctx, tx, a.ID); err != nil {
			return fmt.Errorf("people: delete devices: %w", err)
		}
		if err := p.confirm(ctx, tx, a, false, from, request); err != nil {
			return err
		}
		return p.setPassword(ctx, tx, a, hash, uuid.Nil, audit.PasswordReset, from, request)
	})
}

// ConfirmEmail marks the e-mail address as verified: the holder of the link can
// read its mail. A second factor that waits for that counts from now on.
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
		return p.confirm(ctx, tx, a, true, from, request)
	})
}

// confirm confirms the address. asked says that the link was sent for that alone.
func (p *People) confirm(ctx context.Context, tx pg.Tx, a registry.Account, asked bool, by audit.Actor, request uuid.UUID) error {
	changed, err := p.Registry.Confirm(ctx, tx, a.ID, asked)
	if err != nil || !changed && !asked {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: audit.EmailConfirmed, Subject: a.ID, Entity: a.Entity, Request: request})
}
