package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/secret"
)

// touchStep is how stale the note of a session's last use may be. Writing it at
// every request would make each of them a write.
const touchStep = time.Minute

// Admit returns the principal that a bearer text stands for, or
// ErrUnauthenticated, always with a cause for the log. Text without the right
// form is refused before the database is asked.
func (k *Keeper) Admit(ctx context.Context, bearer string) (Principal, error) {
	prefix, ok := secret.Parse(bearer)
	if !ok {
		return Principal{}, ErrUnauthenticated.Because(errors.New("malformed"))
	}
	var p Principal
	var err error
	now := k.now()
	switch prefix {
	case secret.AccessToken:
		p, err = admitToken(ctx, db.New(k.Pool), k.Peppers.Candidates(bearer), now)
	case secret.Session:
		p, err = k.admitSession(ctx, db.New(k.Pool), k.Peppers.Candidates(bearer), now)
	case secret.LiveKey, secret.TestKey:
		p, err = k.admitKey(ctx, bearer, now)
	default: // a client secret buys a token and nothing else
		return Principal{}, ErrUnauthenticated.Because(errors.New("a client's secret"))
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Principal{}, ErrUnauthenticated.Because(errors.New("unknown, expired or revoked"))
	}
	if err != nil {
		return Principal{}, fmt.Errorf("access: admit: %w", err)
	}
	return p, nil
}

func admitToken(ctx context.Context, q *db.Queries, macs [][]byte, now time.Time) (Principal, error) {
	t, err := q.TokenByMAC(ctx, db.TokenByMACParams{Macs: macs, Now: now})
	return Principal{Kind: Client, ID: t.ID, Client: t.ClientID, Scopes: t.Scopes, Vouches: t.Vouches, Network: t.Network}, err
}

// admitKey asks the database only about a key that it has not admitted in the
// last moments, and once for all who wait for the same answer.
func (k *Keeper) admitKey(ctx context.Context, bearer string, now time.Time) (Principal, error) {
	mac := keyMac(k.Peppers.Sign(bearer))
	if who, ok := k.memory.find(mac, now); ok {
		return who, nil
	}
	asked := k.asking.DoChan(string(mac[:]), func() (any, error) {
		// Whoever came first may leave; the others still wait for the answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		key, err := db.New(k.Pool).KeyByMAC(ctx, db.KeyByMACParams{Macs: k.Peppers.Candidates(bearer), Now: now})
		if err != nil {
			return nil, err
		}
		who, until := Principal{Kind: APIKey, ID: key.ID, Entity: key.EntityID, Mode: key.Mode, Purpose: key.Purpose}, now.Add(keyMemory)
		if key.ExpiresAt != nil && key.ExpiresAt.Before(until) {
			until = *key.ExpiresAt
		}
		k.memory.keep(mac, who, until)
		return who, nil
	})
	select {
	case found := <-asked:
		who, _ := found.Val.(Principal)
		return who, found.Err
	case <-ctx.Done():
		return Principal{}, ctx.Err()
	}
}

func (k *Keeper) admitSession(ctx context.Context, q *db.Queries, macs [][]byte, now time.Time) (Principal, error) {
	s, err := q.SessionByMAC(ctx, db.SessionByMACParams{Macs: macs, Now: now, IdleSince: now.Add(-k.SessionIdle)})
	if err != nil {
		return Principal{}, err
	}
	if now.Sub(s.LastSeenAt) > min(touchStep, k.SessionIdle/4) {
		if err := q.TouchSession(ctx, db.TouchSessionParams{ID: s.ID, At: now}); err != nil {
			return Principal{}, err
		}
	}
	entity := uuid.Nil
	if s.EntityID.Valid {
		entity = s.EntityID.UUID
	}
	return Principal{Kind: Session, ID: s.ID, Account: s.AccountID, Entity: entity, Role: Role(s.Role)}, nil
}
