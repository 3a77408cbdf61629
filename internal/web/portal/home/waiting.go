package home

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
)

// work has the tasks that wait for staff, counted up to maxWork each.
type work struct {
	approvals []request
	orders    []request
	files     int // held files of lines
	documents int // that can be reviewed
	conflicts int // events that contradict each other, or wait too long
	lists     int // held watch-lists
	alerts    int // active ones
}

// request is an approval or an order that waits for a second person.
type request struct {
	by    audit.Actor
	about uuid.UUID
	roles []string // that can confirm it; none: whoever decides
}

// maxWork is the highest count: whoever has more to do needs no exact number.
const maxWork = 100

// workFor is how long counts are used again. Every page of staff shows them in its
// menu.
const workFor = 5 * time.Second

// workCache keeps the last counts of this node.
type workCache struct {
	mu    sync.Mutex
	at    time.Time
	last  work
	valid bool
}

// work returns what waits for staff, at most a few seconds old.
func (p *Pages) work(ctx context.Context) (work, error) {
	c := &p.counted
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := p.Now(); !c.valid || now.Sub(c.at) > workFor || now.Before(c.at) {
		w, err := p.countWaiting(ctx)
		if err != nil {
			return work{}, err
		}
		c.at, c.last, c.valid = now, w, true
	}
	return c.last, nil
}

func (p *Pages) countWaiting(ctx context.Context) (w work, err error) {
	approvals, err := p.Approvals.List(ctx, false, maxWork)
	if err != nil {
		return w, err
	}
	for i := range approvals {
		if approvals[i].State == approval.Waiting {
			w.approvals = append(w.approvals, request{approvals[i].RequestedBy, approvals[i].Subject, approval.ActionOf(approvals[i].Kind).Confirm})
		}
	}
	orders, err := (&order.Service{Supply: p.Lines}).List(ctx, true, maxWork)
	if err != nil {
		return w, err
	}
	for i := range orders {
		w.orders = append(w.orders, request{by: orders[i].RequestedBy})
	}
	if w.files, err = p.Lines.CountHeld(ctx); err != nil {
		return w, err
	}
	documents, _, err := p.Documents.List(ctx, document.Filter{States: []document.State{document.Clean}, Limit: maxWork})
	if err != nil {
		return w, err
	}
	if w.conflicts, err = p.Lines.CountOpen(ctx, maxWork); err != nil {
		return w, err
	}
	lists, err := (&watchlist.Service{Pool: p.Pool}).HeldLists(ctx)
	if err != nil {
		return w, err
	}
	held, err := filejob.HeldFiles(ctx, p.Pool)
	if err != nil {
		return w, err
	}
	alerts, err := guard.List(ctx, p.Pool, p.Now(), false, maxWork)
	w.documents, w.lists, w.alerts = len(documents), len(lists)+len(held), len(alerts)
	return w, err
}

// toConfirm counts what the visitor can confirm: nobody confirms the own request, or one about the
// own account.
func toConfirm(requested []request, v *portal.Visit) (n int) {
	me := v.Who.Actor()
	for _, r := range requested {
		if !r.by.Same(me) && r.about != v.Who.Account && (r.roles == nil || slices.Contains(r.roles, string(v.Who.Role))) {
			n++
		}
	}
	return n
}

// WaitingFor counts what waits for a visitor behind the entries of the menu, by path. It
// counts only what the visitor may decide.
func (p *Pages) WaitingFor(ctx context.Context, v *portal.Visit) (map[string]int, error) {
	all := map[string]int{}
	if !v.Has(portal.Decider) {
		return all, nil
	}
	w, err := p.work(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range p.waitingRows(&w, v) {
		all[row.menu] += row.n
	}
	return all, nil
}

// waitingRow is one kind of work.
type waitingRow struct {
	label, href string
	menu        string // the entry of the menu that counts it
	n           int
}

// waitingRows returns the kinds of work that a visitor may decide, most urgent first.
func (p *Pages) waitingRows(w *work, v *portal.Visit) []waitingRow {
	rows := []waitingRow{
		{"Approvals and orders to confirm", portal.ApprovalsPath, portal.ApprovalsPath, toConfirm(w.approvals, v) + toConfirm(w.orders, v)},
		{"Held files of lines", portal.BoardPath, portal.BoardPath, w.files},
		{"Conflicts and events that wait", conflictsPath, conflictsPath, w.conflicts},
		{"Documents to review", documents.ReviewsPath, documents.ReviewsPath, w.documents},
	}
	if v.Has(portal.Administrator) {
		rows = append(rows, waitingRow{"Active alerts", portal.LimitsPath, portal.LimitsPath, w.alerts}, waitingRow{"Held watch-lists and files", heldListsPath, heldListsPath, w.lists})
	}
	return rows
}

// Pages of other packages to which the home page leads, where they exist.
const (
	conflictsPath = "/portal/desk/conflicts"
	heldListsPath = "/portal/desk/watch"
)
