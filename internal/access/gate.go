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
	q, now, macs := db.New(k.Pool), k.now(), k.Peppers.Candidates(bearer)
	switch prefix {
	case secret.AccessToken:
		p, err = admitToken(ctx, q, macs, now)
	case secret.Session:
		p, err = k.admitSession(ctx, q, macs, now)
	case secret.LiveKey, secret.TestKey:
		p, err = admitKey(ctx, q, macs, now)
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

func admitKey(ctx context.Context, q *db.Queries, macs [][]byte, now time.Time) (Principal, error) {
	key, err := q.KeyByMAC(ctx, db.KeyByMACParams{Macs: macs, Now: now})
	return Principal{Kind: APIKey, ID: key.ID, Entity: key.EntityID, Mode: key.Mode, Purpose: key.Purpose}, err
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
