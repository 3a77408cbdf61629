package home

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/approvals"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const homePath = "/portal/desk/home"

// Routes returns the route of the page.
func (p *Pages) Routes() []portal.Route {
	return []portal.Route{{Method: http.MethodGet, Path: homePath, Right: portal.Staff, Serve: p.showHome}}
}

const (
	homeDays     = 30
	homeTrail    = 8
	homeMessages = 5
	// oldCheckpoint is far above the time between two checkpoints, which is seconds.
	oldCheckpoint = 10 * time.Minute
)

// showHome serves GET /portal/desk/home.
func (p *Pages) showHome(w http.ResponseWriter, r *http.Request) error {
	ctx, v, now := r.Context(), portal.VisitOf(r), p.Now().UTC()
	d := HomeData{Decides: v.Has(portal.Decider), Weekday: now.Weekday().String(), Now: now}
	var err error
	if d.Decides {
		if err := p.fillWaiting(r, &d); err != nil {
			return err
		}
	}
	if err := p.fillNation(r, &d); err != nil {
		return err
	}
	if d.Messages, err = p.NewestMessages(r, homeMessages); err != nil {
		return err
	}
	list, err := audit.List(ctx, p.Pool, audit.Filter{Limit: homeTrail})
	if err != nil {
		return err
	}
	names, err := approvals.TrailNames(r, p.Portal, list)
	if err != nil {
		return err
	}
	d.Trail.Now = now
	for i := range list {
		d.Trail.Rows = append(d.Trail.Rows, approvals.NewTrailRow(&list[i], names))
	}
	return p.Show(w, r, kit.Page{Title: "Home"}, Home(d))
}

// fillNation fills in how the service is: the answers of all organisations, their errors,
// the supply of the operators and the public log.
func (p *Pages) fillNation(r *http.Request, d *HomeData) error {
	ctx, now := r.Context(), d.Now
	days, err := p.Tally.Days(ctx, uuid.Nil, access.Live, now.AddDate(0, 0, 1-homeDays), now)
	if err != nil {
		return err
	}
	d.Answers, _ = kit.AnswersChart(days)
	today, lastWeek := days[len(days)-1], days[len(days)-8]
	d.Today, d.LastWeek = today.Total, lastWeek.Total
	d.Statuses = countStatuses(today, lastWeek)
	used, err := p.Tally.AllUsage(ctx, access.Live, now)
	if err != nil {
		return err
	}
	d.Requests, d.Refused, d.Failed, d.Nodes = used.Requests, used.Refused, used.Failed, used.Nodes
	networks, err := p.Lines.NetworkStatuses(ctx, "", now.AddDate(0, 0, -1))
	if err != nil {
		return err
	}
	for i := range networks {
		n := &networks[i]
		row := OperatorState{Name: n.Name, Href: portal.BoardPath + "/" + url.PathEscape(n.Network), Through: n.SuppliedThrough}
		row.State, row.Tone = kit.SupplyWord(n.Silent, n.SuppliedThrough)
		d.Operators = append(d.Operators, row)
	}
	if p.Checkpoint == nil {
		return nil
	}
	d.Log = true
	if d.Checkpoint, err = p.Checkpoint(ctx); err != nil {
		return err
	}
	d.CheckpointOld = !d.Checkpoint.IsZero() && now.Sub(d.Checkpoint) > oldCheckpoint && d.Today > 0
	return nil
}

// countStatuses compares two days by status, the most frequent first.
func countStatuses(today, lastWeek tally.Day) []StatusCount {
	sums := map[string]int64{}
	for _, day := range []tally.Day{today, lastWeek} {
		for status, n := range day.ByStatus {
			sums[status] += n
		}
	}
	var rows []StatusCount
	for _, status := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) }) {
		rows = append(rows, StatusCount{Status: status, Tone: kit.StatusTone(status), Today: today.ByStatus[status], LastWeek: lastWeek.ByStatus[status]})
	}
	return rows
}
