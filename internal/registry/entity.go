package registry

import (
	"time"

	"github.com/google/uuid"
)

// Status is where an entity stands with the regulator.
type Status string

// The statuses. The bypass creates entities as Approved.
const (
	Approved  Status = "Approved"
	Suspended Status = "Suspended"
	Revoked   Status = "Revoked"
)

// Entity is a telco, a bank or another service provider.
type Entity struct {
	ID               uuid.UUID
	Name             string
	CAC              string // number in the companies register, as sent
	Status           Status
	DocumentRequired bool
	CreatedAt        time.Time
}

// written is what the audit trail says of an entity that is new.
func (e Entity) written() map[string]any {
	return map[string]any{"name": e.Name, "cac": e.CAC, "status": e.Status, "documentRequired": e.DocumentRequired}
}

// Admin is the main administrative user of an entity. The password is not part
// of it: only its hash is stored, and only package access reads that.
type Admin struct {
	ID       uuid.UUID
	Name     string
	Email    string // as sent
	Phone    string // as sent
	Verified bool
}
