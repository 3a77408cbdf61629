package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// MostSecrets is how many secrets of a client stand at a time: the one in use,
// and the one that is about to take its place.
const MostSecrets = 2

// NewSecret is a client's secret that was just made. It is shown this once.
type NewSecret struct {
	ID   uuid.UUID
	Text secret.Text
}

// SecretRow is a client's secret as a list shows it.
type SecretRow struct {
	ID         uuid.UUID
	Preview    string
	CreatedAt  time.Time
	LastUsedAt time.Time // to a minute or so; zero if it never was
}

// Secrets lists the secrets of a client that stand, oldest first.
func (k *Keeper) Secrets(ctx context.Context, client uuid.UUID) ([]SecretRow, error) {
	rows, err := db.New(k.Pool).ClientSecrets(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("access: list secrets: %w", err)
	}
	list := make([]SecretRow, len(rows))
	for i, r := range rows {
		list[i] = SecretRow{ID: r.ID, Preview: r.Preview, CreatedAt: r.CreatedAt, LastUsedAt: moment(r.LastUsedAt)}
	}
	return list, nil
}

// AddSecret gives a client a second secret, so that the first can be rotated
// out.
func (k *Keeper) AddSecret(ctx context.Context, client uuid.UUID, by audit.Actor, request uuid.UUID) (s NewSecret, err error) {
	s.Text = secret.New(secret.ClientSecret)
	err = pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		q := db.New(tx)
		if _, err := q.LockClient(ctx, client); errors.Is(err, pgx.ErrNoRows) {
			return ErrNoClient
		} else if err != nil {
			return err
		}
		standing, err := q.ClientSecrets(ctx, client)
		if err != nil {
			return err
		}
		if len(standing) >= MostSecrets {
			return ErrSecrets
		}
		if s.ID, err = k.insertSecret(ctx, q, client, s.Text); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: k.now(), Actor: by, Action: audit.SecretAdded, Subject: client, Request: request, After: map[string]any{"secretId": s.ID.String()},
		})
	})
	if err != nil {
		return NewSecret{}, fmt.Errorf("access: add a secret: %w", err)
	}
	return s, nil
}

// RevokeSecret ends one secret of a client, for good. Tokens that it bought
// stand until they expire.
func (k *Keeper) RevokeSecret(ctx context.Context, client, id uuid.UUID, by audit.Actor, request uuid.UUID) error {
	now := k.now()
	return pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		n, err := db.New(tx).RevokeClientSecret(ctx, db.RevokeClientSecretParams{ID: id, ClientID: client, At: &now})
		if err != nil {
			return fmt.Errorf("access: revoke a secret: %w", err)
		}
		if n == 0 {
			return ErrNoSecret
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.SecretRevoked, Subject: client, Request: request, Before: map[string]any{"secretId": id.String()},
		})
	})
}

func (k *Keeper) insertSecret(ctx context.Context, q *db.Queries, client uuid.UUID, text secret.Text) (uuid.UUID, error) {
	id := uuid.Must(uuid.NewV7())
	return id, q.InsertClientSecret(ctx, db.InsertClientSecretParams{
		ID: id, ClientID: client, Mac: k.Peppers.Sign(text.Reveal()), Preview: secret.Preview(text), CreatedAt: k.now(),
	})
}
