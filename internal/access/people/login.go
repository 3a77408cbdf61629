package people

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var (
	// ErrBadLogin rejects every wrong combination with the same message.
	ErrBadLogin = fault.New(fault.Unauthenticated, "The e-mail address or the password is wrong.")

	// ErrFactorMissing is returned only after the right password.
	ErrFactorMissing = fault.New(fault.SecondFactorRequired,
		"Repeat the request with the code from your authenticator app, or one of your recovery codes, as otp.")
)

// Attempt is an attempt to log in.
type Attempt struct {
	Email    string
	Password secret.Text
	OTP      string // a code of the authenticator, or a recovery code
	From     netip.Addr
	Agent    string // the User-Agent header
	Portal   bool   // opens a session of the portal; else of the API
	Device   string // the device token of an earlier login; any other text requests a token, "" requests none
}

// Login is the result of a successful login. Its secrets are shown only now.
type Login struct {
	FullName  string
	Verified  bool
	Text      secret.Text
	ExpiresAt time.Time
	Limited   bool        // the session allows only setting up two-factor authentication
	Device    secret.Text // the token of a new device, if one was requested; else ""
}

// LogIn opens a session. An unknown address takes as long as a known one: its
// attempts are counted, and its password is compared with nothing, at the same
// cost.
func (p *People) LogIn(ctx context.Context, a Attempt, request uuid.UUID) (Login, error) {
	known, err := p.knownDevice(ctx, a.Email, a.Device)
	if err != nil {
		return Login{}, err
	}
	// Without a device token, an attempt that is rejected here has not used a connection.
	leave, err := p.Passwords.Enter(ctx, secret.Caller{Known: known != device{}, Network: network(a.From)})
	if err != nil {
		return Login{}, err
	}
	defer leave()
	c := p.countersOf(a.Email, a.From, known.name())
	if err := p.countAttempt(ctx, c); err != nil {
		return Login{}, err
	}
	who, err := p.authenticate(ctx, a)
	if errors.Is(err, ErrBadLogin) {
		return Login{}, errors.Join(p.attemptFailed(ctx, c, who.ID), err)
	}
	if errors.Is(err, ErrFactorMissing) || errors.Is(err, ErrFactorLocked) { // the password was right
		return Login{}, errors.Join(p.attemptSucceeded(ctx, p.Pool, c), err)
	}
	if err == nil && p.Passwords.Outdated(who.PasswordHash) { // so that older peppers can be retired
		who.renewed, err = p.Passwords.Rehash(who.ID, a.Password)
	}
	if err != nil {
		return Login{}, err
	}
	return p.openSession(ctx, a, who, known, c, request)
}

// loginAccount is the account of an attempt to log in, or its zero value.
type loginAccount struct {
	ID           uuid.UUID
	Kind         registry.AccountKind
	EntityID     uuid.UUID
	Name         string
	PasswordHash string

	Verified, MayLogIn, HasFactor bool

	RowSum, RowMAC, EntitySum, EntityMAC []byte
}

// loginAccountSQL also finds accounts that may not log in, so that the password
// is verified, which is slow, before the attempt is rejected. It returns a row for
// an address without an account too, so that reading it takes as long.
const loginAccountSQL = `SELECT coalesce(a.id, '00000000-0000-0000-0000-000000000000')::uuid, coalesce(a.kind, ''),
	coalesce(a.entity_id, '00000000-0000-0000-0000-000000000000')::uuid, coalesce(a.name, ''), coalesce(a.password_hash, ''),
	a.verified_at IS NOT NULL, a.id IS NOT NULL AND a.disabled_at IS NULL AND coalesce(e.status, 'Approved') = 'Approved', coalesce(a.has_factor, false),
	a.row_sum, a.row_mac, e.row_sum, e.row_mac
	FROM (SELECT $1::text AS key) wanted LEFT JOIN account a ON a.email_key = wanted.key LEFT JOIN entity e ON e.id = a.entity_id`

// authenticated is a person whose password and second factor are verified.
type authenticated struct {
	loginAccount

	limited  bool   // the session must be limited
	recovery bool   // a recovery code was used
	renewed  string // the password's hash under the newest pepper, if the stored one is older
}

// authenticate verifies password and second factor. With ErrBadLogin it returns the
// account that the attempt was for, if there is one.
func (p *People) authenticate(ctx context.Context, a Attempt) (authenticated, error) {
	key, _ := registry.EmailKey(a.Email) // an invalid address has no account; the query runs anyway, so that both cases take the same time
	row, err := pg.CollectOne(ctx, p.Pool, pgx.RowToStructByPos[loginAccount], loginAccountSQL, key)
	if err != nil {
		return authenticated{}, fmt.Errorf("people: find the account: %w", err)
	}
	signed, err := pg.RowsSigned(ctx, p.Pool, accountRow(row.ID, row.RowSum, row.RowMAC), pg.Row{Table: "entity", ID: row.EntityID, Sum: row.EntitySum, MAC: row.EntityMAC})
	if err != nil {
		return authenticated{}, err
	}
	if !signed { // no password matches, after the same time
		row.PasswordHash = ""
	}
	who := authenticated{loginAccount: row}
	right, err := p.Passwords.Matches(row.PasswordHash, row.ID, a.Password)
	if err != nil {
		return authenticated{}, err
	}
	if !right || !who.MayLogIn {
		return who, ErrBadLogin
	}
	if !who.HasFactor {
		who.limited = p.StaffFactor && who.Kind == registry.StaffAccount
		return who, nil
	}
	if a.OTP == "" {
		return authenticated{}, ErrFactorMissing
	}
	right, who.recovery, err = p.checkCode(ctx, who.ID, a.OTP)
	if err != nil {
		return authenticated{}, err
	}
	if !right {
		return who, ErrBadLogin
	}
	return who, nil
}

// openSession opens the session of an authenticated person.
func (p *People) openSession(ctx context.Context, a Attempt, who authenticated, known device, c counters, request uuid.UUID) (Login, error) {
	l := Login{FullName: who.Name, Verified: who.Verified, Limited: who.limited}
	err := pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.attemptSucceeded(ctx, tx, c); err != nil {
			return err
		}
		s, err := p.Access.OpenSession(ctx, tx, access.SessionForm{
			Account: who.ID, Entity: who.EntityID, From: a.From, Agent: a.Agent, Portal: a.Portal, Limited: who.limited, Request: request,
		})
		if err != nil {
			return err
		}
		l.Text, l.ExpiresAt = s.Text, s.ExpiresAt
		if l.Device, err = p.storeDevice(ctx, tx, who.ID, known, a.Device); err != nil {
			return err
		}
		if who.renewed != "" {
			if err := p.Registry.RenewHash(ctx, tx, who.ID, who.PasswordHash, who.renewed); err != nil {
				return err
			}
		}
		if !who.recovery {
			return nil
		}
		return p.recordRecovery(ctx, tx, who.ID, who.EntityID, audit.Actor{Kind: audit.Account, ID: who.ID, From: a.From}, request)
	})
	if err != nil {
		return Login{}, fmt.Errorf("people: log in: %w", err)
	}
	return l, nil
}

// reauthenticate verifies the password of a person who has a session, before an
// action that a stolen session must not allow. Attempts are counted for the
// session, so that nobody else can use them up. And, if set, verifies something
// more. It returns the hash that the password matches.
func (p *People) reauthenticate(ctx context.Context, who access.Principal, password secret.Text, and func() error) (hash string, err error) {
	leave, err := p.Passwords.Enter(ctx, secret.Caller{Known: true, Network: network(who.From)})
	if err != nil {
		return "", err
	}
	defer leave()
	var stored, emailKey string
	var sum, mac []byte
	err = p.Pool.QueryRow(ctx, `SELECT coalesce(password_hash, ''), email_key, row_sum, row_mac FROM account WHERE id = $1`, who.Account).Scan(&stored, &emailKey, &sum, &mac)
	if err != nil {
		return "", fmt.Errorf("people: read the password: %w", err)
	}
	c := p.countersOf(emailKey, who.From, "session "+who.ID.String())
	if err := p.countAttempt(ctx, c); err != nil {
		return "", err
	}
	signed, err := pg.RowsSigned(ctx, p.Pool, accountRow(who.Account, sum, mac))
	if err != nil {
		return "", err
	}
	if signed {
		hash = stored
	}
	right, err := p.Passwords.Matches(hash, who.Account, password)
	switch {
	case err != nil:
		return "", err
	case !right:
		return "", errors.Join(p.attemptFailed(ctx, c, who.Account), errPassword)
	case and != nil:
		if err := and(); err != nil {
			return "", errors.Join(p.attemptFailed(ctx, c, who.Account), err)
		}
	}
	return hash, p.attemptSucceeded(ctx, p.Pool, c)
}

// accountRow is the row of an account, to be checked.
func accountRow(id uuid.UUID, sum, mac []byte) pg.Row {
	return pg.Row{Table: "account", ID: id, Sum: sum, MAC: mac}
}

var errPassword = fault.ErrInvalid.With(fault.Violation{
	Field: "password", Code: fault.NotAllowed, Message: "This is not the password of the account.",
})
