// Package desk serves the pages of the regulator's staff.
package desk

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/tally"
)

// Pages serves the pages of the regulator's staff. All fields but Checkpoint are required.
type Pages struct {
	present.Supply

	Documents *document.Store
	Approvals *approval.Service
	Tally     *tally.Tally
	Record    func(context.Context, uuid.UUID) (record.Entry, error) // finds a record in the database or the archive
	// Checkpoint returns the time of the newest checkpoint of the public log; zero if
	// there is none yet. Nil without a public log.
	Checkpoint func(context.Context) (time.Time, error)

	counted workCache
}

// Routes returns the routes of these pages. All staff may look; each route names
// who may change something.
func (p *Pages) Routes() []portal.Route {
	return slices.Concat(
		p.homeRoutes(), p.entityRoutes(), p.mandateRoutes(), p.clientRoutes(), p.documentRoutes(), p.approvalRoutes(), p.supplyRoutes(),
		p.planRoutes(), p.journalRoutes(), p.limitRoutes(), p.watchRoutes(), p.auditRoutes(), p.staffRoutes(),
	)
}
