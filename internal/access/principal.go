// Package access decides who is calling and what they may do.
//
// There are four kinds of credential, distinguished by their prefix: access
// tokens of clients, sessions of people over the API, sessions of people in the
// portal, and API keys of programs that verify numbers. All are random text with a checksum; the database holds only their
// HMAC under a pepper. An invalid credential is always rejected with the same
// message, whatever the cause. No credential can be used to create another of its
// own kind.
package access

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var (
	// ErrUnauthenticated rejects a credential without telling the caller why.
	ErrUnauthenticated = fault.New(fault.Unauthenticated,
		"Send a valid credential for this operation in the Authorization header, as: Bearer <credential>.")

	// ErrPermission reports a credential of the right kind that lacks a scope or
	// a role.
	ErrPermission = fault.New(fault.PermissionDenied,
		"This credential does not allow the operation. Ask the regulator for the scope or role that the documentation names.")
)

// Kind is the kind of credential that a principal presented.
type Kind uint8

// The kinds of credential.
const (
	Nobody  Kind = iota // no credential is required
	Client              // an access token
	Session             // of a person who has logged in over the API
	Portal              // the cookie of a person who has logged in to the portal
	APIKey              // of a program that verifies numbers
)

// Role is the role of a member of the regulator's staff.
type Role string

// The roles.
const (
	Administrator Role = "administrator"
	Reviewer      Role = "reviewer"
	Auditor       Role = "auditor"
)

// Roles lists every role.
var Roles = []Role{Administrator, Reviewer, Auditor}

// Scope is a permission of a client.
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

// bothSupplyAndPort reports whether a client has the two scopes that must never
// meet in one: with both, it could move a number of another network to its own
// and then report whatever it likes about it.
func bothSupplyAndPort(scopes []string) bool {
	return slices.Contains(scopes, string(LineSupply)) && slices.Contains(scopes, string(LinePort))
}

// usable returns those of the granted scopes that a client with the scopes has may
// use. [Service.CreateClient] refuses a client with both line:supply and
// line:port; one that is in the database nevertheless can use neither.
func usable(granted, has []string) []string {
	if !bothSupplyAndPort(has) {
		return granted
	}
	return slices.DeleteFunc(slices.Clone(granted), func(s string) bool { return s == string(LineSupply) || s == string(LinePort) })
}

// Principal is the authenticated caller.
type Principal struct {
	Kind    Kind
	ID      uuid.UUID // of the credential itself
	Client  uuid.UUID // for Client
	Account uuid.UUID // for Session
	Entity  uuid.UUID // for Session and APIKey; zero for the regulator's staff
	Sponsor uuid.UUID // for APIKey: the client that onboarded the entity; zero if the regulator created it
	Scopes  []string  // for Client
	Vouches bool      // for Client: the admins of the entities it onboards count as verified
	Sole    bool      // for Client: it onboards one entity, its own
	Network string    // for Client: the code of the network it may supply lines for; "" for none
	Role    Role      // for Session: of the regulator's staff; "" for others
	Manages bool      // for Session: the person is an admin of the entity
	Limited bool      // for Session: allows only setting up two-factor authentication
	Mode    string    // for APIKey: live or test
	Limits  Limits    // for APIKey
	Rights  []string  // for APIKey: beyond verifying; see KeyRights

	// For APIKey: a code of the policy, and the words of its owner where the policy has
	// no code.
	Purpose, PurposeText string
	mandates             []mandate // for APIKey: of its entity; see [Service.CheckMandate]

	From  netip.Addr // the source address of the call
	Grace bool       // accepted from the cache because the database is unavailable
}

// Limits bound the use of a key. Zero means no limit.
type Limits struct {
	KeyRate, EntityRate   float64 // requests a second
	KeyBurst, EntityBurst int
	DayQuota, MonthQuota  int64 // verifications of the entity
	DayNumbers            int64 // distinct numbers that the entity verifies in a day
	YearNumbers           int64 // distinct numbers that the entity verifies in a year
	SponsorNumbers        int64 // distinct numbers that all entities of its sponsor verify in a day
	SponsorYear           int64 // distinct numbers that all entities of its sponsor verify in a year
	OwnDay, OwnYear       bool  // staff set DayNumbers or YearNumbers for the entity
}

// HasScope reports whether the principal has a scope.
func (p Principal) HasScope(s Scope) bool { return slices.Contains(p.Scopes, string(s)) }

// Caller returns the identity that outlasts the credential: the client of a
// token, the account of a session, and the key itself.
func (p Principal) Caller() uuid.UUID {
	switch p.Kind {
	case Client:
		return p.Client
	case Session, Portal:
		return p.Account
	case APIKey, Nobody:
	}
	return p.ID
}

// Actor returns the principal as the audit trail records it.
func (p Principal) Actor() audit.Actor {
	if p.Kind == Client {
		return audit.Actor{Kind: audit.Client, ID: p.Client, From: p.From}
	}
	return audit.Actor{Kind: audit.Account, ID: p.Account, From: p.From}
}

// Operator is the actor of everything done on the command line.
var Operator = audit.Actor{Kind: audit.Operator}

// Service creates, checks and revokes credentials. Required are all exported
// fields but Gate, Breaker, Grace, Limits, OnGrace and those of the functions below it.
type Service struct {
	Pool            *pgxpool.Pool
	Gate            *pgxpool.Pool // for reading the keys of requests; nil means Pool
	Breaker         *pg.Breaker   // receives failed queries; may be nil
	Peppers         *secret.Peppers
	TokenLifetime   time.Duration
	SessionLifetime time.Duration
	SessionIdle     time.Duration
	Grace           time.Duration // how long cached credentials are accepted while the database is unavailable; zero means not at all
	Limits          Limits        // defaults for keys and entities without their own
	Now             func() time.Time
	OnGrace         func() // called for every request accepted by grace; may be nil
	// CheckNewKey is called before a live key of an entity is created or rolled, in
	// that transaction, and rejects it with an error; nil allows every entity.
	CheckNewKey func(context.Context, pg.DB, uuid.UUID) error
	// CheckKeyMaker is called before a person creates or rolls a live key, in that
	// transaction, and rejects an account that is not complete; nil rejects everybody.
	// Keys that the operator creates on the command line are not checked.
	CheckKeyMaker func(context.Context, pg.DB, uuid.UUID) error
	// MakesKeys reports whether a person has the right to create live keys, which is also
	// that to revoke those of others; nil means that nobody has.
	MakesKeys func(context.Context, pg.DB, uuid.UUID) (bool, error)
	// Notify notifies the admins of an entity, in the transaction of what they are told;
	// nil means that nobody is notified.
	Notify func(context.Context, pg.Tx, Notice) error
	// KeyRevoked ends what was made with a key, in the transaction that revokes the key;
	// nil means that there is nothing.
	KeyRevoked func(ctx context.Context, tx pg.Tx, entity, key uuid.UUID, by audit.Actor, request uuid.UUID) error

	cache credentialCache
	reads singleflight.Group // queries for credentials, by their HMAC
}

// now returns the current time to the microsecond, the precision of PostgreSQL.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }
