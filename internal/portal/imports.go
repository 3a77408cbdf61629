package portal

import (
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	linepolicy "github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

// lineRules are the rules by which supply is judged now.
type lineRules struct {
	policy *linepolicy.Policy
	plan   *numbering.Plan
}

func (p *Portal) lineRules(r *http.Request) (rules lineRules, err error) {
	rules.policy, rules.plan, err = p.Lines.Lines.InForce(r.Context(), p.Pool, p.Now())
	return rules, err
}

func isNoNetwork(err error) bool { return errors.Is(err, supply.ErrNoNetwork) }

// standing is how a network supplies, and what it told day by day.
func (p *Portal) standing(r *http.Request, rules lineRules, code string, n numbering.Network) (view.StandingData, error) {
	now := p.Now().UTC()
	from := now.AddDate(0, 0, -supplyDays)
	list, err := p.Lines.Standings(r.Context(), code, from)
	if err != nil {
		return view.StandingData{}, err
	}
	days, err := p.Lines.Days(r.Context(), n, from, now)
	if err != nil {
		return view.StandingData{}, err
	}
	reaches, err := p.Lines.Reaches(r.Context(), n, from, now)
	if err != nil {
		return view.StandingData{}, err
	}
	d := standingData(&list[0], rules.policy)
	d.Chart = toldChart(days)
	d.Reach, d.Behind = reachCharts(reaches, rules.policy)
	d.Now = now
	return d, nil
}

func standingData(s *supply.Standing, rule *linepolicy.Policy) view.StandingData {
	d := view.StandingData{
		Network: s.Network, Name: s.Name, Through: s.SuppliedThrough, Known: s.KnownSince, Complete: s.CompleteSince, Silent: s.Silent,
		Lines: s.Lines, Capacity: s.Capacity, Refused: s.Refused, Days: supplyDays, Freshness: rule.FreshnessDays,
	}
	for _, k := range s.Kinds {
		row := view.ToldRow{Kind: k.Kind, Accepted: k.Accepted, Late: k.Late, Early: k.Early, Mean: k.Mean, Worst: k.Worst}
		switch k.Kind {
		case "ENDED":
			row.Rule = view.Days(rule.ChurnReportDays) + " after the end at the latest"
		case "ASSIGNED":
			row.Rule = "not before " + view.Days(rule.QuarantineDays) + " of quarantine"
		}
		d.Told, d.Late, d.Early, d.Accepted = append(d.Told, row), d.Late+k.Late, d.Early+k.Early, d.Accepted+k.Accepted
	}
	return d
}

// importList is a page of imports. They lead to pages below base, and the list's
// own pages are at path.
func (p *Portal) importList(r *http.Request, rules lineRules, path, base string, f supply.ImportFilter) (view.ImportsData, error) {
	f.Limit = importsShown
	if id, err := uuid.Parse(r.URL.Query().Get("after")); err == nil { // a cursor that is none leads to the beginning
		f.After = id
	}
	list, next, err := p.Lines.ImportPage(r.Context(), f)
	if err != nil {
		return view.ImportsData{}, err
	}
	d := view.ImportsData{Now: p.Now()}
	for i := range list {
		d.Rows = append(d.Rows, importRow(&list[i], rules.plan, base))
	}
	if f.After != uuid.Nil {
		d.First = path
	}
	if next != uuid.Nil {
		d.Next = path + "?after=" + next.String()
	}
	return d, nil
}

// importStates say what a state means, in a word and in a sentence.
var importStates = map[string]struct {
	word, means string
	tone        view.Tone
}{
	supply.Checking:  {"Being checked", "The file is read and compared with what is known. Nothing is applied yet.", view.Info},
	supply.Held:      {"Held", "It would change so much that the regulator's staff look at it first. Nothing of it is applied.", view.Warn},
	supply.Applying:  {"Being applied", "The rows are applied, piece by piece.", view.Info},
	supply.Finished:  {"Applied", "All rows that were not refused are applied.", view.Good},
	supply.Checked:   {"Dry run, done", "The file was checked. A dry run applies nothing.", view.Neutral},
	supply.Rejected:  {"Refused", "The file as a whole is of no use. Nothing of it is applied, unless it broke off on the way.", view.Bad},
	supply.Cancelled: {"Cancelled", "It was ended before it was done. Rows that were applied until then stay.", view.Neutral},
}

var importKinds = map[linefile.Kind]string{linefile.Snapshot: "Snapshot", linefile.Events: "Events"}

func importRow(im *supply.Import, plan *numbering.Plan, base string) view.ImportRow {
	state := importStates[im.State]
	switch {
	case im.State != supply.Finished || im.Counts.Refused == 0:
	case im.Counts.Refused < im.Rows:
		state.word, state.tone = "Applied, some refused", view.Warn
	default:
		state.word, state.tone = "All rows refused", view.Bad
	}
	return view.ImportRow{
		ID: im.ID.String(), Href: importHref(base, im.ID), Network: plan.Code(im.Network), Called: plan.Name(im.Network), Kind: importKinds[im.Kind], State: state.word, Tone: state.tone, Means: state.means,
		DryRun: im.DryRun, Reason: im.Reason, Rows: im.Rows, Refused: im.Counts.Refused, Rate: int64(im.Rate() + 0.5), AsOf: im.AsOf, Created: im.Created,
		Working: im.State == supply.Checking || im.State == supply.Applying, Held: im.State == supply.Held, Over: im.State == supply.Cancelled,
	}
}

// importNamed returns the import that the path names.
func (p *Portal) importNamed(r *http.Request) (supply.Import, error) {
	id, err := idOf(r, "import")
	if err != nil {
		return supply.Import{}, err
	}
	im, err := p.Lines.Import(r.Context(), id)
	if isCode(err, fault.NotFound) {
		return supply.Import{}, errNoPage
	}
	return im, err
}

// refusedShown is how many refused rows stand on a page; the file has the rest.
const refusedShown = 20

func (p *Portal) importData(r *http.Request, rules lineRules, im *supply.Import, base string) (view.ImportData, error) {
	refused, err := p.Lines.FirstRefused(r.Context(), *im, refusedShown)
	if err != nil {
		return view.ImportData{}, err
	}
	said, err := audit.List(r.Context(), p.Pool, audit.Filter{Subject: im.ID, Action: string(audit.ImportMeant), Limit: 1})
	if err != nil {
		return view.ImportData{}, err
	}
	c := im.Counts
	d := view.ImportData{
		Row: importRow(im, rules.plan, base), Snapshot: im.Kind == linefile.Snapshot, Console: im.Source == "cli", Bytes: im.Bytes,
		Started: im.Started, Updated: im.Updated, Finished: im.Finished, Now: p.Now(),
		Added: c.Added, Changed: c.Changed, Unchanged: c.Unchanged, Ended: c.Ended, Duplicates: c.Duplicates, NoEffect: c.NoEffect, PortedOut: c.PortedOut,
	}
	for _, row := range refused {
		d.Refused = append(d.Refused, view.RefusedRow{Line: row.Line, Column: row.Column, Reason: row.Reason, Means: refusalMeans(row.Reason)})
	}
	if len(said) > 0 {
		d.Meant = said[0].At
	}
	return d, nil
}

// refusalMeans says what a reason means.
func refusalMeans(reason string) string {
	if words, ok := refusalWords[reason]; ok {
		return words
	}
	for _, r := range linefile.Reasons() {
		if r.Reason == reason {
			return strings.ReplaceAll(r.Meaning, "`", "")
		}
	}
	return ""
}

// refusalWords are the reasons that are not about form alone.
var refusalWords = map[string]string{
	"BAD_VALUE":         "the value is not one of those that the column takes with this type",
	"BLACKLISTED":       "the number is blacklisted, and no new tenure can begin",
	"CONTRADICTS":       "it contradicts what was told before",
	"DUPLICATE":         "the number stands in the file a second time",
	"ID_REUSED":         "another event about this number has this id",
	linefile.NotAllowed: "the column takes no such value here",
	"NOT_ALLOCATED":     "the number is in no range that was allocated then",
	"NOT_FOUND":         "nothing was told about this number under that id",
	"NOT_YOURS":         "the number was not with this network at that time",
	"PORTED_OUT":        "the number has moved to another network",
	"TOO_SOON":          "the churn is announced too late",
	"VOIDED":            "the event is withdrawn already",
}

var importTitles = map[bool]string{true: "Import of a snapshot", false: "Import of events"}

func importPage(d *view.ImportData, above, path string) view.Page {
	page := view.Page{Title: importTitles[d.Snapshot], Crumbs: []view.Link{{Label: above, Href: path}}, Active: path}
	if d.Row.Working || d.Row.Held { // scripts do it for what is being worked on; everybody can
		page.Actions = []view.Action{{Label: "Look again", Href: d.Row.Href, Kind: view.Secondary}}
	}
	if d.Row.Working {
		page.Actions = append(page.Actions, d.Tools...)
	}
	return page
}
