package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	// freshness is how long a cached credential is used without reading the
	// database, while this node receives notifications of changes.
	freshness = 30 * time.Second
	// lastUseStep is how old the stored time of a credential's last use may get
	// before it is written again. Writing it at every request would turn every
	// request into a write.
	lastUseStep = time.Minute
	// readTimeout bounds the query for one credential.
	readTimeout = time.Second
)

// The causes of ErrUnauthenticated. They go to the log; the caller does not see
// them.
var (
	errMalformed  = errors.New("malformed")
	errBareSecret = errors.New("a client secret instead of an access token")
	errNetwork    = errors.New("used from a network that is not allowed")
	errUnknown    = errors.New("unknown, expired or revoked")
)

// Authenticate returns the principal of a bearer credential that was sent from
// the address from. It returns ErrUnauthenticated, always with a cause for the
// log, when the credential is not valid. Text that is not shaped like a
// credential, or whose checksum is wrong, is rejected without a query.
func (s *Service) Authenticate(ctx context.Context, bearer string, from netip.Addr) (Principal, error) {
	prefix, ok := secret.Parse(bearer)
	if !ok {
		return Principal{}, ErrUnauthenticated.Because(errMalformed)
	}
	if prefix == secret.ClientSecret { // it is good for requesting a token and nothing else
		return Principal{}, ErrUnauthenticated.Because(errBareSecret)
	}
	credential, grace, err := s.lookup(ctx, prefix, bearer, from)
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, ErrUnauthenticated.Because(errUnknown)
	}
	if err != nil {
		return Principal{}, fmt.Errorf("access: authenticate: %w", err)
	}
	if !credential.allows(from) {
		return Principal{}, ErrUnauthenticated.Because(errNetwork)
	}
	who := credential.who
	who.From, who.Grace = from, grace
	return who, nil
}

// lookup returns a valid credential: from the cache if the entry is fresh, else
// from the database. It returns pgx.ErrNoRows for a credential that is not valid.
//
// While the database is unavailable, a credential that this node read within the
// last s.Grace is still accepted, and grace is true. A credential that is not in
// the cache is not accepted then.
func (s *Service) lookup(ctx context.Context, prefix secret.Prefix, bearer string, from netip.Addr) (credential *cachedCredential, grace bool, err error) {
	now, id := s.now(), mac(s.Peppers.Sign(bearer))
	cached, fresh := s.cache.find(id, now)
	if fresh {
		return cached, false, nil
	}
	read, err := s.readOnce(ctx, prefix, bearer, id, from)
	switch {
	case err == nil:
		return read, false, nil
	case errors.Is(err, pgx.ErrNoRows):
		s.cache.remove(id)
		return nil, false, err
	case !pg.IsUnavailable(err) && !errors.Is(err, context.DeadlineExceeded):
		return nil, false, err // not an outage; a deadline that passed may be one, so it allows the grace
	case cached == nil || cached.expired(now) || now.Sub(cached.readAt) >= s.Grace:
		return nil, false, err
	}
	if s.OnGrace != nil {
		s.OnGrace()
	}
	return cached, true, nil
}

// readOnce reads a credential from the database and caches it. Concurrent
// requests with the same credential share one query.
func (s *Service) readOnce(ctx context.Context, prefix secret.Prefix, bearer string, id mac, from netip.Addr) (*cachedCredential, error) {
	result := s.reads.DoChan(string(id[:]), func() (any, error) {
		// The first request may be cancelled while others wait for its query, so
		// the query gets a deadline of its own.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		// store drops the result if a change was announced after this version.
		version, now := s.cache.version(), s.now()
		read, err := s.read(ctx, prefix, s.Peppers.Candidates(bearer), from, now)
		if err != nil {
			s.Breaker.ReportFailure(err)
			return nil, err
		}
		read.readAt = now
		s.cache.store(id, read, version)
		return read, nil
	})
	select {
	case r := <-result:
		read, _ := r.Val.(*cachedCredential)
		return read, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read queries the table that the prefix names for a valid credential. A
// credential is stored under one of macs, its HMACs under every pepper in use;
// macs[0] is the one under the newest.
func (s *Service) read(ctx context.Context, prefix secret.Prefix, macs [][]byte, from netip.Addr, now time.Time) (*cachedCredential, error) {
	if s.Breaker.Open() { // fail at once instead of waiting for a connection
		return nil, pg.ErrDatabaseDown
	}
	pool := s.Pool
	if s.Gate != nil && (prefix == secret.LiveKey || prefix == secret.TestKey) {
		pool = s.Gate
	}
	conn, err := pg.Acquire(ctx, pool)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	switch prefix {
	case secret.AccessToken:
		return readToken(ctx, conn, macs, now)
	case secret.Session:
		return s.readSession(ctx, conn, macs, now)
	case secret.LiveKey, secret.TestKey:
		return s.readKey(ctx, conn, macs, from, now)
	case secret.ClientSecret: // Authenticate has rejected it
	}
	return nil, pgx.ErrNoRows
}

func readToken(ctx context.Context, from pg.DB, macs [][]byte, now time.Time) (*cachedCredential, error) {
	t, err := db.New(from).TokenByMAC(ctx, db.TokenByMACParams{Macs: macs, Now: now})
	err = pg.Signed(ctx, from, err, pg.Row{Table: "access_token", ID: t.ID, Sum: t.RowSum, MAC: t.RowMac}, pg.Row{Table: "client", ID: t.ClientID, Sum: t.ClientSum, MAC: t.ClientMac})
	who := Principal{Kind: Client, ID: t.ID, Client: t.ClientID, Scopes: usable(t.Scopes, t.ClientScopes), Vouches: t.Vouches, Sole: t.Sole, Network: t.Network}
	return &cachedCredential{who: who, freshFor: freshness, expiresAt: t.ExpiresAt}, err
}

func (s *Service) readSession(ctx context.Context, from pg.DB, macs [][]byte, now time.Time) (*cachedCredential, error) {
	q := db.New(from)
	row, err := q.SessionByMAC(ctx, db.SessionByMACParams{Macs: macs, Now: now, IdleSince: now.Add(-s.SessionIdle)})
	err = pg.Signed(ctx, from, err, pg.Row{Table: "session", ID: row.ID, Sum: row.RowSum, MAC: row.RowMac}, pg.Row{Table: "account", ID: row.AccountID, Sum: row.AccountSum, MAC: row.AccountMac},
		pg.Row{Table: "entity", ID: row.EntityID.UUID, Sum: row.EntitySum, MAC: row.EntityMac})
	if err != nil {
		return nil, err
	}
	if now.Sub(row.LastSeenAt) > min(lastUseStep, s.SessionIdle/4) {
		if err := q.TouchSession(ctx, db.TouchSessionParams{ID: row.ID, At: now}); err != nil {
			return nil, err
		}
	}
	who := Principal{
		Kind: Session, ID: row.ID, Account: row.AccountID, Entity: row.EntityID.UUID, Role: Role(row.Role), Manages: row.Kind == "admin", Limited: row.Limited,
	}
	// The database is read again well before SessionIdle has passed, so that a
	// session in use has a recent last_seen_at and is not taken for idle.
	return &cachedCredential{who: who, freshFor: min(freshness, s.SessionIdle/4), expiresAt: row.ExpiresAt}, nil
}

func (s *Service) readKey(ctx context.Context, conn pg.DB, macs [][]byte, from netip.Addr, now time.Time) (*cachedCredential, error) {
	q := db.New(conn)
	key, who, err := s.loadKey(ctx, conn, db.KeyByMACParams{Macs: macs, Now: now})
	if err != nil {
		return nil, err
	}
	if key.LastUsedAt == nil || now.Sub(*key.LastUsedAt) > lastUseStep {
		if err := q.TouchKey(ctx, db.TouchKeyParams{ID: key.ID, At: &now, UsedFrom: pg.Address(from)}); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(key.Mac, macs[0]) {
		// The key is stored under the newest pepper, so that older ones can be retired.
		if err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error { return db.New(tx).RenewKey(ctx, db.RenewKeyParams{ID: key.ID, Mac: macs[0]}) }); err != nil {
			return nil, err
		}
	}
	credential := &cachedCredential{who: who, networks: key.Networks, freshFor: freshness}
	if key.ExpiresAt != nil {
		credential.expiresAt = *key.ExpiresAt
	}
	return credential, nil
}

// loadKey reads a key that is valid, and what it may do.
func (s *Service) loadKey(ctx context.Context, from pg.DB, which db.KeyByMACParams) (key db.KeyByMACRow, who Principal, err error) {
	key, err = db.New(from).KeyByMAC(ctx, which)
	err = pg.Signed(ctx, from, err, pg.Row{Table: "api_key", ID: key.ID, Sum: key.RowSum, MAC: key.RowMac}, pg.Row{Table: "entity", ID: key.EntityID, Sum: key.EntitySum, MAC: key.EntityMac},
		pg.Row{Table: "entity_limit", ID: key.LimitedID.UUID, Sum: key.LimitSum, MAC: key.LimitMac})
	if err != nil {
		return key, who, err
	}
	mandates, err := parseMandates(ctx, from, key.Mandates)
	who = Principal{Kind: APIKey, ID: key.ID, Entity: key.EntityID, Sponsor: key.SponsorID.UUID, Mode: key.Mode, Purpose: key.Purpose, PurposeText: key.PurposeText, Rights: key.Rights, Limits: s.limits(key), mandates: mandates}
	return key, who, err
}

// PrincipalOf returns what a key may do now, for work that goes on without a request. It
// returns ErrUnauthenticated for a key that is no longer valid.
func (s *Service) PrincipalOf(ctx context.Context, from pg.DB, id uuid.UUID) (Principal, error) {
	_, who, err := s.loadKey(ctx, from, db.KeyByMACParams{ID: id, Now: s.now()})
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, ErrUnauthenticated.Because(errUnknown)
	}
	return who, err
}

// HasCached reports whether this node has a credential in its cache that has not
// expired by itself, fresh or stale. It makes no query.
func (s *Service) HasCached(bearer string) bool {
	if _, ok := secret.Parse(bearer); !ok {
		return false
	}
	now := s.now()
	cached, _ := s.cache.find(mac(s.Peppers.Sign(bearer)), now)
	return cached != nil && !cached.expired(now)
}
