package desk

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/impact"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/watchlist"
)

const (
	watchPath       = "/portal/desk/watch"
	listReleasePath = "/portal/desk/watch/{list}/release"
	listRejectPath  = "/portal/desk/watch/{list}/reject"
	noticesPath     = "/portal/desk/notices"
)

// watchRoutes are the pages about held watch-lists and notices about past answers. No page
// shows the members of a list.
func (p *Pages) watchRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: watchPath, Right: portal.Staff, Serve: p.showHeldLists},
		{Method: get, Path: listReleasePath, Right: portal.Administrator, Serve: p.releaseList},
		{Method: post, Path: listReleasePath, Right: portal.Administrator, Serve: p.releaseList},
		{Method: get, Path: listRejectPath, Right: portal.Administrator, Serve: p.rejectList},
		{Method: post, Path: listRejectPath, Right: portal.Administrator, Serve: p.rejectList},
		{Method: get, Path: noticesPath, Right: portal.Staff, Serve: p.showNotices},
	}
}

var watchPage = view.Page{Title: "Watch-lists", Lead: "Lists of numbers that wait for you, because too many of their numbers are nobody's.", Active: watchPath}

// showHeldLists serves GET /portal/desk/watch.
func (p *Pages) showHeldLists(w http.ResponseWriter, r *http.Request) error {
	held, err := (&watchlist.Service{Pool: p.Pool, Now: p.Now}).HeldLists(r.Context())
	if err != nil {
		return err
	}
	d := deskview.HeldListsData{Now: p.Now(), CanEdit: portal.VisitOf(r).Has(portal.Administrator)}
	owners := make([]uuid.UUID, len(held))
	for i := range held {
		owners[i] = held[i].Entity
	}
	names, err := present.NamesOf(r.Context(), p.Portal, nil, owners...)
	if err != nil {
		return err
	}
	for i := range held {
		f := &held[i]
		d.Rows = append(d.Rows, deskview.HeldListRow{
			ID: f.ID.String(), Entity: f.Entity.String(), Owner: names.Called(f.Entity, f.Entity.String()), Name: f.Name, Members: f.Members,
			Sampled: f.Sampled, Missing: f.Missing, Uncovered: f.Uncovered, Changed: f.ChangedAt,
		})
	}
	return p.Show(w, r, watchPage, deskview.HeldLists(d))
}

// listDecision is what staff can decide about a held list.
type listDecision struct {
	path, title, label, text, done string
	twoPeople                      bool
	carryOut                       func(p *Pages, r *http.Request, f watchlist.ReleaseForm) error
}

var (
	releaseDecision = listDecision{
		path: "release", title: "Release watch-list", label: "Request approval", done: "list.released", twoPeople: true,
		text: "is told from now on what happens to these numbers. A list of numbers at random reads the country's numbers out: ask the organisation first where they come from.",
		carryOut: func(p *Pages, r *http.Request, f watchlist.ReleaseForm) error {
			return watchlist.RequestRelease(r.Context(), p.Pool, p.Now(), f)
		},
	}
	rejectDecision = listDecision{
		path: "reject", title: "Reject watch-list", label: "Reject watch-list", done: "list.rejected",
		text: "loses this list: it is deleted with its numbers at once, which cannot be undone. The organisation reads in its feed that it was rejected, and not the reason. The numbers stay counted for this year.",
		carryOut: func(p *Pages, r *http.Request, f watchlist.ReleaseForm) error {
			return watchlist.Reject(r.Context(), p.Pool, p.Now(), f)
		},
	}
)

// releaseList serves GET and POST /portal/desk/watch/{list}/release.
func (p *Pages) releaseList(w http.ResponseWriter, r *http.Request) error {
	return p.decideList(w, r, &releaseDecision)
}

// rejectList serves GET and POST /portal/desk/watch/{list}/reject.
func (p *Pages) rejectList(w http.ResponseWriter, r *http.Request) error {
	return p.decideList(w, r, &rejectDecision)
}

func (p *Pages) decideList(w http.ResponseWriter, r *http.Request, d *listDecision) error {
	id, err := portal.PathID(r, "list")
	if err != nil {
		return err
	}
	list, err := watchlist.HeldList(r.Context(), p.Pool, id)
	if err != nil {
		return err
	}
	page := view.Page{Title: d.title, Crumbs: []view.Link{{Label: watchPage.Title, Href: watchPath}}, Active: watchPath}
	var form view.Form
	if r.Method == http.MethodPost {
		v := portal.VisitOf(r)
		err = d.carryOut(p, r, watchlist.ReleaseForm{List: id, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID})
		var invalid bool
		switch form, invalid = portal.FormErrors(r, err); {
		case waits(err):
			return p.RedirectWithFlash(w, r, watchPath, "entity.waits")
		case err == nil:
			return p.RedirectWithFlash(w, r, watchPath, d.done)
		case !invalid:
			return err
		}
	}
	names, failed := present.NamesOf(r.Context(), p.Portal, nil, list.Entity)
	if failed != nil {
		return failed
	}
	q := view.ConfirmData{
		Text: fmt.Sprintf("%s %s The list %q has %s numbers. Of a sample of %s, nobody has %s, and %s lie where nobody supplies.", names.Called(list.Entity, "The organisation"), d.text, list.Name,
			view.Count(list.Members), view.Count(list.Sampled), view.Count(list.Missing), view.Count(list.Uncovered)),
		Action: watchPath + "/" + id.String() + "/" + d.path, Label: d.label, Kind: view.Danger, Cancel: watchPath, Reason: true, Form: form,
	}
	if d.twoPeople {
		q.Extra = deskview.NeedsTwo()
	}
	if err != nil {
		return p.ShowInvalid(w, r, err, page, view.Confirm(q))
	}
	return p.Show(w, r, page, view.Confirm(q))
}

const (
	noticeDays   = 30
	roundsShown  = 50
	maxNoticeRow = 200 // organisations on the page
)

var noticesPage = view.Page{Title: "Notices", Lead: "Past answers that would be different now, of which organisations were told.", Active: noticesPath}

// showNotices serves GET /portal/desk/notices.
func (p *Pages) showNotices(w http.ResponseWriter, r *http.Request) error {
	notices, since := &impact.Notices{Pool: p.Pool, Now: p.Now}, p.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-noticeDays)
	rounds, err := notices.Rounds(r.Context(), since, roundsShown)
	if err != nil {
		return err
	}
	counts, err := notices.Counts(r.Context(), since)
	if err != nil {
		return err
	}
	d := deskview.NoticesData{Days: noticeDays, Now: p.Now(), Rows: noticeRows(counts)}
	for _, one := range rounds {
		d.Rounds = append(d.Rounds, deskview.NoticeRound{At: one.At, Answers: one.Answers, Entities: one.Entities, Acknowledged: one.Acknowledged})
	}
	for _, one := range d.Rows {
		d.Told += one.Told
		d.Acknowledged += one.Acknowledged
	}
	d.Rows = d.Rows[:min(len(d.Rows), maxNoticeRow)]
	return p.Show(w, r, noticesPage, deskview.Notices(d))
}

// noticeRows adds the days of each organisation up. Those with the most notices that are not
// acknowledged come first: they may have to be called.
func noticeRows(counts []impact.Count) (rows []deskview.NoticeRow) {
	at := map[uuid.UUID]int{}
	for _, c := range counts { // the oldest day first
		i, found := at[c.Entity]
		if !found {
			i = len(rows)
			at[c.Entity], rows = i, append(rows, deskview.NoticeRow{Entity: c.Entity.String(), Name: c.Name})
		}
		rows[i].Last, rows[i].Told, rows[i].Acknowledged = c.Day, rows[i].Told+c.Told, rows[i].Acknowledged+c.Acknowledged
	}
	slices.SortStableFunc(rows, func(a, b deskview.NoticeRow) int {
		return cmp.Or(cmp.Compare(b.Told-b.Acknowledged, a.Told-a.Acknowledged), cmp.Compare(a.Name, b.Name))
	})
	return rows
}
