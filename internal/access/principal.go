// Package access decides who is calling and what they may do.
//
// There are three kinds of credential, told apart by their prefix: access tokens
// of clients, sessions of people, and API keys of programs that ask. All are
// random text with a checksum; the database holds only their HMAC under a
// pepper. A credential that does not stand is refused with one text, whatever
// the cause. None of them can be made from another of its own kind.
package access

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

var (
	// ErrUnauthenticated says no without saying why.
	ErrUnauthenticated = fault.New(fault.Unauthenticated,
		"Send a valid credential for this operation in the Authorization header, as: Bearer <credential>.")

	// ErrPermission reports a credential of the right kind that lacks a scope or
	// a role.
	ErrPermission = fault.New(fault.PermissionDenied,
		"This credential does not allow the operation. Ask the regulator for the scope or role that the documentation names.")
)

// Kind is the kind of credential that a principal showed.
type Kind uint8

// The kinds of credential.
const (
	Nobody  Kind = iota // none is asked for
	Client              // an access token
	Session             // a person who has logged in
	APIKey              // a program that asks
)

// Role is what a member of the regulator's staff is there for.
type Role string

// The roles.
const (
	Administrator Role = "administrator"
	Reviewer      Role = "reviewer"
	Auditor       Role = "auditor"
)

// Roles lists every role.
var Roles = []Role{Administrator, Reviewer, Auditor}

// Scope is something that a client may do.
type Scope string

// The scopes.
const (
	EntityOnboard  Scope = "entity:onboard"
	DocumentUpload Scope = "document:upload"
	LineSupply     Scope = "line:supply"
	LinePort       Scope = "line:port"
	LineFlag       Scope = "line:flag"
	LineOrder      Scope = "line:order"
)

// Scopes lists every scope.
var Scopes = []Scope{EntityOnboard, DocumentUpload, LineSupply, LinePort, LineFlag, LineOrder}

// Principal is who is calling.
type Principal struct {
	Kind    Kind
	ID      uuid.UUID // of the credential itself
	Client  uuid.UUID // for Client
	Account uuid.UUID // for Session
	Entity  uuid.UUID // for Session and APIKey; zero for the regulator's staff
	Scopes  []string  // for Client
	Vouches bool      // for Client
	Network string    // for Client: the code of the network for which it may supply lines; "" for none
	Role    Role      // for Session: of the regulator's staff; "" for everybody else
	Manages bool      // for Session: of the admin of an entity
	Limited bool      // for Session: opens only what is needed to set up a second factor
	Mode    string    // for APIKey: live or test
	Purpose string    // for APIKey
	Limits  Limits    // for APIKey

	From  netip.Addr // where the call comes from
	Grace bool       // the database could not be asked, and memory answered
}

// Limits are how much may be asked with a key. Zero means no limit.
type Limits struct {
	KeyRate, EntityRate   float64 // requests a second
	KeyBurst, EntityBurst int
	DayQuota, MonthQuota  int64 // questions of the entity
	DayNumbers            int64 // different numbers that the entity asks about in a day
}

// May reports whether the principal holds a scope.
func (p Principal) May(s Scope) bool { return slices.Contains(p.Scopes, string(s)) }

// Caller returns the lasting identity behind the credential: a client keeps it
// when its token is renewed.
func (p Principal) Caller() uuid.UUID {
	switch p.Kind {
	case Client:
		return p.Client
	case Session:
		return p.Account
	case APIKey, Nobody:
	}
	return p.ID
}

// Actor returns the principal as the audit trail names it.
func (p Principal) Actor() audit.Actor {
	if p.Kind == Client {
		return audit.Actor{Kind: audit.Client, ID: p.Client, From: p.From}
	}
	return audit.Actor{Kind: audit.Account, ID: p.Account, From: p.From}
}

// Operator is whoever runs the command line.
var Operator = audit.Actor{Kind: audit.Operator}

// Keeper makes credentials and knows which of them stand. All exported fields
// but Log and Graced are required; zero limits and a zero grace mean none.
type Keeper struct {
	Pool            *pgxpool.Pool
	Breaker         *pg.Breaker // told when the database does not say who calls; nil for nobody
	Peppers         *secret.Peppers
	TokenLifetime   time.Duration
	SessionLifetime time.Duration
	SessionIdle     time.Duration
	Grace           time.Duration // for which memory is believed while the database cannot be asked
	Limits          Limits        // of whoever has none of its own
	Now             func() time.Time
	Log             *slog.Logger
	Graced          func() // told of every call that was admitted by grace
	// MayMakeKey is asked before a live key of an entity is made or rolled, in
	// that transaction; nil lets every entity.
	MayMakeKey func(context.Context, pg.DB, uuid.UUID) error

	memory memory
	asking singleflight.Group // about credentials, by their HMAC
}

// now is the present to the microsecond, which is what PostgreSQL keeps.
func (k *Keeper) now() time.Time { return k.Now().UTC().Truncate(time.Microsecond) }
