package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrNoSession reports a session that does not exist for this account, or has
// already ended.
var ErrNoSession = fault.New(fault.NotFound, "There is no such session, or it has already ended.")

// SessionForm describes the session to open for a person who has logged in.
type SessionForm struct {
	Account, Entity uuid.UUID // the entity is zero for the regulator's staff
	From            netip.Addr
	Agent           string // the User-Agent header
	Limited         bool   // allows only setting up two-factor authentication
	Request         uuid.UUID
}

// NewSession is a session that was just opened. Its text is shown only now.
type NewSession struct {
	ID        uuid.UUID
	Text      secret.Text
	ExpiresAt time.Time
}

const maxAgent = 200 // bytes

// OpenSession opens a session in the caller's transaction.
func (s *Service) OpenSession(ctx context.Context, tx pg.Tx, f SessionForm) (NewSession, error) {
	now := s.now()
	session := NewSession{ID: uuid.Must(uuid.NewV7()), Text: secret.New(secret.Session), ExpiresAt: now.Add(s.SessionLifetime)}
	agent := strings.ToValidUTF8(f.Agent[:min(len(f.Agent), maxAgent)], "")
	err := db.New(tx).InsertSession(ctx, db.InsertSessionParams{
		ID: session.ID, AccountID: f.Account, Mac: s.Peppers.Sign(session.Text.Reveal()), FromAddr: pg.Address(f.From), Agent: strings.ReplaceAll(agent, "\x00", ""),
		Limited: f.Limited, ExpiresAt: session.ExpiresAt, CreatedAt: now,
	})
	if err != nil {
		return NewSession{}, fmt.Errorf("access: open a session: %w", err)
	}
	return session, audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: audit.Actor{Kind: audit.Account, ID: f.Account, From: f.From}, Action: audit.LoggedIn, Subject: session.ID, Entity: f.Entity, Request: f.Request,
	})
}

// SessionRow is a session as its owner sees it.
type SessionRow struct {
	ID                               uuid.UUID
	From, Agent                      string
	CreatedAt, LastSeenAt, ExpiresAt time.Time
}

// Sessions lists the active sessions of an account, newest first.
func (s *Service) Sessions(ctx context.Context, account uuid.UUID) ([]SessionRow, error) {
	now := s.now()
	rows, err := db.New(s.Pool).Sessions(ctx, db.SessionsParams{AccountID: account, Now: now, IdleSince: now.Add(-s.SessionIdle)})
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
func (s *Service) EndSession(ctx context.Context, account, session uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	defer s.cache.invalidate(session)
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
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

// EndSessions ends every session of an account in the caller's transaction, but
// not the session with the id but, unless that is zero. It returns how many were
// ended.
func (s *Service) EndSessions(ctx context.Context, tx pg.Tx, account, but uuid.UUID, by audit.Actor, request uuid.UUID) (int64, error) {
	now := s.now()
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

// provedFor is how long a person need not enter the password again.
const provedFor = 5 * time.Minute

// IsProved reports whether the person of a session has entered the password, and the
// code where there is a second factor, within the last minutes. It reads the database,
// because a change that a stolen session must not allow depends on it.
func (s *Service) IsProved(ctx context.Context, session uuid.UUID) (bool, error) {
	row, err := db.New(s.Pool).SessionProvedAt(ctx, session)
	err = pg.Signed(ctx, s.Pool, err, pg.Row{Table: "session", ID: session, Sum: row.RowSum, MAC: row.RowMac})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("access: read a session: %w", err)
	}
	return s.now().Sub(row.ProvedAt) < provedFor, nil
}

// ProveSession records, in the caller's transaction, that the person of a session has
// just entered the password again.
func (s *Service) ProveSession(ctx context.Context, tx pg.Tx, session uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	n, err := db.New(tx).ProveSession(ctx, db.ProveSessionParams{ID: session, At: now})
	if err != nil {
		return fmt.Errorf("access: prove a session: %w", err)
	}
	if n == 0 {
		return ErrNoSession
	}
	return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.SessionProved, Subject: session, Request: request})
}

// UnlockSession turns a limited session into a full one, in the caller's transaction.
func (s *Service) UnlockSession(ctx context.Context, tx pg.Tx, session uuid.UUID) error {
	n, err := db.New(tx).UnlockSession(ctx, session)
	if err != nil {
		return fmt.Errorf("access: unlock a session: %w", err)
	}
	if n == 0 {
		return ErrNoSession
	}
	return nil
}

// DeleteExpired deletes tokens and sessions that expired a day ago or earlier.
func (s *Service) DeleteExpired(ctx context.Context) (int64, error) {
	before, total := s.now().Add(-24*time.Hour), int64(0)
	for _, deleteBatch := range []func(context.Context, time.Time) (int64, error){db.New(s.Pool).DeleteTokens, db.New(s.Pool).DeleteSessions} {
		n, err := pg.InBatches(func() (int64, error) { return deleteBatch(ctx, before) })
		total += n
		if err != nil {
			return total, fmt.Errorf("access: delete expired credentials: %w", err)
		}
	}
	return total, nil
}
