package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
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
	id, err := uuid.Parse(clientID)
	prefix, ok := secret.Parse(clientSecret.Reveal())
	if err != nil || !ok || prefix != secret.ClientSecret {
		return Token{}, ErrBadClient
	}
	q, now := db.New(k.Pool), k.now()
	client, err := q.ClientBySecret(ctx, db.ClientBySecretParams{ID: id, Macs: k.Peppers.Candidates(clientSecret.Reveal())})
	if errors.Is(err, pgx.ErrNoRows) {
		return Token{}, ErrBadClient
	}
	if err != nil {
		return Token{}, fmt.Errorf("access: find the client: %w", err)
	}
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
