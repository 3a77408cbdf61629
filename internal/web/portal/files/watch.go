package files

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const (
	watchPath   = "/portal/desk/watch"
	noticesPath = "/portal/desk/notices"
)

// watchRoutes are the pages about held watch-lists and notices about past answers. No page
// shows the members of a list.
func (p *Pages) watchRoutes() []portal.Route {
	return append(p.heldActions(), []portal.Route{
		{Method: http.MethodGet, Path: watchPath, Right: portal.Staff, Serve: p.showHeldLists},
		{Method: http.MethodGet, Path: noticesPath, Right: portal.Staff, Serve: p.showNotices},
	}...)
}

var watchPage = kit.Page{Title: "Lists and files", Lead: "Watch-lists and files of numbers that wait for you, because they look like number scanning.", Active: watchPath}

// showHeldLists serves GET /portal/desk/watch.
func (p *Pages) showHeldLists(w http.ResponseWriter, r *http.Request) error {
	held, err := (&watchlist.Service{Pool: p.Pool, Now: p.Now}).HeldLists(r.Context())
	if err != nil {
		return err
	}
	files, err := filejob.HeldFiles(r.Context(), p.Pool)
	if err != nil {
		return err
	}
	var owners []uuid.UUID
	for i := range held {
		owners = append(owners, held[i].Entity)
	}
	for i := range files {
		owners = append(owners, files[i].Owner.Entity)
	}
	names, err := p.NamesOf(r.Context(), nil, owners...)
	if err != nil {
		return err
	}
	owner := func(id uuid.UUID) string { return names.Called(id, id.String()) }
	d := HeldListsData{Lists: held, Files: files, Owner: owner, CanEdit: portal.VisitOf(r).Has(portal.Administrator), Now: p.Now()}
	return p.Show(w, r, watchPage, HeldLists(d))
}

// heldThing is a list or a file that waits for staff: its owner, and what the guard found.
type heldThing struct {
	id             uuid.UUID
	owner, figures string
}

func (p *Pages) pathHeldList(r *http.Request) (heldThing, error) {
	id, err := portal.PathID(r, "list")
	if err != nil {
		return heldThing{}, err
	}
	list, err := watchlist.HeldList(r.Context(), p.Pool, id)
	if err != nil {
		return heldThing{}, err
	}
	return p.heldThing(r, id, list.Entity, fmt.Sprintf("The list %q has %s numbers. Of a sample of %s, nobody has %s, and %s lie where nobody supplies.", list.Name,
		kit.Count(list.Members), kit.Count(list.Sampled), kit.Count(list.Missing), kit.Count(list.Uncovered)))
}

func (p *Pages) pathHeldFile(r *http.Request) (heldThing, error) {
	id, err := portal.PathID(r, "job")
	if err != nil {
		return heldThing{}, err
	}
	f, err := filejob.HeldFile(r.Context(), p.Pool, id)
	if err != nil {
		return heldThing{}, err
	}
	return p.heldThing(r, id, f.Owner.Entity, fmt.Sprintf("The file has %s rows and %s different numbers. %s of them are in dense blocks, %s in equal steps, and about %s are not allocated.",
		kit.Count(f.Rows), kit.Count(f.Numbers), kit.Count(f.Dense), kit.Count(f.Steps), kit.Count(f.Missed)))
}

func (p *Pages) heldThing(r *http.Request, id, owner uuid.UUID, figures string) (heldThing, error) {
	names, err := p.NamesOf(r.Context(), nil, owner)
	return heldThing{id, names.Called(owner, "The organisation"), figures}, err
}

// heldActions are the decisions of administrators about a held list or file.
func (p *Pages) heldActions() []portal.Route {
	list := func(do func(context.Context, *pgxpool.Pool, time.Time, watchlist.ReleaseForm) error) func(*http.Request, *portal.Visit, *heldThing) error {
		return func(r *http.Request, v *portal.Visit, at *heldThing) error {
			return do(r.Context(), p.Pool, p.Now(), watchlist.ReleaseForm{List: at.id, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID})
		}
	}
	file := func(do func(context.Context, *pgxpool.Pool, time.Time, filejob.Decision) error) func(*http.Request, *portal.Visit, *heldThing) error {
		return func(r *http.Request, v *portal.Visit, at *heldThing) error {
			return do(r.Context(), p.Pool, p.Now(), filejob.Decision{Job: at.id, Reason: portal.OneLine(r.PostFormValue("reason")), By: v.Who.Actor(), Request: v.ID})
		}
	}
	return slices.Concat(portal.Actions(p.Portal, p.pathHeldList,
		heldAction("/portal/desk/watch/{list}/release", "list.released", list(watchlist.RequestRelease), kit.ConfirmData{
			Title: "Release watch-list", Label: "Request approval", Extra: kit.NeedsTwo(),
			Text: "is told from now on what happens to these numbers. A list of numbers at random reads the country's numbers out: ask the organisation first where they come from.",
		}),
		heldAction("/portal/desk/watch/{list}/reject", "list.rejected", list(watchlist.Reject), kit.ConfirmData{
			Title: "Reject watch-list", Label: "Reject watch-list",
			Text: "loses this list: it is deleted with its numbers at once, which cannot be undone. The organisation reads in its feed that it was rejected, and not the reason. The numbers stay counted for this year.",
		}),
	), portal.Actions(p.Portal, p.pathHeldFile,
		heldAction("/portal/desk/watch/files/{job}/release", "heldfile.released", file(filejob.RequestRelease), kit.ConfirmData{
			Title: "Release file", Label: "Request approval", Extra: kit.NeedsTwo(),
			Text: "gets an answer to every row of this file. A file that looks like a scan reads the country's numbers out: ask the organisation first where the numbers come from.",
		}),
		heldAction("/portal/desk/watch/files/{job}/reject", "heldfile.rejected", file(filejob.Reject), kit.ConfirmData{
			Title: "Reject file", Label: "Reject file",
			Text: "gets no answer to this file: its job fails, which cannot be undone. The organisation does not read the reason. The numbers stay counted for this year.",
		}),
	))
}

// heldAction is one of them: q.Text is what comes of it for the owner.
func heldAction(path, done string, do func(*http.Request, *portal.Visit, *heldThing) error, q kit.ConfirmData) portal.Action[heldThing] {
	q.Crumbs, q.Kind, q.Cancel, q.Reason = []kit.Link{{Label: watchPage.Title, Href: watchPath}}, kit.Danger, watchPath, true
	return portal.Action[heldThing]{
		Path: path, Right: portal.Administrator, Change: stepup.DecideWatchList,
		Ask: func(at *heldThing, _ kit.Form) kit.ConfirmData {
			asked := q
			asked.Text = at.owner + " " + q.Text + " " + at.figures
			return asked
		},
		Do: func(r *http.Request, v *portal.Visit, at *heldThing) (string, error) {
			return portal.OrWaits(do(r, v, at), done, "entity.waits")
		},
	}
}

const (
	noticeDays   = 30
	roundsShown  = 50
	maxNoticeRow = 200 // organisations on the page
)

var noticesPage = kit.Page{Title: "Notices", Lead: "Past answers that would be different now, of which organisations were told.", Active: noticesPath}

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
	d := NoticesData{Days: noticeDays, Now: p.Now(), Rounds: rounds, Rows: noticeRows(counts)}
	for _, one := range d.Rows {
		d.Told += one.Told
		d.Acknowledged += one.Acknowledged
	}
	d.Rows = d.Rows[:min(len(d.Rows), maxNoticeRow)]
	return p.Show(w, r, noticesPage, Notices(d))
}

// noticeRows adds the days of each organisation up. Those with the most notices that are not
// acknowledged come first: they may have to be called.
func noticeRows(counts []impact.Count) (rows []NoticeRow) {
	at := map[uuid.UUID]int{}
	for _, c := range counts { // the oldest day first
		i, found := at[c.Entity]
		if !found {
			i = len(rows)
			at[c.Entity], rows = i, append(rows, NoticeRow{Entity: c.Entity, Name: c.Name})
		}
		rows[i].Last, rows[i].Told, rows[i].Acknowledged = c.Day, rows[i].Told+c.Told, rows[i].Acknowledged+c.Acknowledged
	}
	slices.SortStableFunc(rows, func(a, b NoticeRow) int {
		return cmp.Or(cmp.Compare(b.Told-b.Acknowledged, a.Told-a.Acknowledged), cmp.Compare(a.Name, b.Name))
	})
	return rows
}
