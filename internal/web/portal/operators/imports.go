package operators

import (
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// importsShown is the number of imports on one page.
const importsShown = 25

// ImportList returns one page of imports. The rows link to pages below base. The
// list itself is at path, which is not the address of the request when an upload
// failed.
func (s Supply) ImportList(r *http.Request, rules Rules, path, base string, f supply.ImportFilter) (ImportsData, error) {
	f.Limit, f.After = importsShown, web.CursorID(r)
	list, next, err := s.Lines.ImportPage(r.Context(), f)
	if err != nil {
		return ImportsData{}, err
	}
	d := ImportsData{Now: s.Now()}
	for i := range list {
		d.Rows = append(d.Rows, NewImportRow(&list[i], rules.Plan, base))
	}
	links := web.PageLinks(&http.Request{URL: &url.URL{Path: path}}, web.IDCursor(f.After), web.IDCursor(next))
	d.First, d.Next = links.First, links.Next
	return d, nil
}

// LastImport returns the newest import of a network, or nil for none.
func (s Supply) LastImport(r *http.Request, rules Rules, n numbering.Network, base string) (*ImportRow, error) {
	list, _, err := s.Lines.ImportPage(r.Context(), supply.ImportFilter{Network: n, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	row := NewImportRow(&list[0], rules.Plan, base)
	return &row, nil
}

// importStates describe each state in a word and in a sentence.
var importStates = map[string]kit.StateText{
	supply.Checking:  {Word: "Being checked", Meaning: "The file is compared with the stored lines. Nothing is applied yet.", Tone: kit.Info},
	supply.Held:      {Word: "Held", Meaning: "Nothing of it is applied yet: the regulator's staff review it first, as the reason says.", Tone: kit.Warn},
	supply.Applying:  {Word: "Being applied", Meaning: "The rows are applied in batches.", Tone: kit.Info},
	supply.Finished:  {Word: "Applied", Meaning: "All rows that were not rejected are applied.", Tone: kit.Good},
	supply.Checked:   {Word: "Dry run finished", Meaning: "The file was checked. A dry run applies nothing.", Tone: kit.Neutral},
	supply.Rejected:  {Word: "Rejected", Meaning: "The file as a whole cannot be used. Nothing of it is applied, unless it failed while it was being applied.", Tone: kit.Bad},
	supply.Cancelled: {Word: "Cancelled", Meaning: "It was cancelled before it was finished. Rows that were applied until then stay.", Tone: kit.Neutral},
	supply.Voiding:   {Word: "Being voided", Meaning: "The regulator's staff void this snapshot. What it changed is being taken back.", Tone: kit.Info},
	supply.Voided:    {Word: "Voided", Meaning: "The regulator's staff voided this snapshot. What it changed was taken back.", Tone: kit.Neutral},
}

var importKinds = map[linefile.Kind]string{linefile.Snapshot: "Snapshot", linefile.Events: "Events"} //nolint:exhaustive // suppliers send no questions

// senders name the senders of files that are no operators.
var senders = map[line.Authority]string{line.ClearingHouse: "Clearing house", line.Sector: "Sector regulator", line.Regulator: "Regulator"} //nolint:exhaustive // operators have names

// NewImportRow returns an import as a row that links to its page below base.
func NewImportRow(im *supply.Import, plan *numbering.Plan, base string) ImportRow {
	state := importStates[im.State]
	switch {
	case im.State != supply.Finished || im.Counts.Refused == 0:
	case im.Counts.Refused < im.Rows:
		state.Word, state.Tone = "Applied, some rows rejected", kit.Warn
	default:
		state.Word, state.Tone = "All rows rejected", kit.Bad
	}
	name, known := senders[im.Authority]
	if !known {
		name = plan.Name(im.Network)
	}
	kind := importKinds[im.Kind]
	if im.IsBase() {
		kind = "Base of ports"
	}
	return ImportRow{
		ID: im.ID.String(), Href: ImportURL(base, im.ID), Network: plan.Code(im.Network), NetworkName: name, Kind: kind, State: state.Word, Tone: state.Tone, Meaning: state.Meaning,
		DryRun: im.DryRun, Reason: im.Reason, Rows: im.Rows, Rejected: im.Counts.Refused, Rate: int64(im.Rate() + 0.5), AsOf: im.AsOf, Created: im.Created,
		InProgress: im.State == supply.Checking || im.State == supply.Applying, Held: im.State == supply.Held, Inactive: im.State == supply.Cancelled || im.State == supply.Voided,
	}
}

// PathImport returns the import that the path names.
func (s Supply) PathImport(r *http.Request) (supply.Import, error) {
	id, err := portal.PathID(r, "import")
	if err != nil {
		return supply.Import{}, err
	}
	im, err := s.Lines.Import(r.Context(), id)
	if portal.IsCode(err, fault.NotFound) {
		return supply.Import{}, portal.ErrNotFound
	}
	return im, err
}

// ImportData returns everything that the page of one import shows, except the
// actions that this visitor may take.
func (s Supply) ImportData(r *http.Request, rules Rules, im *supply.Import, base string) (ImportData, error) {
	rejected, err := s.rejectedRows(r, im, ImportURL(base, im.ID))
	if err != nil {
		return ImportData{}, err
	}
	confirmed, err := audit.List(r.Context(), s.Pool, audit.Filter{Subject: im.ID, Action: string(audit.ImportMeant), Limit: 1})
	if err != nil {
		return ImportData{}, err
	}
	examples, err := s.exampleGroups(r, im)
	if err != nil {
		return ImportData{}, err
	}
	c := im.Counts
	d := ImportData{
		Row: NewImportRow(im, rules.Plan, base), Snapshot: im.Kind == linefile.Snapshot && !im.IsBase(), Console: im.Source == "cli", Source: importSources[im.Source], Bytes: im.Bytes,
		Rejected: rejected, Examples: examples, Started: im.Started, Updated: im.Updated, Finished: im.Finished, Now: s.Now(),
		Added: c.Added, Changed: c.Changed, Unchanged: c.Unchanged, Ended: c.Ended, Duplicates: c.Duplicates, NoEffect: c.NoEffect, Waiting: c.Waiting, PortedOut: c.PortedOut,
	}
	if len(confirmed) > 0 {
		d.Intentional = confirmed[0].At
	}
	return d, nil
}

// importSources says how a file came.
var importSources = map[string]string{"api": "API", "portal": "Portal", "cli": "Command line"}

func importTitle(snapshot bool) string {
	if snapshot {
		return "Snapshot import"
	}
	return "Events import"
}

// ImportPage returns the frame of an import's page. Parent is the page to which
// its breadcrumb leads.
func ImportPage(d *ImportData, parent kit.Link) kit.Page {
	page := kit.Page{Title: importTitle(d.Snapshot), Crumbs: []kit.Link{parent}, Active: parent.Href}
	if d.Row.InProgress || d.Row.Held { // a script refreshes an import in progress; the button works without scripts
		page.Actions = []kit.Action{{Label: "Refresh", Href: d.Row.Href, Kind: kit.Secondary}}
	}
	if d.Row.InProgress {
		page.Actions = append(page.Actions, d.Tools...)
	}
	return page
}

// ImportURL returns the address of an import's page below base.
func ImportURL(base string, id uuid.UUID) string { return base + "/" + id.String() }
