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
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/idtime"
	"github.com/lineproof/lineproof/internal/values/secret"
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
	id := uuid.New() // until it is confirmed
	sealed := p.Peppers.Seal(secret.SecondFactors, secret.Text(key.Secret()), who.Account.String(), id.String())
	now := p.now()
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		// It replaces only a factor that was never confirmed.
		tag, err := tx.Exec(ctx, `INSERT INTO second_factor (account_id, id, sealed, created_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id) DO UPDATE SET id = excluded.id, sealed = excluded.sealed, last_step = 0, created_at = excluded.created_at
			WHERE second_factor.confirmed_at IS NULL`, who.Account, id, sealed, now)
		if err != nil {
			return fmt.Errorf("people: store a second factor: %w", err)
		}
		if tag.RowsAffected() == 0 {
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
	f, err := p.factor(ctx, who.Account)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && f.ConfirmedAt != nil {
		return nil, ErrNoFactor
	}
	if err != nil {
		return nil, fmt.Errorf("people: find the second factor: %w", err)
	}
	text, _, err := p.Peppers.Open(secret.SecondFactors, f.Sealed, who.Account.String(), f.ID.String())
	if err != nil {
		return nil, fmt.Errorf("people: open the second factor: %w", err)
	}
	at, ok := stepOf(text, code, p.Now())
	if !ok {
		return nil, errCode
	}
	now := p.now()
	id := idtime.New(now)
	codes, macs := p.newRecoveryCodes(who.Account, id)
	sealed := p.Peppers.Seal(secret.SecondFactors, text, who.Account.String(), id.String())
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		// It gets another id, which says when that was.
		tag, err := tx.Exec(ctx, `UPDATE second_factor SET id = $3, sealed = $4, confirmed_at = $5, last_step = $6
			WHERE account_id = $1 AND id = $2 AND confirmed_at IS NULL AND last_step < $6`, who.Account, f.ID, id, sealed, now, at)
		if err != nil {
			return fmt.Errorf("people: confirm a second factor: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return errCode
		}
		if _, err := tx.Exec(ctx, `INSERT INTO recovery_code (account_id, mac) SELECT $1, unnest($2::bytea[])`, who.Account, macs); err != nil {
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
		if err := p.keepCounting(ctx, tx, who.Account); err != nil {
			return err
		}
		return p.deleteFactor(ctx, tx, who.Account, who.Entity, who.Actor(), request)
	})
}

// ResetFactor disables two-factor authentication for a person who has lost the
// authenticator and the recovery codes. Their sessions end. A second person has to
// confirm it for a member of staff, and for the people of an organisation that has an
// admin: then it returns an [approval.WaitsError].
func (p *People) ResetFactor(ctx context.Context, account uuid.UUID, reason string, by audit.Actor, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	if err != nil {
		return err
	}
	r, err := p.changeRequest(ctx, p.Pool, a, ResetStaffFactor, actResetFactor, reason, by, request)
	if err != nil {
		return err
	}
	if r.Kind == "" {
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

const deleteFactorSQL = `DELETE FROM second_factor WHERE account_id = $1`

func (p *People) deleteFactor(ctx context.Context, tx pg.Tx, account, entity uuid.UUID, by audit.Actor, request uuid.UUID) error {
	tag, err := tx.Exec(ctx, deleteFactorSQL, account)
	if err != nil {
		return fmt.Errorf("people: remove a second factor: %w", err)
	}
	if tag.RowsAffected() == 0 {
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
	if _, err := p.Pool.Exec(ctx, `UPDATE second_factor SET wrong_codes = 0 WHERE account_id = $1 AND locked_at IS NULL`, account); err != nil {
		return false, false, fmt.Errorf("people: forget wrong codes: %w", err)
	}
	return right, recovery, nil
}

// useCode is checkCode without the count of wrong codes.
func (p *People) useCode(ctx context.Context, account uuid.UUID, code string) (right, recovery bool, err error) {
	f, err := p.factor(ctx, account)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && f.ConfirmedAt == nil {
		return false, false, ErrNoFactor
	}
	if err != nil {
		return false, false, fmt.Errorf("people: find the second factor: %w", err)
	}
	if plain := strings.ReplaceAll(code, " ", ""); len(plain) == otp.DigitsSix.Length() {
		text, _, err := p.Peppers.Open(secret.SecondFactors, f.Sealed, account.String(), f.ID.String())
		if err != nil {
			return false, false, fmt.Errorf("people: open the second factor: %w", err)
		}
		at, ok := stepOf(text, plain, p.Now())
		if !ok {
			return false, false, nil
		}
		sealed := p.Peppers.Seal(secret.SecondFactors, text, account.String(), f.ID.String()) // under the newest pepper, so that older ones can be retired
		// Of two concurrent uses, one changes no row.
		tag, err := p.Pool.Exec(ctx, `UPDATE second_factor SET last_step = $3, sealed = $4
			WHERE account_id = $1 AND id = $2 AND confirmed_at IS NOT NULL AND last_step < $3`, account, f.ID, at, sealed)
		if err != nil {
			return false, false, fmt.Errorf("people: use a code: %w", err)
		}
		return tag.RowsAffected() == 1, false, nil
	}
	plain, ok := recoveryCode(code)
	if !ok {
		return false, false, nil
	}
	tag, err := p.Pool.Exec(ctx, `UPDATE recovery_code SET used_at = $3 WHERE account_id = $1 AND mac = ANY($2::bytea[]) AND used_at IS NULL`,
		account, p.Peppers.Candidates(secret.ForRecoveryCodes, account.String(), f.ID.String(), plain), p.now())
	if err != nil {
		return false, false, fmt.Errorf("people: use a recovery code: %w", err)
	}
	used := tag.RowsAffected() == 1
	return used, used, nil
}

// storedFactor is a second factor, and which one the row of its account names.
type storedFactor struct {
	ID             uuid.UUID
	Sealed         []byte
	ConfirmedAt    *time.Time
	FactorID       uuid.NullUUID
	RowSum, RowMAC []byte
}

// factor reads a second factor: once it is confirmed, only the one that the row of the
// account names, which is signed. So one that was replaced is not accepted.
func (p *People) factor(ctx context.Context, account uuid.UUID) (storedFactor, error) {
	f, err := pg.CollectOne(ctx, p.Pool, pgx.RowToStructByPos[storedFactor], `SELECT f.id, f.sealed, f.confirmed_at, a.factor_id, a.row_sum, a.row_mac
		FROM second_factor f JOIN account a ON a.id = f.account_id WHERE f.account_id = $1`, account)
	err = pg.Signed(ctx, p.Pool, err, pg.Row{Table: "account", ID: account, Sum: f.RowSum, MAC: f.RowMAC})
	if err == nil && f.ConfirmedAt != nil && (!f.FactorID.Valid || f.FactorID.UUID != f.ID) {
		err = pgx.ErrNoRows
	}
	return f, err
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
func (p *People) newRecoveryCodes(account, factor uuid.UUID) (codes []secret.Text, macs [][]byte) {
	for range recoveryCodes {
		raw := make([]byte, recoveryLen)
		_, _ = rand.Read(raw) // never fails: without randomness the process ends
		for i, b := range raw {
			raw[i] = recoveryLetters[int(b)%len(recoveryLetters)]
		}
		codes = append(codes, secret.Text(raw[:recoveryLen/2])+"-"+secret.Text(raw[recoveryLen/2:]))
		macs = append(macs, p.Peppers.Sign(secret.ForRecoveryCodes, account.String(), factor.String(), string(raw)))
	}
	return codes, macs
}

// recoveryCode returns a recovery code as it is signed, and whether it has the form of
// one. Case, spaces and dashes are ignored.
func recoveryCode(typed string) (code string, ok bool) {
	code = strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(typed))
	return code, len(code) == recoveryLen && strings.Trim(code, recoveryLetters) == ""
}

func recoveryCodesLeft(ctx context.Context, from pg.DB, account uuid.UUID) (n int64, err error) {
	err = from.QueryRow(ctx, `SELECT count(*) FROM recovery_code WHERE account_id = $1 AND used_at IS NULL`, account).Scan(&n)
	return n, err
}

func (p *People) recordRecovery(ctx context.Context, tx pg.Tx, account, entity uuid.UUID, by audit.Actor, request uuid.UUID) error {
	left, err := recoveryCodesLeft(ctx, tx, account)
	if err != nil {
		return fmt.Errorf("people: count recovery codes: %w", err)
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: p.now(), Actor: by, Action: audit.RecoveryUsed, Subject: account, Entity: entity, Request: request, After: map[string]any{"left": left},
	})
}
