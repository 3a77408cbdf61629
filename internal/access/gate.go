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

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
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
	now, id := s.now(), mac(s.Peppers.Sign(secret.ForCredentials, bearer))
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
		read, err := s.read(ctx, prefix, s.Peppers.Candidates(secret.ForCredentials, bearer), from, now)
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
		return s.readSession(ctx, conn, Session, macs, now)
	case secret.PortalCookie:
		return s.readSession(ctx, conn, Portal, macs, now)
	case secret.LiveKey, secret.TestKey:
		return s.readKey(ctx, conn, macs, from, now)
	case secret.ClientSecret: // Authenticate has rejected it
	}
	return nil, pgx.ErrNoRows
}

// storedToken is a valid access token, with the rows that make it so.
type storedToken struct {
	ID, Client, Secret   uuid.UUID
	Scopes               []string
	ExpiresAt            time.Time
	ClientScopes         []string
	Vouches, Sole        bool
	Network              string
	RowSum, RowMAC       []byte
	ClientSum, ClientMAC []byte
	SecretSum, SecretMAC []byte
}

func readToken(ctx context.Context, from pg.DB, macs [][]byte, now time.Time) (*cachedCredential, error) {
	t, err := pg.CollectOne(ctx, from, pgx.RowToStructByPos[storedToken], `SELECT t.id, t.client_id, t.secret_id, t.scopes, t.expires_at, c.scopes, c.vouches, c.sole, c.network,
		t.row_sum, t.row_mac, c.row_sum, c.row_mac, s.row_sum, s.row_mac
		FROM access_token t JOIN client c ON c.id = t.client_id JOIN client_secret s ON s.id = t.secret_id
		WHERE t.mac = ANY($1::bytea[]) AND t.expires_at > $2 AND t.revoked_at IS NULL AND s.revoked_at IS NULL AND c.revoked_at IS NULL AND c.suspended_at IS NULL`, macs, now)
	err = pg.Signed(ctx, from, err, pg.Row{Table: "access_token", ID: t.ID, Sum: t.RowSum, MAC: t.RowMAC}, pg.Row{Table: "client", ID: t.Client, Sum: t.ClientSum, MAC: t.ClientMAC},
		pg.Row{Table: "client_secret", ID: t.Secret, Sum: t.SecretSum, MAC: t.SecretMAC})
	who := Principal{Kind: Client, ID: t.ID, Client: t.Client, Scopes: usable(t.Scopes, t.ClientScopes), Vouches: t.Vouches, Sole: t.Sole, Network: t.Network}
	return &cachedCredential{who: who, secret: t.Secret, freshFor: freshness, expiresAt: t.ExpiresAt}, err
}

// storedSession is a valid session, with the rows that make it so.
type storedSession struct {
	ID, Account            uuid.UUID
	LastSeenAt, ExpiresAt  time.Time
	Limited                bool
	Entity                 uuid.NullUUID
	Kind                   string
	Role                   Role
	RowSum, RowMAC         []byte
	AccountSum, AccountMAC []byte
	EntitySum, EntityMAC   []byte
}

const sessionSQL = `SELECT s.id, s.account_id, s.last_seen_at, s.expires_at, s.limited, a.entity_id, a.kind, coalesce(a.role, ''),
	s.row_sum, s.row_mac, a.row_sum, a.row_mac, e.row_sum, e.row_mac
	FROM session s JOIN account a ON a.id = s.account_id LEFT JOIN entity e ON e.id = a.entity_id
	WHERE s.mac = ANY($1::bytea[]) AND s.expires_at > $2 AND s.last_seen_at > $3 AND s.revoked_at IS NULL
	  AND a.disabled_at IS NULL AND coalesce(e.status, 'Approved') = 'Approved'`

func (s *Service) readSession(ctx context.Context, from pg.DB, kind Kind, macs [][]byte, now time.Time) (*cachedCredential, error) {
	row, err := pg.CollectOne(ctx, from, pgx.RowToStructByPos[storedSession], sessionSQL, macs, now, now.Add(-s.SessionIdle))
	err = pg.Signed(ctx, from, err, pg.Row{Table: "session", ID: row.ID, Sum: row.RowSum, MAC: row.RowMAC}, pg.Row{Table: "account", ID: row.Account, Sum: row.AccountSum, MAC: row.AccountMAC},
		pg.Row{Table: "entity", ID: row.Entity.UUID, Sum: row.EntitySum, MAC: row.EntityMAC})
	if err != nil {
		return nil, err
	}
	if now.Sub(row.LastSeenAt) > min(lastUseStep, s.SessionIdle/4) {
		if _, err := from.Exec(ctx, `UPDATE session SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2`, row.ID, now); err != nil {
			return nil, err
		}
	}
	who := Principal{
		Kind: kind, ID: row.ID, Account: row.Account, Entity: row.Entity.UUID, Role: row.Role, Manages: row.Kind == "admin", Limited: row.Limited,
	}
	// The database is read again well before SessionIdle has passed, so that a
	// session in use has a recent last_seen_at and is not taken for idle.
	return &cachedCredential{who: who, freshFor: min(freshness, s.SessionIdle/4), expiresAt: row.ExpiresAt}, nil
}

func (s *Service) readKey(ctx context.Context, conn pg.DB, macs [][]byte, from netip.Addr, now time.Time) (*cachedCredential, error) {
	key, who, err := s.loadKey(ctx, conn, macs, uuid.Nil, now)
	if err != nil {
		return nil, err
	}
	if key.LastUsedAt == nil || now.Sub(*key.LastUsedAt) > lastUseStep {
		if _, err := conn.Exec(ctx, `UPDATE api_key SET last_used_at = $2, last_used_from = $3 WHERE id = $1`, key.ID, now, pg.Address(from)); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(key.MAC, macs[0]) {
		// The key is stored under the newest pepper, so that older ones can be retired.
		err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE api_key SET mac = $2 WHERE id = $1`, key.ID, macs[0])
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	credential := &cachedCredential{who: who, networks: key.Networks, freshFor: freshness}
	if key.ExpiresAt != nil {
		credential.expiresAt = *key.ExpiresAt
	}
	return credential, nil
}

// storedKey is a valid key, with what staff set for its entity and the rows that make it so.
type storedKey struct {
	ID, Entity           uuid.UUID
	Mode                 string
	Purpose, PurposeText string
	ExpiresAt            *time.Time
	Networks             []netip.Prefix
	Rate                 float64
	Burst                int
	Rights               []string
	MAC                  []byte
	LastUsedAt           *time.Time
	EntityRate           float64
	EntityBurst          int
	DayQuota, MonthQuota int64
	DayNumbers           int64
	YearNumbers          int64
	Sponsor              uuid.NullUUID
	RowSum, RowMAC       []byte
	EntitySum, EntityMAC []byte
	Limited              uuid.NullUUID
	LimitSum, LimitMAC   []byte
	Mandates             []byte
}

const keySQL = `SELECT k.id, k.entity_id, k.mode, k.purpose, k.purpose_text, k.expires_at, k.networks, k.rate, k.burst, k.rights, k.mac, k.last_used_at,
	coalesce(l.rate, 0), coalesce(l.burst, 0), coalesce(l.day_quota, 0), coalesce(l.month_quota, 0), coalesce(l.day_numbers, 0), coalesce(l.year_numbers, 0),
	e.client_id, k.row_sum, k.row_mac, e.row_sum, e.row_mac, l.entity_id, l.row_sum, l.row_mac,
	coalesce((SELECT jsonb_agg(jsonb_build_object('id', m.id, 'principal', m.principal, 'purposes', m.purposes, 'until', m.until,
	             'sum', encode(m.row_sum, 'base64'), 'mac', encode(m.row_mac, 'base64'))) FROM mandate m
	          WHERE m.entity_id = e.id AND m.ended_at IS NULL AND m.until > $3), '[]')
	FROM api_key k JOIN entity e ON e.id = k.entity_id LEFT JOIN entity_limit l ON l.entity_id = e.id
	WHERE (k.mac = ANY($1::bytea[]) OR k.id = $2) AND (k.expires_at IS NULL OR k.expires_at > $3) AND k.revoked_at IS NULL
	  AND e.status = 'Approved' AND e.asks`

// loadKey reads a key that is valid, and what it may do, by one of its HMACs or, for work
// that it has started, by its id.
func (s *Service) loadKey(ctx context.Context, from pg.DB, macs [][]byte, id uuid.UUID, now time.Time) (key storedKey, who Principal, err error) {
	key, err = pg.CollectOne(ctx, from, pgx.RowToStructByPos[storedKey], keySQL, macs, id, now)
	err = pg.Signed(ctx, from, err, pg.Row{Table: "api_key", ID: key.ID, Sum: key.RowSum, MAC: key.RowMAC}, pg.Row{Table: "entity", ID: key.Entity, Sum: key.EntitySum, MAC: key.EntityMAC},
		pg.Row{Table: "entity_limit", ID: key.Limited.UUID, Sum: key.LimitSum, MAC: key.LimitMAC})
	if err != nil {
		return key, who, err
	}
	mandates, err := parseMandates(ctx, from, key.Mandates)
	who = Principal{Kind: APIKey, ID: key.ID, Entity: key.Entity, Sponsor: key.Sponsor.UUID, Mode: key.Mode, Purpose: key.Purpose, PurposeText: key.PurposeText, Rights: key.Rights, Limits: s.limits(key), mandates: mandates}
	return key, who, err
}

// PrincipalOf returns what a key may do now, for work that goes on without a request. It
// returns ErrUnauthenticated for a key that is no longer valid.
func (s *Service) PrincipalOf(ctx context.Context, from pg.DB, id uuid.UUID) (Principal, error) {
	_, who, err := s.loadKey(ctx, from, nil, id, s.now())
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
	cached, _ := s.cache.find(mac(s.Peppers.Sign(secret.ForCredentials, bearer)), now)
	return cached != nil && !cached.expired(now)
}
