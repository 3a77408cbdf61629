package portal

import (
	"errors"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// The addresses of staff to which pages of several subjects lead.
const (
	LookupsPath   = "/portal/desk/look-ups" // how much they have looked up today
	ApprovalsPath = "/portal/desk/approvals"
	EntitiesPath  = "/portal/desk/entities"
	ClientsPath   = "/portal/desk/clients"
	LimitsPath    = "/portal/desk/limits" // of organisations, and alerts
	PlanPath      = "/portal/desk/plan"
	DraftsPath    = "/portal/desk/plan/drafts"
	BoardPath     = "/portal/desk/supply"
	ImportsPath   = "/portal/desk/supply/imports"
)

// EntityURL returns the address of an organisation's page.
func EntityURL(id uuid.UUID) string { return EntitiesPath + "/" + id.String() }

// ClientURL returns the address of a client's page.
func ClientURL(id uuid.UUID) string { return ClientsPath + "/" + id.String() }

// MaxWaiting is how many approvals of each kind are read; far more than ever wait at once.
const MaxWaiting = 200

// OrWaits returns the message done, or the message waits instead of an error that says that
// the action waits for a second person.
func OrWaits(err error, done, waits string) (flash string, _ error) {
	if _, ok := errors.AsType[*approval.WaitsError](err); ok {
		return waits, nil
	}
	return done, err
}

// IsAccount reports whether an actor is this account.
func IsAccount(by audit.Actor, account uuid.UUID) bool {
	return by.Kind == audit.Account && by.ID == account
}
