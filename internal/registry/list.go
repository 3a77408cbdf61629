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

// EntityDetails is an entity with the details that staff see.
type EntityDetails struct {
	Entity
	Reason   string    // of the last change of status; empty if there was none
	Since    time.Time // time of the last change of status; zero if there was none
	Client   uuid.UUID // that onboarded it; zero if staff created it
	Supplies bool      // supplies lines
	Verifies bool      // verifies numbers
	Accounts int64     // not disabled
}

// Entity returns one entity, or ErrNoEntity.
func (r *Registry) Entity(ctx context.Context, id uuid.UUID) (EntityDetails, error) {
	row, err := db.New(r.Pool).EntityDetails(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return EntityDetails{}, ErrNoEntity
	}
	if err != nil {
		return EntityDetails{}, fmt.Errorf("registry: read an entity: %w", err)
	}
	return entityDetails(db.EntitiesRow(row)), nil
}

// Entities lists entities, the newest first: all of them, or those with a status.
func (r *Registry) Entities(ctx context.Context, of Status, limit int) ([]EntityDetails, error) {
	rows, err := db.New(r.Pool).Entities(ctx, db.EntitiesParams{Status: string(of), MaxRows: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("registry: list entities: %w", err)
	}
	list := make([]EntityDetails, 0, len(rows))
	for _, row := range rows {
		list = append(list, entityDetails(row))
	}
	return list, nil
}

func entityDetails(row db.EntitiesRow) EntityDetails {
	d := EntityDetails{
		Entity: Entity{
			ID: row.ID, Name: row.Name, CAC: row.Cac, Status: Status(row.Status), DocumentRequired: row.DocumentRequired, CreatedAt: row.CreatedAt.UTC(),
		},
		Reason: row.StatusReason, Client: row.ClientID.UUID, Supplies: row.Supplies, Verifies: row.Asks, Accounts: row.Accounts,
	}
	if row.StatusSince != nil {
		d.Since = row.StatusSince.UTC()
	}
	return d
}

// IDs returns the ids of entities.
func IDs(entities []EntityDetails) []uuid.UUID {
	ids := make([]uuid.UUID, len(entities))
	for i := range entities {
		ids[i] = entities[i].ID
	}
	return ids
}
