package present

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/web"
)

// importsShown is the number of imports on one page.
const importsShown = 25

// ImportList returns one page of imports. The rows link to pages below base. The
// list itself is at path, which is not the address of the request when an upload
// failed.
func (s Supply) ImportList(r *http.Request, rules Rules, path, base string, f supply.ImportFilter) (orgview.ImportsData, error) {
	f.Limit, f.After = importsShown, web.CursorID(r)
	list, next, err := s.Lines.ImportPage(r.Context(), f)
	if err != nil {
		return orgview.ImportsData{}, err
	}
	d := orgview.ImportsData{Now: s.Now()}
	for i := range list {
		d.Rows = append(d.Rows, ImportRow(&list[i], rules.Plan, base))
	}
	links := web.PageLinks(&http.Request{URL: &url.URL{Path: path}}, web.IDCursor(f.After), web.IDCursor(next))
	d.First, d.Next = links.First, links.Next
	return d, nil
}

// importStates describe each state in a word and in a sentence.
var importStates = map[string]StateText{
	supply.Checking:  {"Being checked", "The file is compared with the stored lines. Nothing is applied yet.", view.Info},
	supply.Held:      {"Held", "It would change so many lines that the regulator's staff review it first. Nothing of it is applied.", view.Warn},
	supply.Applying:  {"Being applied", "The rows are applied in batches.", view.Info},
	supply.Finished:  {"Applied", "All rows that were not rejected are applied.", view.Good},
	supply.Checked:   {"Dry run finished", "The file was checked. A dry run applies nothing.", view.Neutral},
	supply.Rejected:  {"Rejected", "The file as a whole cannot be used. Nothing of it is applied, unless it failed while it was being applied.", view.Bad},
	supply.Cancelled: {"Cancelled", "It was cancelled before it was finished. Rows that were applied until then stay.", view.Neutral},
	supply.Voiding:   {"Being voided", "The regulator's staff void this snapshot. What it changed is being taken back.", view.Info},
	supply.Voided:    {"Voided", "The regulator's staff voided this snapshot. What it changed was taken back.", view.Neutral},
}

var importKinds = map[linefile.Kind]string{linefile.Snapshot: "Snapshot", linefile.Events: "Events"} //nolint:exhaustive // operators send no questions

// ImportRow returns an import as a row that links to its page below base.
func ImportRow(im *supply.Import, plan *numbering.Plan, base string) orgview.ImportRow {
	state := importStates[im.State]
	switch {
	case im.State != supply.Finished || im.Counts.Refused == 0:
	case im.Counts.Refused < im.Rows:
		state.Word, state.Tone = "Applied, some rows rejected", view.Warn
	default:
		state.Word, state.Tone = "All rows rejected", view.Bad
	}
	return orgview.ImportRow{
		ID: im.ID.String(), Href: ImportURL(base, im.ID), Network: plan.Code(im.Network), NetworkName: plan.Name(im.Network), Kind: importKinds[im.Kind], State: state.Word, Tone: state.Tone, Meaning: state.Meaning,
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

// rejectedShown is the number of rejected rows on a page; the CSV file has all.
const rejectedShown = 20

// ImportData returns everything that the page of one import shows, except the
// actions that this visitor may take.
func (s Supply) ImportData(r *http.Request, rules Rules, im *supply.Import, base string) (orgview.ImportData, error) {
	rejected, err := s.Lines.FirstRefused(r.Context(), *im, rejectedShown)
	if err != nil {
		return orgview.ImportData{}, err
	}
	confirmed, err := audit.List(r.Context(), s.Pool, audit.Filter{Subject: im.ID, Action: string(audit.ImportMeant), Limit: 1})
	if err != nil {
		return orgview.ImportData{}, err
	}
	c := im.Counts
	d := orgview.ImportData{
		Row: ImportRow(im, rules.Plan, base), Snapshot: im.Kind == linefile.Snapshot, Console: im.Source == "cli", Bytes: im.Bytes,
		Started: im.Started, Updated: im.Updated, Finished: im.Finished, Now: s.Now(),
		Added: c.Added, Changed: c.Changed, Unchanged: c.Unchanged, Ended: c.Ended, Duplicates: c.Duplicates, NoEffect: c.NoEffect, Waiting: c.Waiting, PortedOut: c.PortedOut,
	}
	for _, row := range rejected {
		d.Rejected = append(d.Rejected, orgview.RejectedRow{Line: row.Line, Column: row.Column, Reason: row.Reason, Meaning: rejectionMeaning(row.Reason)})
	}
	if len(confirmed) > 0 {
		d.Intentional = confirmed[0].At
	}
	return d, nil
}

// rejectionMeaning explains the code with which a row was rejected.
func rejectionMeaning(reason string) string {
	if text, ok := rejectionMeanings[reason]; ok {
		return text
	}
	for _, r := range linefile.Reasons() {
		if r.Reason == reason {
			return strings.ReplaceAll(r.Meaning, "`", "")
		}
	}
	return ""
}

// rejectionMeanings explain the codes that are not about the file format alone;
// package linefile explains those.
var rejectionMeanings = map[string]string{
	"BAD_VALUE":         "the column does not accept this value with this type",
	"BLACKLISTED":       "the number is blacklisted, and no new tenure can start",
	"CONTRADICTS":       "it contradicts what was reported before",
	"DUPLICATE":         "the number appears in the file more than once",
	"ID_REUSED":         "another event has this id",
	linefile.NotAllowed: "the column does not accept this value here",
	"NOT_ALLOCATED":     "the number is in no range that was allocated at that time",
	"NOT_FOUND":         "no event about this number has that id",
	"NOT_YOURS":         "the number was not with this network at that time",
	"PORTED_OUT":        "the number has moved to another network",
	"TOO_MANY_EVENTS":   "this network has reported too many events about the number",
	"TOO_MANY_WAITING":  "too many events of this network wait for a port; send it again later",
	"TOO_SOON":          "the churn notice came too late",
	"VOIDED":            "the event is withdrawn already",
}

func importTitle(snapshot bool) string {
	if snapshot {
		return "Snapshot import"
	}
	return "Events import"
}

// ImportPage returns the frame of an import's page. Parent is the page to which
// its breadcrumb leads.
func ImportPage(d *orgview.ImportData, parent view.Link) view.Page {
	page := view.Page{Title: importTitle(d.Snapshot), Crumbs: []view.Link{parent}, Active: parent.Href}
	if d.Row.InProgress || d.Row.Held { // a script refreshes an import in progress; the button works without scripts
		page.Actions = []view.Action{{Label: "Refresh", Href: d.Row.Href, Kind: view.Secondary}}
	}
	if d.Row.InProgress {
		page.Actions = append(page.Actions, d.Tools...)
	}
	return page
}

// ImportURL returns the address of an import's page below base.
func ImportURL(base string, id uuid.UUID) string { return base + "/" + id.String() }

// SendRejectedRows sends the rejected rows as a CSV file. A failure before the
// first byte is returned; after it, the connection is cut so that the file does
// not look complete.
func (s Supply) SendRejectedRows(w http.ResponseWriter, r *http.Request, im supply.Import) error {
	out := &download{w: w, kind: "text/csv; charset=utf-8", name: "rejected-" + im.ID.String() + ".csv"}
	buffered := bufio.NewWriter(out)
	err := s.Lines.RefusedRows(r.Context(), im, buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil && out.started {
		portal.AbortDownload(w, r, err)
		return nil
	}
	return err
}

// download sends the headers of a file with its first bytes, so that an error
// before them can still become an error page.
type download struct {
	w          http.ResponseWriter
	kind, name string
	started    bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.started {
		d.started = true
		portal.StartDownload(d.w, d.kind, d.name)
	}
	return d.w.Write(b)
}
