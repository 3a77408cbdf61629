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
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	// step is how long an authenticator shows one code; it is what all of them do.
	step = 30 * time.Second
	// skew is how many steps a clock may be wrong, either way.
	skew = 1

	recoveryCodes = 10
	recoveryLen   = 10 // characters, of 5 bits each
	// Without letters that are taken for digits.
	recoveryLetters = "023456789abcdefghjkmnpqrstuvwxyz"
)

var (
	// ErrHasFactor reports a second factor where there is one already.
	ErrHasFactor = fault.New(fault.IncompatibleState, "This account has a second factor. Remove it before you set up another.")

	// ErrNoFactor reports that there is none.
	ErrNoFactor = fault.New(fault.IncompatibleState, "There is no second factor that could be confirmed or removed. Begin with setting one up.")

	errCode = fault.ErrInvalid.With(fault.Violation{
		Field: "otp", Code: fault.NotAllowed, Message: "This code is not right, or was used before. Wait for the next one, and see that the clock of your device is right.",
	})
)

// factorBegun is the action of somebody who begins to set up a second factor.
const factorBegun audit.Action = "factor.begun"

// Enrolment is what an authenticator needs to know. It is shown this once.
type Enrolment struct {
	Secret secret.Text // for those who type
	URI    secret.Text // for those who scan: the same, as otpauth://
}

// BeginFactor makes a secret for an authenticator. Nothing asks for it before
// it is confirmed.
func (p *People) BeginFactor(ctx context.Context, who access.Principal, request uuid.UUID) (Enrolment, error) {
	account, err := p.Registry.Account(ctx, p.Pool, who.Account)
	if err != nil {
		return Enrolment{}, err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: p.Issuer, AccountName: account.Email, Period: uint(step / time.Second)})
	if err != nil {
		return Enrolment{}, fmt.Errorf("people: make a second factor: %w", err)
	}
	sealed, err := p.seal(who.Account, secret.Text(key.Secret()))
	if err != nil {
		return Enrolment{}, err
	}
	now := p.now()
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		n, err := db.New(tx).BeginFactor(ctx, db.BeginFactorParams{AccountID: who.Account, Sealed: sealed, CreatedAt: now})
		if err != nil {
			return fmt.Errorf("people: keep a second factor: %w", err)
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

// ConfirmFactor puts a second factor in force, once a code shows that the
// authenticator has it. It returns the recovery codes, which are shown this
// once. A limited session becomes a full one, and every other session ends.
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
			return fmt.Errorf("people: keep recovery codes: %w", err)
		}
		if who.Limited {
			if err := p.Keeper.FreeSession(ctx, tx, who.ID); err != nil {
				return err
			}
		}
		// Whoever logged in with the password alone has to come back with both.
		if _, err := p.Keeper.EndSessions(ctx, tx, who.Account, who.ID, who.Actor(), request); err != nil {
			return err
		}
		if err := p.Post(ctx, tx, Letter{Kind: FactorSet, Account: who.Account}); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: who.Actor(), Action: audit.FactorSet, Subject: who.Account, Entity: who.Entity, Request: request})
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// RemoveFactor takes a second factor away. It asks for everything that a login
// would ask for.
func (p *People) RemoveFactor(ctx context.Context, who access.Principal, password secret.Text, code string, request uuid.UUID) error {
	err := p.check(ctx, who, password, func() error {
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
		return p.dropFactor(ctx, tx, who.Account, who.Entity, who.Actor(), request)
	})
}

// ResetFactor takes the second factor away from somebody who has lost it and
// the recovery codes, too. Their sessions end.
func (p *People) ResetFactor(ctx context.Context, account uuid.UUID, by audit.Actor, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if _, err := p.Keeper.EndSessions(ctx, tx, account, uuid.Nil, by, request); err != nil {
			return err
		}
		return p.dropFactor(ctx, tx, account, a.Entity, by, request)
	})
}

func (p *People) dropFactor(ctx context.Context, tx pg.Tx, account, entity uuid.UUID, by audit.Actor, request uuid.UUID) error {
	n, err := db.New(tx).DropFactor(ctx, account)
	if err != nil {
		return fmt.Errorf("people: remove a second factor: %w", err)
	}
	if n == 0 {
		return ErrNoFactor
	}
	if err := p.Post(ctx, tx, Letter{Kind: FactorRemoved, Account: account}); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{At: p.now(), Actor: by, Action: audit.FactorRemoved, Subject: account, Entity: entity, Request: request})
}

// checkCode reports whether a code opens an account that has a second factor,
// and uses it up. It may be a recovery code.
func (p *People) checkCode(ctx context.Context, account uuid.UUID, code string) (right, recovery bool, err error) {
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
		sealed, err := p.seal(account, text) // under the newest pepper, so that older ones can go
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

// stepOf returns the step of time to which a code belongs.
func stepOf(text secret.Text, code string, now time.Time) (int64, bool) {
	present := now.Unix() / int64(step/time.Second)
	for at := present - skew; at <= present+skew; at++ {
		ok, err := hotp.ValidateCustom(code, uint64(at), text.Reveal(), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}) //nolint:gosec // after 1970
		if err == nil && ok {
			return at, true
		}
	}
	return 0, false
}

// newRecoveryCodes makes codes for whoever loses the authenticator.
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

// recoveryText is what is kept of a recovery code, as an HMAC. Case, spaces and
// dashes are the writer's.
func recoveryText(account uuid.UUID, code string) string {
	return "recovery code\x00" + account.String() + "\x00" + strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(code))
}

func (p *People) noteRecovery(ctx context.Context, tx pg.Tx, account, entity uuid.UUID, by audit.Actor, request uuid.UUID) error {
	left, err := db.New(tx).RecoveryCodesLeft(ctx, account)
	if err != nil {
		return fmt.Errorf("people: count recovery codes: %w", err)
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by, Action: audit.RecoveryUsed, Subject: account, Entity: entity, Request: request, After: map[string]any{"left": left},
	})
}
