// Package records has the pages of the journal: an organisation's own records with their
// receipts, and the search of staff in all of them.
package records

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. All fields but Simulator, Receipts and LogPolicy are required.
type Pages struct {
	*portal.Portal

	Tally     *tally.Tally
	Record    func(context.Context, uuid.UUID) (record.Entry, error) // finds a record in the database or the archive
	Region    *phone.Region
	Simulator *sandbox.Simulator // the test numbers; nil for none
	Receipts  *logreceipt.Maker  // nil without a public log
	LogPolicy string             // the key of the public log or its policy, for receipts; "" without one
}

const (
	recordsPath     = "/portal/journal"
	recordPath      = "/portal/journal/{request}"
	recordProofPath = "/portal/journal/{request}/receipt"
	receiptFilePath = "/portal/export/receipts/{request}"
	receiptsPath    = "/portal/receipts"
	verifierPath    = "/portal/export/verify-receipt.html"
	csvPath         = "/portal/export/journal.csv"
	ndjsonPath      = "/portal/export/journal.ndjson"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return slices.Concat(p.journalRoutes(), p.lookupRoutes(), []portal.Route{
		{Method: get, Path: recordsPath, Right: portal.OrgMember, Serve: p.showRecords},
		{Method: post, Path: recordsPath, Right: portal.OrgMember, Action: stepup.Search, Serve: p.findByNumber},
		{Method: get, Path: recordPath, Right: portal.OrgMember, Serve: p.showRecord},
		{Method: get, Path: recordProofPath, Right: portal.OrgMember, Serve: p.showReceipt},
		{Method: get, Path: receiptFilePath, Right: portal.OrgMember, Serve: p.sendReceipt},
		{Method: get, Path: receiptsPath, Right: portal.Anyone, Serve: p.showReceipts},
		{Method: get, Path: verifierPath, Right: portal.Anyone, Serve: p.sendVerifier},
		{Method: get, Path: csvPath, Right: portal.OrgMember, Export: true, Serve: p.exportCSV},
		{Method: get, Path: ndjsonPath, Right: portal.OrgMember, Export: true, Serve: p.exportNDJSON},
	})
}
