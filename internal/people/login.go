package people

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

var (
	// ErrBadLogin is the one answer to every wrong combination.
	ErrBadLogin = fault.New(fault.Unauthenticated, "The e-mail address or the password is not right.")

	// ErrFactorMissing comes after the right password only.
	ErrFactorMissing = fault.New(fault.SecondFactorRequired,
		"Send the same request again, with the code from your authenticator, or one of your recovery codes, as otp.")
)

// Attempt is somebody who wants to log in.
type Attempt struct {
	Email    string
	Password secret.Text
	OTP      string // a code of the second factor, or a recovery code
	From     netip.Addr
	Agent    string // what the person's program says that it is
	Device   string // what an earlier login gave to this device, or anything to be given something; "" for nothing
}

// Login is what a person gets who has logged in. Its secrets are shown this
// once.
type Login struct {
	FullName  string
	Verified  bool
	Text      secret.Text
	ExpiresAt time.Time
	Limited   bool        // it opens only what is needed to set up a second factor
	Device    secret.Text // for a device that is new and wants to be known; else ""
}

// LogIn opens a session. An unknown address costs what a known one does: its
// guesses are counted, and its password is checked against nothing, at the same
// price.
func (p *People) LogIn(ctx context.Context, a Attempt, request uuid.UUID) (Login, error) {
	// First of all: whoever is refused here has not cost a connection.
	leave, err := p.Passwords.Enter(ctx)
	if err != nil {
		return Login{}, err
	}
	defer leave()
	known, err := p.knownDevice(ctx, a.Email, a.Device)
	if err != nil {
		return Login{}, err
	}
	guess := p.countersOf(a.Email, a.From, known.name())
	if err := p.reserve(ctx, guess); err != nil {
		return Login{}, err
	}
	who, err := p.prove(ctx, a)
	if errors.Is(err, ErrBadLogin) {
		return Login{}, errors.Join(p.wrong(ctx, guess), err)
	}
	if errors.Is(err, ErrFactorMissing) { // the password was right
		return Login{}, errors.Join(p.right(ctx, db.New(p.Pool), guess), err)
	}
	if err != nil {
		return Login{}, err
	}
	return p.admit(ctx, a, who, known, guess, request)
}

// proven is somebody who has shown who they are.
type proven struct {
	db.AccountForLoginRow

	limited  bool
	recovery bool // by a recovery code
}

// prove checks password and second factor.
func (p *People) prove(ctx context.Context, a Attempt) (proven, error) {
	key, _ := registry.EmailKey(a.Email) // what is no address has no account, and costs the same
	row, err := db.New(p.Pool).AccountForLogin(ctx, key)
	if err != nil {
		return proven{}, fmt.Errorf("people: find the account: %w", err)
	}
	who := proven{AccountForLoginRow: row}
	right, err := p.Passwords.Matches(row.PasswordHash, a.Password)
	if err != nil {
		return proven{}, err
	}
	if !right || !who.Standing {
		return proven{}, ErrBadLogin
	}
	if !who.HasFactor {
		who.limited = p.StaffFactor && who.Kind == string(registry.StaffAccount)
		return who, nil
	}
	if a.OTP == "" {
		return proven{}, ErrFactorMissing
	}
	right, who.recovery, err = p.checkCode(ctx, who.ID, a.OTP)
	if err != nil {
		return proven{}, err
	}
	if !right {
		return proven{}, ErrBadLogin
	}
	return who, nil
}

// admit opens the session of somebody who has shown who they are.
func (p *People) admit(ctx context.Context, a Attempt, who proven, known device, guess counted, request uuid.UUID) (Login, error) {
	l := Login{FullName: who.Name, Verified: who.Verified, Limited: who.limited}
	err := pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		if err := p.right(ctx, q, guess); err != nil {
			return err
		}
		s, err := p.Keeper.OpenSession(ctx, tx, access.Opening{
			Account: who.ID, Entity: who.EntityID, From: a.From, Agent: a.Agent, Limited: who.limited, Request: request,
		})
		if err != nil {
			return err
		}
		l.Text, l.ExpiresAt = s.Text, s.ExpiresAt
		if l.Device, err = p.keepDevice(ctx, q, who.ID, known, a.Device); err != nil {
			return err
		}
		if !who.recovery {
			return nil
		}
		return p.noteRecovery(ctx, tx, who.ID, who.EntityID, audit.Actor{Kind: audit.Account, ID: who.ID, From: a.From}, request)
	})
	if err != nil {
		return Login{}, fmt.Errorf("people: log in: %w", err)
	}
	return l, nil
}

// check evaluates the password of somebody who has a session already, before
// something that a stolen session must not be enough for. Guesses are counted
// for the session, so that nobody else can use them up. And, if set, checks
// something more.
func (p *People) check(ctx context.Context, who access.Principal, password secret.Text, and func() error) error {
	leave, err := p.Passwords.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	row, err := db.New(p.Pool).PasswordHash(ctx, who.Account)
	if err != nil {
		return fmt.Errorf("people: find the password: %w", err)
	}
	guess := p.countersOf(row.EmailKey, who.From, "session "+who.ID.String())
	if err := p.reserve(ctx, guess); err != nil {
		return err
	}
	hash := ""
	if row.PasswordHash != nil {
		hash = *row.PasswordHash
	}
	right, err := p.Passwords.Matches(hash, password)
	switch {
	case err != nil:
		return err
	case !right:
		return errors.Join(p.wrong(ctx, guess), errPassword)
	case and != nil:
		if err := and(); err != nil {
			return errors.Join(p.wrong(ctx, guess), err)
		}
	}
	return p.right(ctx, db.New(p.Pool), guess)
}

var errPassword = fault.ErrInvalid.With(fault.Violation{
	Field: "password", Code: fault.NotAllowed, Message: "This is not the password of the account.",
})
