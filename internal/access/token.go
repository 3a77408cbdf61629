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

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
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
		return db.New(tx).InsertToken(ctx, db.InsertTokenParams{
			ID: uuid.Must(uuid.NewV7()), ClientID: client.ID, Mac: s.Peppers.Sign(t.Text.Reveal()),
			Scopes: t.Scopes, ExpiresAt: t.ExpiresAt, CreatedAt: now,
		})
	})
	if err != nil {
		return Token{}, fmt.Errorf("access: issue a token: %w", err)
	}
	return t, nil
}

// client returns the client with this id and secret, or ErrBadClient.
func (s *Service) client(ctx context.Context, clientID string, clientSecret secret.Text) (db.ClientBySecretRow, error) {
	id, err := uuid.Parse(clientID)
	prefix, ok := secret.Parse(clientSecret.Reveal())
	if err != nil || !ok || prefix != secret.ClientSecret {
		return db.ClientBySecretRow{}, ErrBadClient
	}
	q, macs, now := db.New(s.Pool), s.Peppers.Candidates(clientSecret.Reveal()), s.now()
	client, err := q.ClientBySecret(ctx, db.ClientBySecretParams{ID: id, Macs: macs})
	err = pg.Signed(ctx, s.Pool, err, pg.Row{Table: "client", ID: client.ID, Sum: client.RowSum, MAC: client.RowMac},
		pg.Row{Table: "client_secret", ID: client.SecretID, Sum: client.SecretSum, MAC: client.SecretMac})
	if errors.Is(err, pgx.ErrNoRows) {
		return db.ClientBySecretRow{}, ErrBadClient
	}
	if err == nil && now.Sub(timeOrZero(client.LastUsedAt)) > lastUseStep {
		err = q.TouchClientSecret(ctx, db.TouchClientSecretParams{ID: client.SecretID, At: &now})
	}
	if err == nil && !bytes.Equal(client.Mac, macs[0]) {
		// The secret is stored under the newest pepper, so that older ones can be retired.
		renewed := db.RenewClientSecretParams{ID: client.SecretID, Mac: macs[0]}
		err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error { return db.New(tx).RenewClientSecret(ctx, renewed) })
	}
	if err != nil {
		return db.ClientBySecretRow{}, fmt.Errorf("access: find the client: %w", err)
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
		id, err := db.New(tx).RevokeToken(ctx, db.RevokeTokenParams{Macs: s.Peppers.Candidates(token.Reveal()), ClientID: client.ID, At: &now})
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
	if err != nil {
		return fmt.Errorf("access: revoke a token: %w", err)
	}
	return nil
}
