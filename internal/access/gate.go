package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

const (
	// freshness is how long a credential is believed without asking, while this
	// node hears of what changes.
	freshness = 30 * time.Second
	// touchStep is how stale the note of a credential's last use may be. Writing
	// it at every request would make each of them a write.
	touchStep = time.Minute
	// askPatience is how long the database may take to say who is calling.
	askPatience = time.Second
)

var (
	errMalformed  = errors.New("malformed")
	errBareSecret = errors.New("a client's secret")
	errNetwork    = errors.New("from a network that is not allowed")
	errUnknown    = errors.New("unknown, expired or revoked")
)

// Admit returns the principal that a bearer text stands for, or
// ErrUnauthenticated, always with a cause for the log. Text without the right
// form is refused before anybody is asked.
func (k *Keeper) Admit(ctx context.Context, bearer string, from netip.Addr) (Principal, error) {
	prefix, ok := secret.Parse(bearer)
	if !ok {
		return Principal{}, ErrUnauthenticated.Because(errMalformed)
	}
	if prefix == secret.ClientSecret { // it buys a token and nothing else
		return Principal{}, ErrUnauthenticated.Because(errBareSecret)
	}
	r, grace, err := k.recall(ctx, prefix, bearer, from)
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, ErrUnauthenticated.Because(errUnknown)
	}
	if err != nil {
		return Principal{}, fmt.Errorf("access: admit: %w", err)
	}
	if !r.opens(from) {
		return Principal{}, ErrUnauthenticated.Because(errNetwork)
	}
	who := r.who
	who.From, who.Grace = from, grace
	return who, nil
}

// recall asks memory, and the database where memory may not be believed. While
// the database cannot be asked at all, what memory knows is honoured for a
// grace, and nobody new is let in.
func (k *Keeper) recall(ctx context.Context, prefix secret.Prefix, bearer string, from netip.Addr) (r *remembered, grace bool, err error) {
	now, id := k.now(), mac(k.Peppers.Sign(bearer))
	known, believed := k.memory.find(id, now)
	if believed {
		return known, false, nil
	}
	found, err := k.ask(ctx, prefix, bearer, id, from)
	switch {
	case err == nil:
		return found, false, nil
	case errors.Is(err, pgx.ErrNoRows):
		k.memory.drop(id)
	case known != nil && known.stands(now) && now.Sub(known.asked) < k.Grace && (pg.Away(err) || errors.Is(err, context.DeadlineExceeded)):
		if k.Graced != nil {
			k.Graced()
		}
		return known, true, nil
	}
	return nil, false, err
}

// ask looks a credential up, once for all who wait for the same answer.
func (k *Keeper) ask(ctx context.Context, prefix secret.Prefix, bearer string, id mac, from netip.Addr) (*remembered, error) {
	asked := k.asking.DoChan(string(id[:]), func() (any, error) {
		// Whoever came first may leave; the others still wait for the answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askPatience)
		defer cancel()
		since, now := k.memory.changed(), k.now()
		r, err := k.look(ctx, prefix, k.Peppers.Candidates(bearer), from, now)
		if err != nil {
			k.Breaker.Lost(err)
			return nil, err
		}
		r.asked = now
		k.memory.keep(id, r, since)
		return r, nil
	})
	select {
	case found := <-asked:
		r, _ := found.Val.(*remembered)
		return r, found.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (k *Keeper) look(ctx context.Context, prefix secret.Prefix, macs [][]byte, from netip.Addr, now time.Time) (*remembered, error) {
	if k.Breaker.Away() { // else it would wait for a connection where all are being given up
		return nil, pg.ErrAway
	}
	conn, err := pg.Take(ctx, k.Pool)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	q := db.New(conn)
	switch prefix {
	case secret.AccessToken:
		return lookToken(ctx, q, macs, now)
	case secret.Session:
		return k.lookSession(ctx, q, macs, now)
	case secret.LiveKey, secret.TestKey:
		return k.lookKey(ctx, q, macs, from, now)
	case secret.ClientSecret:
	}
	return nil, pgx.ErrNoRows
}

func lookToken(ctx context.Context, q *db.Queries, macs [][]byte, now time.Time) (*remembered, error) {
	t, err := q.TokenByMAC(ctx, db.TokenByMACParams{Macs: macs, Now: now})
	who := Principal{Kind: Client, ID: t.ID, Client: t.ClientID, Scopes: t.Scopes, Vouches: t.Vouches, Network: t.Network}
	return &remembered{who: who, fresh: freshness, until: t.ExpiresAt}, err
}

func (k *Keeper) lookSession(ctx context.Context, q *db.Queries, macs [][]byte, now time.Time) (*remembered, error) {
	s, err := q.SessionByMAC(ctx, db.SessionByMACParams{Macs: macs, Now: now, IdleSince: now.Add(-k.SessionIdle)})
	if err != nil {
		return nil, err
	}
	if now.Sub(s.LastSeenAt) > min(touchStep, k.SessionIdle/4) {
		if err := q.TouchSession(ctx, db.TouchSessionParams{ID: s.ID, At: now}); err != nil {
			return nil, err
		}
	}
	who := Principal{
		Kind: Session, ID: s.ID, Account: s.AccountID, Entity: s.EntityID.UUID, Role: Role(s.Role), Manages: s.Kind == "admin", Limited: s.Limited,
	}
	// The database has to hear of its use before it is idle there.
	return &remembered{who: who, fresh: min(freshness, k.SessionIdle/4), until: s.ExpiresAt}, nil
}

func (k *Keeper) lookKey(ctx context.Context, q *db.Queries, macs [][]byte, from netip.Addr, now time.Time) (*remembered, error) {
	key, err := q.KeyByMAC(ctx, db.KeyByMACParams{Macs: macs, Now: now})
	if err != nil {
		return nil, err
	}
	if key.LastUsedAt == nil || now.Sub(*key.LastUsedAt) > touchStep || !bytes.Equal(key.Mac, macs[0]) {
		// It is signed again under the newest pepper, so that older ones can go.
		if err := q.TouchKey(ctx, db.TouchKeyParams{ID: key.ID, At: &now, UsedFrom: pg.Address(from), Mac: macs[0]}); err != nil {
			return nil, err
		}
	}
	r := &remembered{networks: key.Networks, fresh: freshness}
	r.who = Principal{Kind: APIKey, ID: key.ID, Entity: key.EntityID, Mode: key.Mode, Purpose: key.Purpose, Limits: k.limits(key)}
	if key.ExpiresAt != nil {
		r.until = *key.ExpiresAt
	}
	return r, nil
}

// Knows reports whether a bearer text has stood on this node before and has not
// ended by itself since. It asks nobody.
func (k *Keeper) Knows(bearer string) bool {
	if _, ok := secret.Parse(bearer); !ok {
		return false
	}
	now := k.now()
	r, _ := k.memory.find(mac(k.Peppers.Sign(bearer)), now)
	return r != nil && r.stands(now)
}
