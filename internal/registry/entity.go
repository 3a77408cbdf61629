package registry

import (
	"time"

	"github.com/google/uuid"
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
