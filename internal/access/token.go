package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The errors of the token endpoint.
var (
	ErrBadClient = fault.New(fault.Unauthenticated, "The client id or secret is wrong, or the client may not request tokens.")
	ErrBadScope  = fault.ErrInvalid.With(fault.Violation{
		Field: "scope", Code: fault.NotAllowed, Message: "Request only scopes that the client has, separated by spaces, or leave scope out.",
	})
)

// Token is an access token that was just issued. Its text is shown only now.
type Token struct {
	Text      secret.Text
	Scopes    []string
	ExpiresAt time.Time
}

// IssueToken exchanges a client's id and secret for an access token with the
// requested scopes, or with all scopes of the client if none is requested.
func (s *Service) IssueToken(ctx context.Context, clientID string, clientSecret secret.Text, scopes []string) (Token, error) {
	client, err := s.client(ctx, clientID, clientSecret)
	if err != nil {
		return Token{}, err
	}
	now, allowed := s.now(), usable(client.Scopes, client.Scopes)
	if len(scopes) == 0 {
		scopes = allowed
	}
	for _, scope := range scopes {
		if !slices.Contains(allowed, scope) {
			return Token{}, ErrBadScope
		}
	}
	t := Token{Text: secret.New(secret.AccessToken), Scopes: scopes, ExpiresAt: now.Add(s.TokenLifetime)}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO access_token (id, client_id, secret_id, mac, scopes, expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			uuid.Must(uuid.NewV7()), client.ID, client.Secret, s.Peppers.Sign(secret.ForCredentials, t.Text.Reveal()), t.Scopes, t.ExpiresAt, now)
		return err
	})
	if err != nil {
		return Token{}, fmt.Errorf("access: issue a token: %w", err)
	}
	return t, nil
}

// storedClient is a client that may request tokens, with the secret that it used.
type storedClient struct {
	ID                   uuid.UUID
	Scopes               []string
	Secret               uuid.UUID
	MAC                  []byte // of the secret
	LastUsedAt           *time.Time
	RowSum, RowMAC       []byte
	SecretSum, SecretMAC []byte
}

// client returns the client with this id and secret, or ErrBadClient.
func (s *Service) client(ctx context.Context, clientID string, clientSecret secret.Text) (storedClient, error) {
	id, err := uuid.Parse(clientID)
	prefix, ok := secret.Parse(clientSecret.Reveal())
	if err != nil || !ok || prefix != secret.ClientSecret {
		return storedClient{}, ErrBadClient
	}
	macs, now := s.Peppers.Candidates(secret.ForCredentials, clientSecret.Reveal()), s.now()
	client, err := pg.CollectOne(ctx, s.Pool, pgx.RowToStructByPos[storedClient], `SELECT c.id, c.scopes, s.id, s.mac, s.last_used_at, c.row_sum, c.row_mac, s.row_sum, s.row_mac
		FROM client c JOIN client_secret s ON s.client_id = c.id
		WHERE c.id = $1 AND s.mac = ANY($2::bytea[]) AND NOT s.waits AND s.revoked_at IS NULL AND c.revoked_at IS NULL AND c.suspended_at IS NULL`, id, macs)
	err = pg.Signed(ctx, s.Pool, err, pg.Row{Table: "client", ID: client.ID, Sum: client.RowSum, MAC: client.RowMAC},
		pg.Row{Table: "client_secret", ID: client.Secret, Sum: client.SecretSum, MAC: client.SecretMAC})
	if errors.Is(err, pgx.ErrNoRows) {
		return storedClient{}, ErrBadClient
	}
	if err == nil && now.Sub(timeOrZero(client.LastUsedAt)) > lastUseStep {
		_, err = s.Pool.Exec(ctx, `UPDATE client_secret SET last_used_at = $2 WHERE id = $1`, client.Secret, now)
	}
	if err == nil && !bytes.Equal(client.MAC, macs[0]) {
		// The secret is stored under the newest pepper, so that older ones can be retired.
		err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE client_secret SET mac = $2 WHERE id = $1`, client.Secret, macs[0])
			return err
		})
	}
	if err != nil {
		return storedClient{}, fmt.Errorf("access: find the client: %w", err)
	}
	return client, nil
}

// RevokeToken revokes an access token of the client with this id and secret
// (RFC 7009). A token that is unknown, belongs to another client or is already
// revoked is no error: the caller cannot use it, which is what was requested.
func (s *Service) RevokeToken(ctx context.Context, clientID string, clientSecret, token secret.Text, from netip.Addr, request uuid.UUID) error {
	client, err := s.client(ctx, clientID, clientSecret)
	if err != nil {
		return err
	}
	if prefix, ok := secret.Parse(token.Reveal()); !ok || prefix != secret.AccessToken {
		return nil
	}
	now := s.now()
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		var id uuid.UUID
		err := tx.QueryRow(ctx, `UPDATE access_token SET revoked_at = $3 WHERE mac = ANY($1::bytea[]) AND client_id = $2 AND revoked_at IS NULL RETURNING id`,
			s.Peppers.Candidates(secret.ForCredentials, token.Reveal()), client.ID, now).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		s.cache.invalidate(id)
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: audit.Actor{Kind: audit.Client, ID: client.ID, From: from}, Action: audit.TokenRevoked, Subject: id, Request: request,
		})
	})
	return fault.Wrap(err, "access: revoke a token")
}
