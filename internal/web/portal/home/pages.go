// Package home has the first page of staff, and counts what waits for them.
package home

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
)

// Pages serves the page. All fields but Checkpoint are required.
type Pages struct {
	operators.Supply

	Documents *document.Store
	Approvals *approval.Service
	Tally     *tally.Tally
	// Checkpoint returns the time of the newest checkpoint of the public log; zero if
	// there is none yet. Nil without a public log.
	Checkpoint func(context.Context) (time.Time, error)

	counted workCache
}
