package requests

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// periods are the numbers of days that the usage can show, the default first.
var periods = []int{30, 7, 90, 365}

// period is which usage a visitor wants to see.
type period struct {
	mode     string
	days     int
	from, to time.Time
}

func (p *Pages) period(r *http.Request) period {
	q, now := r.URL.Query(), p.Now().UTC()
	at := period{mode: access.Live, days: periods[0], to: now}
	if q.Get("mode") == access.Test {
		at.mode = access.Test
	}
	if n, err := strconv.Atoi(q.Get("days")); err == nil && slices.Contains(periods, n) {
		at.days = n
	}
	at.from = now.AddDate(0, 0, 1-at.days)
	return at
}

// usageQuery is the part of an address that selects a usage.
func usageQuery(mode string, days int) string {
	return "?mode=" + mode + "&days=" + strconv.Itoa(days)
}

// showUsageByKey serves GET /portal/overview/keys.
func (p *Pages) showUsageByKey(w http.ResponseWriter, r *http.Request) error {
	at := p.period(r)
	used, err := p.Tally.UsageByKey(r.Context(), portal.VisitOf(r).Who.Entity, at.mode, at.from, at.to)
	if err != nil {
		return err
	}
	names, err := p.keyNames(r, used)
	if err != nil {
		return err
	}
	d := KeyUsageData{Mode: at.mode, Days: at.days, CSV: usageCSVPath + usageQuery(at.mode, at.days), Views: []kit.Tab{
		{Label: "By status", Href: "/portal/overview" + usageQuery(at.mode, at.days)}, {Label: "By key", Href: usageKeysPath + usageQuery(at.mode, at.days), Active: true},
	}}
	for _, m := range []kit.Option{{Value: access.Live, Label: "Live"}, {Value: access.Test, Label: "Test"}} {
		d.Modes = append(d.Modes, kit.Tab{Label: m.Label, Href: usageKeysPath + usageQuery(m.Value, at.days), Active: m.Value == at.mode})
	}
	for _, n := range slices.Sorted(slices.Values(periods)) {
		d.Periods = append(d.Periods, kit.Tab{Label: strconv.Itoa(n) + " days", Href: usageKeysPath + usageQuery(at.mode, n), Active: n == at.days})
	}
	d.Rows = keyUsageRows(used, names)
	return p.Show(w, r, kit.Page{Title: "Usage by key", Lead: "What each key got: numbers by the status of their answer, and requests that were refused or failed. Days are in UTC.", Active: "/portal/overview"}, KeyUsage(d))
}

func (p *Pages) keyNames(r *http.Request, used []tally.KeyUsage) (map[uuid.UUID]string, error) {
	var ids []uuid.UUID
	for i := range used {
		if !slices.Contains(ids, used[i].Key) {
			ids = append(ids, used[i].Key)
		}
	}
	return p.Access.KeyNames(r.Context(), portal.VisitOf(r).Who.Entity, ids)
}

// keyUsageRows adds the days up, by key, the busiest first.
func keyUsageRows(used []tally.KeyUsage, names map[uuid.UUID]string) []KeyUsageRow {
	rows := map[uuid.UUID]*KeyUsageRow{}
	outcomes := map[uuid.UUID]map[string]int64{}
	for _, u := range used {
		row := rows[u.Key]
		if row == nil {
			row = &KeyUsageRow{ID: u.Key.String(), Name: names[u.Key]}
			rows[u.Key], outcomes[u.Key] = row, map[string]int64{}
		}
		outcomes[u.Key][u.Outcome] += u.N
		if isError(u.Outcome) {
			row.Refused += u.N
		} else {
			row.Answered += u.N
		}
	}
	list := make([]KeyUsageRow, 0, len(rows))
	for id, row := range rows {
		for outcome, n := range outcomes[id] {
			tone := kit.Warn
			if !isError(outcome) {
				tone = kit.StatusTone(outcome)
			}
			row.Outcomes = append(row.Outcomes, Outcome{Name: outcome, Tone: tone, Error: isError(outcome), N: n})
		}
		slices.SortFunc(row.Outcomes, func(a, b Outcome) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
		list = append(list, *row)
	}
	slices.SortFunc(list, func(a, b KeyUsageRow) int {
		return cmp.Or(cmp.Compare(b.Answered+b.Refused, a.Answered+a.Refused), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// isError reports whether an outcome is the code of an error and not a status.
func isError(outcome string) bool { return slices.Contains(fault.Codes, fault.Code(outcome)) }

// exportUsage serves GET /portal/export/usage.csv: a row for each day, key and outcome.
func (p *Pages) exportUsage(w http.ResponseWriter, r *http.Request) error {
	at := p.period(r)
	used, err := p.Tally.UsageByKey(r.Context(), portal.VisitOf(r).Who.Entity, at.mode, at.from, at.to)
	if err != nil {
		return err
	}
	names, err := p.keyNames(r, used)
	if err != nil {
		return err
	}
	portal.StartDownload(w, "text/csv; charset=utf-8", "usage-"+p.Now().UTC().Format(time.DateOnly)+".csv")
	out := portal.NewCSV(w)
	rows := [][]string{{"day", "mode", "keyId", "keyName", "outcome", "count"}}
	for _, u := range used {
		rows = append(rows, []string{u.Day.Format(time.DateOnly), at.mode, u.Key.String(), names[u.Key], u.Outcome, strconv.FormatInt(u.N, 10)})
	}
	for _, row := range rows {
		_ = out.Write(row) // Error returns what failed
	}
	out.Flush()
	if err := out.Error(); err != nil {
		portal.AbortDownload(w, r, err) // an incomplete file must not look complete
	}
	return nil
}
