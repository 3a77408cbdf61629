package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Status is the status of an entity with the regulator.
type Status string

// The statuses. Onboarding creates entities as Approved.
const (
	Approved  Status = "Approved"
	Suspended Status = "Suspended"
	Revoked   Status = "Revoked"
)

// Entity is a telco, a bank or another service provider.
type Entity struct {
	ID               uuid.UUID
	Name             string
	CAC              string // number in the companies register, as entered
	Status           Status
	DocumentRequired bool
	CreatedAt        time.Time
}

// entityColumns are those of an entity; see scanEntity.
const entityColumns = `id, name, cac, status, document_required, created_at`

func scanEntity(row pgx.CollectableRow) (e Entity, err error) {
	err = row.Scan(&e.ID, &e.Name, &e.CAC, &e.Status, &e.DocumentRequired, &e.CreatedAt)
	e.CreatedAt = e.CreatedAt.UTC()
	return e, err
}

// lockEntity returns an entity, or ErrNoEntity. Its lock serialises changes of one entity.
func lockEntity(ctx context.Context, tx pg.Tx, id uuid.UUID) (Entity, error) {
	e, err := pg.CollectOne(ctx, tx, scanEntity, `SELECT `+entityColumns+` FROM entity WHERE id = $1 FOR UPDATE`, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Entity{}, ErrNoEntity
	}
	if err != nil {
		return Entity{}, fmt.Errorf("registry: lock the entity: %w", err)
	}
	return e, nil
}

// auditFields returns what the audit trail records of a new entity.
func (e Entity) auditFields() map[string]any {
	return map[string]any{"name": e.Name, "cac": e.CAC, "status": e.Status, "documentRequired": e.DocumentRequired}
}

// Admin is the first admin of an entity. It has no password field: only the hash
// is stored.
type Admin struct {
	ID       uuid.UUID
	Name     string
	Email    string // as entered
	Phone    string // as entered
	Verified bool
}
