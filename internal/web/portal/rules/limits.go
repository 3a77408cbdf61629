package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	limitPath = "/portal/desk/limits/{entity}"
)

// limitRoutes are the pages about limits and the alerts of the guard. The guard's
// e-mails go to administrators, so they are the ones who decide.
func (p *Pages) limitRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append([]portal.Route{
		{Method: get, Path: portal.LimitsPath, Right: portal.Staff, Serve: p.showAlerts},
		{Method: get, Path: limitPath, Right: portal.Staff, Serve: p.ShowForm(p.deskLimits)},
		{Method: post, Path: limitPath, Right: portal.Administrator, Action: stepup.SetLimits, Serve: p.setLimits},
	}, portal.Actions(p.Portal, p.released, portal.Action[released]{
		Path: limitPath + "/release", Right: portal.Administrator, Change: stepup.ReleaseEntity, Ask: releaseQuestion, Do: p.release,
	})...)
}

const (
	alertsShown     = 50 // on one page
	pastAlertsShown = 20 // of one organisation
)

var alertsPage = kit.Page{Title: "Limits and alerts", Lead: "Organisations whose requests look like number scanning, and the limits of each organisation.", Active: portal.LimitsPath}

// showAlerts serves GET /portal/desk/limits. With an organisation in the query it
// redirects to its limits.
func (p *Pages) showAlerts(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	d := LimitsData{Form: kit.Form{Values: q}, Past: q.Get("show") == "past", CanEdit: portal.VisitOf(r).Has(portal.Administrator), Now: p.Now()}
	status := http.StatusOK
	if text := strings.TrimSpace(q.Get("entity")); text != "" {
		id, err := p.findEntity(r, &d, text)
		if err != nil {
			return err
		}
		if id != "" {
			http.Redirect(w, r, portal.LimitsPath+"/"+id, http.StatusSeeOther) //nolint:gosec // the id was parsed and is written anew
			return nil
		}
		if d.Form.Wrong() {
			status = http.StatusUnprocessableEntity
		}
	}
	f := guard.AlertFilter{Past: d.Past, Limit: alertsShown + 1} // one more shows whether there is a next page
	f.Before = web.CursorID(r)
	list, err := guard.Find(r.Context(), p.Pool, d.Now, f)
	if err != nil {
		return err
	}
	list, next := web.CutPage(list, alertsShown, func(a *guard.AlertRow) string { return a.ID.String() })
	links := web.PageLinks(r, web.IDCursor(f.Before), next)
	d.First, d.Next = links.First, links.Next
	if d.Rows, err = AlertRows(r, p.Portal, list, d.Now); err != nil {
		return err
	}
	return p.ShowStatus(w, r, status, alertsPage, Limits(d))
}

// findEntity returns the id of the organisation with an id or a name. If several
// match, they are put into d to choose from; if none does, the form gets an error.
func (p *Pages) findEntity(r *http.Request, d *LimitsData, text string) (string, error) {
	if id, err := uuid.Parse(text); err == nil {
		_, err := p.Registry.Entity(r.Context(), id)
		if portal.IsCode(err, fault.NotFound) {
			portal.AddFieldError(&d.Form, false, "entity", "There is no organisation with this id.")
			return "", nil
		}
		return id.String(), err
	}
	one, several, err := p.FindOrganisation(r, portal.SearchText(text))
	if err != nil {
		return "", err
	}
	for i := range several {
		several[i].Value = portal.LimitsPath + "/" + several[i].Value
	}
	portal.AddFieldError(&d.Form, one.Value != "" || len(several) > 0, "entity", portal.NoOrganisation)
	d.Matches = several
	return one.Value, nil
}

// AlertRows returns alerts as rows, with the names of those who released them.
func AlertRows(r *http.Request, p *portal.Portal, list []guard.AlertRow, now time.Time) ([]AlertRow, error) {
	var actors []audit.Actor
	for i := range list {
		actors = append(actors, releasedBy(&list[i]))
	}
	names, err := p.NamesOf(r.Context(), actors)
	if err != nil {
		return nil, err
	}
	rows := make([]AlertRow, 0, len(list))
	for i := range list {
		rows = append(rows, alertRow(&list[i], names, now))
	}
	return rows, nil
}

// releasedBy returns who released an organisation from an alert.
func releasedBy(f *guard.AlertRow) audit.Actor {
	switch {
	case f.ReleasedAt.IsZero():
		return audit.Actor{}
	case f.ReleasedBy == uuid.Nil:
		return access.Operator
	}
	return audit.Actor{Kind: audit.Account, ID: f.ReleasedBy}
}

// alertLevels describe what the guard did.
var alertLevels = map[guard.Level]struct {
	word string
	tone kit.Tone
}{
	guard.None: {"Nothing", kit.Neutral}, guard.Notified: {"Staff notified", kit.Info}, guard.Slowed: {"Slowed to a tenth", kit.Warn}, guard.Stopped: {"Stopped", kit.Bad},
}

func alertRow(f *guard.AlertRow, names portal.ActorNames, now time.Time) AlertRow {
	level := alertLevels[f.Level]
	row := AlertRow{
		ID: f.ID.String(), Subject: f.Entity.String(), Name: f.Name, Found: guard.Finding(&f.Alert), Level: level.word, Node: f.Node, Tone: level.tone,
		Since: f.Since, Inactive: !f.Active(now), Releasable: f.Active(now) && f.Until.IsZero(), Reason: f.Reason,
	}
	if f.Sponsor != uuid.Nil {
		row.Subject, row.Client = f.Sponsor.String(), true
	}
	if f.Kind == guard.BudgetUsed && f.Level == guard.Stopped {
		row.Level = "No new numbers"
	}
	switch {
	case !f.ReleasedAt.IsZero():
		row.State, row.By = "Released "+kit.Stamp(f.ReleasedAt), names.By(releasedBy(f))
		if f.QuietUntil.After(now) {
			row.Quiet = f.QuietUntil
		}
	case row.Inactive:
		row.State = "Ended " + kit.Stamp(f.Until)
	case !f.Until.IsZero():
		row.State = "Active until " + kit.Stamp(f.Until)
	default:
		row.State = "Active until it is released"
	}
	return row
}

// released is the subject that the path of a release names: an organisation, or the client that
// onboarded several which are slowed or stopped together.
type released struct {
	id       uuid.UUID
	name, at string // at is the page to return to
	client   bool
	alerts   []AlertRow // which end with it
}

func (p *Pages) released(r *http.Request) (s released, err error) {
	id, err := portal.PathID(r, "entity")
	if err != nil {
		return s, err
	}
	e, err := p.Registry.Entity(r.Context(), id)
	s = released{id: id, name: e.Name, at: portal.LimitsPath + "/" + id.String()}
	filter := guard.AlertFilter{Entity: id}
	if portal.IsCode(err, fault.NotFound) {
		var c access.ClientRow
		c, err = p.Access.Client(r.Context(), id)
		s = released{id: id, name: "the organisations of the client " + c.Name, at: portal.LimitsPath, client: true}
		filter = guard.AlertFilter{Sponsor: id}
	}
	if err != nil {
		return s, err
	}
	s.alerts, err = p.alertsOf(r, filter)
	s.alerts = slices.DeleteFunc(s.alerts, func(row AlertRow) bool { return row.Client != s.client }) // those of its sponsor do not end with it
	return s, err
}

func releaseQuestion(s *released, f kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Release organisation", Crumbs: []kit.Link{{Label: "Limits and alerts", Href: portal.LimitsPath}}, Label: "Request approval", Kind: kit.Danger, Cancel: s.at, Reason: true,
		Text: "The guard no longer slows or stops " + s.name + ". First ask the organisation what it is doing, and check its requests in the journal.", Extra: ReleaseExtra(f, s.alerts),
	}
}

// release ends what the guard does to an organisation.
func (p *Pages) release(r *http.Request, v *portal.Visit, s *released) (string, error) {
	form := guard.ReleaseForm{Entity: s.id, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID}
	if s.client {
		form.Entity, form.Sponsor = uuid.Nil, s.id
	}
	hours, err := strconv.Atoi(r.PostFormValue("quiet"))
	if err != nil || hours < 0 || hours > int(guard.MaxQuiet/time.Hour) {
		return "", fault.ErrInvalid.With(fault.Violation{Field: "quiet", Code: fault.NotAllowed, Message: "Choose one of the times."})
	}
	form.Quiet = time.Duration(hours) * time.Hour
	_, err = guard.Release(r.Context(), p.Pool, p.Now(), form)
	return portal.OrWaits(err, "guard.released", "entity.waits")
}
