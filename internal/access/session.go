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

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// ErrNoSession reports a session that does not exist for this account, or has
// already ended.
var ErrNoSession = fault.New(fault.NotFound, "There is no such session, or it has already ended.")

// SessionForm describes the session to open for a person who has logged in.
type SessionForm struct {
	Account, Entity uuid.UUID // the entity is zero for the regulator's staff
	From            netip.Addr
	Agent           string // the User-Agent header
	Portal          bool   // for the cookie of the portal; else for the API
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

// sessionPrefix returns the kind of a session's text. The stored HMAC covers it, so that a
// session of one kind cannot be rewritten as one of the other.
func sessionPrefix(portal bool) secret.Prefix {
	if portal {
		return secret.PortalCookie
	}
	return secret.Session
}

// OpenSession opens a session in the caller's transaction.
func (s *Service) OpenSession(ctx context.Context, tx pg.Tx, f SessionForm) (NewSession, error) {
	now := s.now()
	session := NewSession{ID: uuid.Must(uuid.NewV7()), Text: secret.New(sessionPrefix(f.Portal)), ExpiresAt: now.Add(s.SessionLifetime)}
	agent := strings.ToValidUTF8(f.Agent[:min(len(f.Agent), maxAgent)], "")
	_, err := tx.Exec(ctx, `INSERT INTO session (id, account_id, mac, from_addr, agent, limited, expires_at, last_seen_at, proved_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $8)`, session.ID, f.Account, s.Peppers.Sign(secret.ForCredentials, session.Text.Reveal()), pg.Address(f.From),
		strings.ReplaceAll(agent, "\x00", ""), f.Limited, session.ExpiresAt, now)
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
	list, err := pg.Collect(ctx, s.Pool, pgx.RowToStructByPos[SessionRow], `SELECT id, coalesce(host(from_addr), ''), agent, created_at, last_seen_at, expires_at FROM session
		WHERE account_id = $1 AND expires_at > $2 AND last_seen_at > $3 AND revoked_at IS NULL ORDER BY created_at DESC`, account, now, now.Add(-s.SessionIdle))
	return list, fault.Wrap(err, "access: list sessions")
}

// EndSession ends one session of an account.
func (s *Service) EndSession(ctx context.Context, account, session uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	defer s.cache.invalidate(session)
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE session SET revoked_at = $3 WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL`, session, account, now)
		if err != nil {
			return fmt.Errorf("access: end a session: %w", err)
		}
		if tag.RowsAffected() == 0 {
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
	tag, err := tx.Exec(ctx, `UPDATE session SET revoked_at = $3 WHERE account_id = $1 AND id <> $2 AND revoked_at IS NULL`, account, but, now)
	if err != nil {
		return 0, fmt.Errorf("access: end sessions: %w", err)
	}
	n := tag.RowsAffected()
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
	var proved time.Time
	row := pg.Row{Table: "session", ID: session}
	err := s.Pool.QueryRow(ctx, `SELECT proved_at, row_sum, row_mac FROM session WHERE id = $1 AND revoked_at IS NULL`, session).Scan(&proved, &row.Sum, &row.MAC)
	err = pg.Signed(ctx, s.Pool, err, row)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("access: read a session: %w", err)
	}
	return s.now().Sub(proved) < provedFor, nil
}

// ProveSession records, in the caller's transaction, that the person of a session has
// just entered the password again.
func (s *Service) ProveSession(ctx context.Context, tx pg.Tx, session uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := s.now()
	tag, err := tx.Exec(ctx, `UPDATE session SET proved_at = $2 WHERE id = $1 AND revoked_at IS NULL`, session, now)
	if err != nil {
		return fmt.Errorf("access: prove a session: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoSession
	}
	return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by, Action: audit.SessionProved, Subject: session, Request: request})
}

// UnlockSession turns a limited session into a full one, in the caller's transaction.
func (s *Service) UnlockSession(ctx context.Context, tx pg.Tx, session uuid.UUID) error {
	tag, err := tx.Exec(ctx, `UPDATE session SET limited = false WHERE id = $1 AND limited AND revoked_at IS NULL`, session)
	if err != nil {
		return fmt.Errorf("access: unlock a session: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoSession
	}
	return nil
}

// DeleteExpired deletes tokens and sessions that expired a day ago or earlier.
func (s *Service) DeleteExpired(ctx context.Context) (int64, error) {
	before, total := s.now().Add(-24*time.Hour), int64(0)
	for _, sql := range []string{
		`DELETE FROM access_token WHERE id IN (SELECT t.id FROM access_token t WHERE t.expires_at < $1 LIMIT 5000)`,
		`DELETE FROM session WHERE id IN (SELECT s.id FROM session s WHERE s.expires_at < $1 LIMIT 5000)`,
	} {
		n, err := pg.InBatches(func() (int64, error) {
			tag, err := s.Pool.Exec(ctx, sql, before)
			return tag.RowsAffected(), err
		})
		total += n
		if err != nil {
			return total, fmt.Errorf("access: delete expired credentials: %w", err)
		}
	}
	return total, nil
}
