package access

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrNoSession reports a session that does not exist for this account, or ended
// before.
var ErrNoSession = fault.New(fault.NotFound, "There is no such session, or it has ended before.")

// Opening is a session as it is about to be opened, for somebody who has proved
// who they are.
type Opening struct {
	Account, Entity uuid.UUID // no entity for the regulator's staff
	From            netip.Addr
	Agent           string // what the person's program says that it is
	Limited         bool   // opens only what is needed to set up a second factor
	Request         uuid.UUID
}

// Opened is a session that was just opened. Its text is shown this once.
type Opened struct {
	ID        uuid.UUID
	Text      secret.Text
	ExpiresAt time.Time
}

const mostAgent = 200 // bytes

// OpenSession opens a session in the caller's transaction.
func (k *Keeper) OpenSession(ctx context.Context, tx pg.Tx, o Opening) (Opened, error) {
	now := k.now()
	s := Opened{ID: uuid.Must(uuid.NewV7()), Text: secret.New(secret.Session), ExpiresAt: now.Add(k.SessionLifetime)}
	agent := strings.ToValidUTF8(o.Agent[:min(len(o.Agent), mostAgent)], "")
	err := db.New(tx).InsertSession(ctx, db.InsertSessionParams{
		ID: s.ID, AccountID: o.Account, Mac: k.Peppers.Sign(s.Text.Reveal()), FromAddr: pg.Address(o.From), Agent: strings.ReplaceAll(agent, "\x00", ""),
		Limited: o.Limited, ExpiresAt: s.ExpiresAt, CreatedAt: now,
	})
	if err != nil {
		return Opened{}, fmt.Errorf("access: open a session: %w", err)
	}
	return s, audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: audit.Actor{Kind: audit.Account, ID: o.Account, From: o.From}, Action: audit.LoggedIn, Subject: s.ID, Entity: o.Entity, Request: o.Request,
	})
}

// SessionRow is a session as its owner sees it.
type SessionRow struct {
	ID                               uuid.UUID
	From, Agent                      string
	CreatedAt, LastSeenAt, ExpiresAt time.Time
}

// Sessions lists the sessions of an account that stand, newest first.
func (k *Keeper) Sessions(ctx context.Context, account uuid.UUID) ([]SessionRow, error) {
	now := k.now()
	rows, err := db.New(k.Pool).Sessions(ctx, db.SessionsParams{AccountID: account, Now: now, IdleSince: now.Add(-k.SessionIdle)})
	if err != nil {
		return nil, fmt.Errorf("access: list sessions: %w", err)
	}
	list := make([]SessionRow, len(rows))
	for i, r := range rows {
		list[i] = SessionRow{ID: r.ID, From: r.FromAddr, Agent: r.Agent, CreatedAt: r.CreatedAt, LastSeenAt: r.LastSeenAt, ExpiresAt: r.ExpiresAt}
	}
	return list, nil
}

// EndSession ends one session of an account.
func (k *Keeper) EndSession(ctx context.Context, account, session uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := k.now()
	defer k.memory.forget(session)
	return pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		n, err := db.New(tx).EndSession(ctx, db.EndSessionParams{ID: session, AccountID: account, At: &now})
		if err != nil {
			return fmt.Errorf("access: end a session: %w", err)
		}
		if n == 0 {
			return ErrNoSession
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.SessionEnded, Subject: session, Request: request})
	})
}

// EndSessions ends every session of an account but one, in the caller's
// transaction; the zero id spares none. It returns how many there were.
func (k *Keeper) EndSessions(ctx context.Context, tx pg.Tx, account, but uuid.UUID, by audit.Actor, request uuid.UUID) (int64, error) {
	now := k.now()
	n, err := db.New(tx).EndSessions(ctx, db.EndSessionsParams{AccountID: account, But: but, At: &now})
	if err != nil {
		return 0, fmt.Errorf("access: end sessions: %w", err)
	}
	if n == 0 {
		return 0, nil
	}
	return n, audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: by, Action: audit.SessionsEnded, Subject: account, Request: request, After: map[string]any{"sessions": n},
	})
}

// FreeSession makes a limited session a full one, in the caller's transaction.
func (k *Keeper) FreeSession(ctx context.Context, tx pg.Tx, session uuid.UUID) error {
	n, err := db.New(tx).FreeSession(ctx, session)
	if err != nil {
		return fmt.Errorf("access: free a session: %w", err)
	}
	if n == 0 {
		return ErrNoSession
	}
	return nil
}

// Forget drops tokens and sessions that expired a day ago or earlier.
func (k *Keeper) Forget(ctx context.Context) (int64, error) {
	before, total := k.now().Add(-24*time.Hour), int64(0)
	for _, forget := range []func(context.Context, time.Time) (int64, error){db.New(k.Pool).ForgetTokens, db.New(k.Pool).ForgetSessions} {
		n, err := pg.InBites(func() (int64, error) { return forget(ctx, before) })
		total += n
		if err != nil {
			return total, fmt.Errorf("access: forget: %w", err)
		}
	}
	return total, nil
}
