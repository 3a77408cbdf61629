package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// Standing is an entity with what staff want to know of it.
type Standing struct {
	Entity
	Reason   string    // of the last move; empty where it was never moved
	Since    time.Time // of the last move; zero where it was never moved
	Client   uuid.UUID // that brought it in; zero where staff did
	Supplies bool
	Asks     bool
	Keys     int64 // that were neither revoked nor have run out
	Accounts int64 // that are not disabled
}

// Entity returns one entity, or ErrNoEntity.
func (r *Registry) Entity(ctx context.Context, id uuid.UUID) (Standing, error) {
	row, err := db.New(r.Pool).Standing(ctx, db.StandingParams{ID: id, Now: r.now()})
	if errors.Is(err, pgx.ErrNoRows) {
		return Standing{}, ErrNoEntity
	}
	if err != nil {
		return Standing{}, fmt.Errorf("registry: read an entity: %w", err)
	}
	return standing(db.StandingsRow(row)), nil
}

// Entities lists entities, the newest first: all of them, or those of a state.
func (r *Registry) Entities(ctx context.Context, of Status, limit int) ([]Standing, error) {
	rows, err := db.New(r.Pool).Standings(ctx, db.StandingsParams{Status: string(of), Now: r.now(), Most: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("registry: list entities: %w", err)
	}
	list := make([]Standing, 0, len(rows))
	for _, row := range rows {
		list = append(list, standing(row))
	}
	return list, nil
}

func standing(row db.StandingsRow) Standing {
	s := Standing{
		Entity: Entity{
			ID: row.ID, Name: row.Name, CAC: row.Cac, Status: Status(row.Status), DocumentRequired: row.DocumentRequired, CreatedAt: row.CreatedAt.UTC(),
		},
		Reason: row.StatusReason, Client: row.ClientID.UUID, Supplies: row.Supplies, Asks: row.Asks, Keys: row.Keys, Accounts: row.Accounts,
	}
	if row.StatusSince != nil {
		s.Since = row.StatusSince.UTC()
	}
	return s
}
