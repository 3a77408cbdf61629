package people

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	// step is how long an authenticator shows one code; all of them use 30 seconds.
	step = 30 * time.Second
	// skew is by how many steps the clock of the device may be wrong, either way.
	skew = 1

	recoveryCodes = 10
	recoveryLen   = 10 // characters, of 5 bits each
	// No letters that can be mistaken for digits.
	recoveryLetters = "023456789abcdefghjkmnpqrstuvwxyz"
)

var (
	// ErrHasFactor reports that two-factor authentication is already enabled.
	ErrHasFactor = fault.New(fault.IncompatibleState, "Two-factor authentication is already enabled for this account. Disable it before you set it up again.")

	// ErrNoFactor reports that two-factor authentication is not set up.
	ErrNoFactor = fault.New(fault.IncompatibleState, "Two-factor authentication is not set up for this account. Set it up first.")

	errCode = fault.ErrInvalid.With(fault.Violation{
		Field: "otp", Code: fault.NotAllowed, Message: "This code is wrong or was already used. Wait for the next one, and check that the clock of your device is right.",
	})
)

// factorBegun is the audit action of starting to set up two-factor authentication.
const factorBegun audit.Action = "factor.begun"

// Enrolment is what an authenticator app needs. It is shown only now.
type Enrolment struct {
	Secret secret.Text // for typing
	URI    secret.Text // for scanning: the same, as otpauth://
}

// BeginFactor creates a secret for an authenticator app. Logins do not require a
// code before ConfirmFactor.
func (p *People) BeginFactor(ctx context.Context, who access.Principal, request uuid.UUID) (Enrolment, error) {
	account, err := p.Registry.Account(ctx, p.Pool, who.Account)
	if err != nil {
		return Enrolment{}, err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: p.Issuer, AccountName: account.Email, Period: uint(step / time.Second)})
	if err != nil {
		return Enrolment{}, fmt.Errorf("people: create a second factor: %w", err)
	}
	sealed, err := p.seal(who.Account, secret.Text(key.Secret()))
	if err != nil {
		return Enrolment{}, err
	}
	now := p.now()
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		n, err := db.New(tx).BeginFactor(ctx, db.BeginFactorParams{AccountID: who.Account, Sealed: sealed, CreatedAt: now})
		if err != nil {
			return fmt.Errorf("people: store a second factor: %w", err)
		}
		if n == 0 {
			return ErrHasFactor
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: who.Actor(), Action: factorBegun, Subject: who.Account, Entity: who.Entity, Request: request})
	})
	if err != nil {
		return Enrolment{}, err
	}
	return Enrolment{Secret: secret.Text(key.Secret()), URI: secret.Text(key.URL())}, nil
}

// ConfirmFactor enables two-factor authentication once a code proves that the
// authenticator app has the secret. It returns the recovery codes, which are shown
// only now. A limited session becomes a full one, and every other session ends.
func (p *People) ConfirmFactor(ctx context.Context, who access.Principal, code string, request uuid.UUID) ([]secret.Text, error) {
	f, err := db.New(p.Pool).Factor(ctx, who.Account)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && f.ConfirmedAt != nil {
		return nil, ErrNoFactor
	}
	if err != nil {
		return nil, fmt.Errorf("people: find the second factor: %w", err)
	}
	text, err := p.open(who.Account, f.Sealed)
	if err != nil {
		return nil, err
	}
	at, ok := stepOf(text, code, p.Now())
	if !ok {
		return nil, errCode
	}
	codes, macs := p.newRecoveryCodes(who.Account)
	now := p.now()
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		n, err := q.ConfirmFactor(ctx, db.ConfirmFactorParams{AccountID: who.Account, At: &now, Step: at})
		if err != nil {
			return fmt.Errorf("people: confirm a second factor: %w", err)
		}
		if n == 0 {
			return errCode
		}
		if err := q.InsertRecoveryCodes(ctx, db.InsertRecoveryCodesParams{AccountID: who.Account, Macs: macs}); err != nil {
			return fmt.Errorf("people: store recovery codes: %w", err)
		}
		if who.Limited {
			if err := p.Access.UnlockSession(ctx, tx, who.ID); err != nil {
				return err
			}
		}
		// Sessions that were opened with the password alone must log in again with both.
		if _, err := p.Access.EndSessions(ctx, tx, who.Account, who.ID, who.Actor(), request); err != nil {
			return err
		}
		if err := p.QueueEmail(ctx, tx, Email{Kind: FactorSet, Account: who.Account}); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: who.Actor(), Action: audit.FactorSet, Subject: who.Account, Entity: who.Entity, Request: request})
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// RemoveFactor disables two-factor authentication. It requires everything that a
// login requires.
func (p *People) RemoveFactor(ctx context.Context, who access.Principal, password secret.Text, code string, request uuid.UUID) error {
	_, err := p.reauthenticate(ctx, who, password, func() error {
		right, _, err := p.checkCode(ctx, who.Account, code)
		if err == nil && !right {
			err = errCode
		}
		return err
	})
	if err != nil {
		return err
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		return p.deleteFactor(ctx, tx, who.Account, who.Entity, who.Actor(), request)
	})
}

// ResetFactor disables two-factor authentication for a person who has lost the
// authenticator and the recovery codes. Their sessions end. A second person has to
// confirm it for a member of staff: then it returns an [approval.WaitsError].
func (p *People) ResetFactor(ctx context.Context, account uuid.UUID, reason string, by audit.Actor, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return err
	}
	r := approval.Request{Kind: ResetStaffFactor, Subject: a.ID, Entity: a.Entity, Reason: reason, By: by, Request: request, At: p.now()}
	if a.Kind != registry.StaffAccount {
		return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error { return p.resetFactor(ctx, tx, approval.Alone(r)) })
	}
	has, _, err := p.FactorOf(ctx, a.ID)
	if err != nil {
		return err
	}
	if !has {
		return ErrNoFactor
	}
	return p.requestChange(ctx, r, func(pg.Tx) error { return nil }, p.resetFactor)
}

// resetFactor is the effect of [ResetStaffFactor], and of the reset of everybody else.
func (p *People) resetFactor(ctx context.Context, tx pg.Tx, by approval.Approval) error {
	a, err := p.Registry.Account(ctx, tx, by.Subject)
	if err != nil {
		return err
	}
	if _, err := p.Access.EndSessions(ctx, tx, a.ID, uuid.Nil, by.DecidedBy, by.Request); err != nil {
		return err
	}
	if err := registry.RecordStaffAccess(ctx, tx, a, registry.AccessReset, by.RequestedBy, p.now()); err != nil {
		return err
	}
	return p.deleteFactor(ctx, tx, a.ID, a.Entity, by.DecidedBy, by.Request)
}

func (p *People) deleteFactor(ctx context.Context, tx pg.Tx, account, entity uuid.UUID, by audit.Actor, request uuid.UUID) error {
	n, err := db.New(tx).DeleteFactor(ctx, account)
	if err != nil {
		return fmt.Errorf("people: remove a second factor: %w", err)
	}
	if n == 0 {
		return ErrNoFactor
	}
	if err := p.QueueEmail(ctx, tx, Email{Kind: FactorRemoved, Account: account}); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: audit.FactorRemoved, Subject: account, Entity: entity, Request: request})
}

// checkCode reports whether a code of the authenticator, or a recovery code, is
// right, and marks it as used. After too many wrong ones it returns ErrFactorLocked.
func (p *People) checkCode(ctx context.Context, account uuid.UUID, code string) (right, recovery bool, err error) {
	if err := p.countCode(ctx, account); err != nil {
		return false, false, err
	}
	right, recovery, err = p.useCode(ctx, account, code)
	switch {
	case err != nil:
		return false, false, err
	case !right:
		return false, false, p.lockFactor(ctx, account)
	}
	if err := db.New(p.Pool).CodeSucceeded(ctx, account); err != nil {
		return false, false, fmt.Errorf("people: forget wrong codes: %w", err)
	}
	return right, recovery, nil
}

// useCode is checkCode without the count of wrong codes.
func (p *People) useCode(ctx context.Context, account uuid.UUID, code string) (right, recovery bool, err error) {
	q := db.New(p.Pool)
	f, err := q.Factor(ctx, account)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && f.ConfirmedAt == nil {
		return false, false, ErrNoFactor
	}
	if err != nil {
		return false, false, fmt.Errorf("people: find the second factor: %w", err)
	}
	if plain := strings.ReplaceAll(code, " ", ""); len(plain) == otp.DigitsSix.Length() {
		text, err := p.open(account, f.Sealed)
		if err != nil {
			return false, false, err
		}
		at, ok := stepOf(text, plain, p.Now())
		if !ok {
			return false, false, nil
		}
		sealed, err := p.seal(account, text) // under the newest pepper, so that older ones can be retired
		if err != nil {
			return false, false, err
		}
		n, err := q.UseStep(ctx, db.UseStepParams{AccountID: account, Step: at, Sealed: sealed})
		if err != nil {
			return false, false, fmt.Errorf("people: use a code: %w", err)
		}
		return n == 1, false, nil
	}
	now := p.now()
	n, err := q.UseRecoveryCode(ctx, db.UseRecoveryCodeParams{AccountID: account, Macs: p.Peppers.Candidates(recoveryText(account, code)), At: &now})
	if err != nil {
		return false, false, fmt.Errorf("people: use a recovery code: %w", err)
	}
	return n == 1, n == 1, nil
}

// stepOf returns the time step that a code belongs to.
func stepOf(text secret.Text, code string, now time.Time) (int64, bool) {
	current := now.Unix() / int64(step/time.Second)
	for at := current - skew; at <= current+skew; at++ {
		ok, err := hotp.ValidateCustom(code, uint64(at), text.Reveal(), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}) //nolint:gosec // after 1970
		if err == nil && ok {
			return at, true
		}
	}
	return 0, false
}

// newRecoveryCodes creates codes for a person who loses the authenticator.
func (p *People) newRecoveryCodes(account uuid.UUID) (codes []secret.Text, macs [][]byte) {
	for range recoveryCodes {
		raw := make([]byte, recoveryLen)
		_, _ = rand.Read(raw) // never fails: without randomness the process ends
		for i, b := range raw {
			raw[i] = recoveryLetters[int(b)%len(recoveryLetters)]
		}
		code := string(raw[:recoveryLen/2]) + "-" + string(raw[recoveryLen/2:])
		codes, macs = append(codes, secret.Text(code)), append(macs, p.Peppers.Sign(recoveryText(account, code)))
	}
	return codes, macs
}

// recoveryText is the text whose HMAC is stored for a recovery code. Case, spaces
// and dashes are ignored.
func recoveryText(account uuid.UUID, code string) string {
	return "recovery code\x00" + account.String() + "\x00" + strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(code))
}

func (p *People) recordRecovery(ctx context.Context, tx pg.Tx, account, entity uuid.UUID, by audit.Actor, request uuid.UUID) error {
	left, err := db.New(tx).RecoveryCodesLeft(ctx, account)
	if err != nil {
		return fmt.Errorf("people: count recovery codes: %w", err)
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by, Action: audit.RecoveryUsed, Subject: account, Entity: entity, Request: request, After: map[string]any{"left": left},
	})
}
