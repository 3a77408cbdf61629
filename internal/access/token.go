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

// The ways in which the token endpoint refuses.
var (
	ErrBadClient = fault.New(fault.Unauthenticated, "The client's id or secret is not right, or the client may not ask for tokens.")
	ErrBadScope  = fault.ErrInvalid.With(fault.Violation{
		Field: "scope", Code: fault.NotAllowed, Message: "Ask only for scopes that the client was given, separated by spaces, or leave scope out.",
	})
)

// Token is an access token, shown this once.
type Token struct {
	Text      secret.Text
	Scopes    []string
	ExpiresAt time.Time
}

// IssueToken exchanges a client's id and secret for an access token with the
// scopes asked, or with all of the client's when none is asked.
func (k *Keeper) IssueToken(ctx context.Context, clientID string, clientSecret secret.Text, scopes []string) (Token, error) {
	client, err := k.client(ctx, clientID, clientSecret)
	if err != nil {
		return Token{}, err
	}
	now := k.now()
	if len(scopes) == 0 {
		scopes = client.Scopes
	}
	for _, s := range scopes {
		if !slices.Contains(client.Scopes, s) {
			return Token{}, ErrBadScope
		}
	}
	t := Token{Text: secret.New(secret.AccessToken), Scopes: scopes, ExpiresAt: now.Add(k.TokenLifetime)}
	err = pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		return db.New(tx).InsertToken(ctx, db.InsertTokenParams{
			ID: uuid.Must(uuid.NewV7()), ClientID: client.ID, Mac: k.Peppers.Sign(t.Text.Reveal()),
			Scopes: t.Scopes, ExpiresAt: t.ExpiresAt, CreatedAt: now,
		})
	})
	if err != nil {
		return Token{}, fmt.Errorf("access: issue a token: %w", err)
	}
	return t, nil
}

// client returns the client that an id and a secret stand for.
func (k *Keeper) client(ctx context.Context, clientID string, clientSecret secret.Text) (db.ClientBySecretRow, error) {
	id, err := uuid.Parse(clientID)
	prefix, ok := secret.Parse(clientSecret.Reveal())
	if err != nil || !ok || prefix != secret.ClientSecret {
		return db.ClientBySecretRow{}, ErrBadClient
	}
	q, macs, now := db.New(k.Pool), k.Peppers.Candidates(clientSecret.Reveal()), k.now()
	client, err := q.ClientBySecret(ctx, db.ClientBySecretParams{ID: id, Macs: macs})
	if errors.Is(err, pgx.ErrNoRows) {
		return db.ClientBySecretRow{}, ErrBadClient
	}
	if err == nil && (now.Sub(moment(client.LastUsedAt)) > touchStep || !bytes.Equal(client.Mac, macs[0])) {
		// It is signed again under the newest pepper, so that older ones can go.
		err = q.TouchClientSecret(ctx, db.TouchClientSecretParams{ID: client.SecretID, At: &now, Mac: macs[0]})
	}
	if err != nil {
		return db.ClientBySecretRow{}, fmt.Errorf("access: find the client: %w", err)
	}
	return client, nil
}

// RevokeToken ends an access token of a client that shows its own id and secret
// (RFC 7009). A token that is unknown, another's or ended already is no error:
// whoever asks wants it gone, and it is.
func (k *Keeper) RevokeToken(ctx context.Context, clientID string, clientSecret, token secret.Text, from netip.Addr, request uuid.UUID) error {
	client, err := k.client(ctx, clientID, clientSecret)
	if err != nil {
		return err
	}
	if prefix, ok := secret.Parse(token.Reveal()); !ok || prefix != secret.AccessToken {
		return nil
	}
	now := k.now()
	err = pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		id, err := db.New(tx).RevokeToken(ctx, db.RevokeTokenParams{Macs: k.Peppers.Candidates(token.Reveal()), ClientID: client.ID, At: &now})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		k.memory.forget(id)
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: audit.Actor{Kind: audit.Client, ID: client.ID, From: from}, Action: audit.TokenRevoked, Subject: id, Request: request,
		})
	})
	if err != nil {
		return fmt.Errorf("access: revoke a token: %w", err)
	}
	return nil
}
