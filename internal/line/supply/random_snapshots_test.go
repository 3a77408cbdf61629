package supply_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// snapshotModel is a small country in which operators send snapshots and events, each
// of them a few days apart. Its times are few, so that they often coincide.
type snapshotModel struct {
	*rapid.T

	k       *importEnv
	numbers []string
	last    map[string]time.Time // asOf of each network's last snapshot
	ids     map[string][]supply.Item
	sent    int
}

// A moment is a time as a file or a call writes it.
type moment struct {
	at   time.Time
	bare bool // only the date is written
}

func (m moment) String() string {
	switch {
	case m.at.IsZero():
		return ""
	case m.bare:
		return m.at.In(lagos).Format(time.DateOnly)
	}
	return m.at.Format(time.RFC3339)
}

// latest returns the moment as it is stored: of a date the last second, but not after
// a limit.
func (m moment) latest(limit time.Time) line.Instant {
	if m.at.IsZero() {
		return line.Never
	}
	if !m.bare {
		return line.InstantOf(m.at)
	}
	y, month, d := m.at.In(lagos).Date()
	return min(line.InstantOf(time.Date(y, month, d+1, 0, 0, 0, 0, lagos))-1, line.InstantOf(limit))
}

// snapshotRow is a row of a snapshot.
type snapshotRow struct {
	number                    string
	tenure, sim, since, churn moment
	never                     bool // the SIM never changed
	state                     line.State
}

func (r snapshotRow) String() string {
	sim := r.sim.String()
	if r.never {
		sim = "NEVER"
	}
	tenure := r.tenure.String()
	if tenure == "" {
		tenure = "UNKNOWN"
	}
	return strings.Join([]string{r.number, tenure, sim, r.state.String(), r.since.String(), r.churn.String()}, ",")
}

// After any snapshots and any events between them, before and after asOf: every
// stored row is what the model makes of its history; an accepted row of a file is the
// state of the line at asOf; a row that waits changes nothing but doubt, and has a
// reason to wait; a refused row has no effect; a missing number has ended, was
// reported about later, or is in doubt; and a dry run counts all of this in advance.
func TestRandomSnapshotsMatchTheModel(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			rapid.Check(t, func(t *rapid.T) {
				k.reset()
				k.clock = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
				w := &snapshotModel{T: t, k: k, last: map[string]time.Time{}, ids: map[string][]supply.Item{}}
				for i := range 4 {
					w.numbers = append(w.numbers, number(i))
				}
				w.numbers = append(w.numbers, airtel(0), airtel(1))
				for range rapid.IntRange(3, 8).Draw(t, "rounds") {
					k.clock = k.clock.Add(time.Duration(rapid.SampledFrom([]int{1, 24, 24 * 5, 24 * 20}).Draw(t, "hours")) * time.Hour)
					switch rapid.IntRange(0, 5).Draw(t, "round") {
					case 0, 1:
						w.report()
					case 2:
						w.decide()
					default:
						w.snapshot(rapid.SampledFrom([]string{"MTN", "MTN", "AIRTEL"}).Draw(t, "network"))
					}
					w.checkRows()
				}
			})
		})
	}
}

// moment draws a time of the days before another, but not before a first one.
func (w *snapshotModel) moment(what string, days int, first, end time.Time) moment {
	hours := rapid.SampledFrom([]int{0, 10, 22}).Draw(w.T, what+" hour")
	at := end.Truncate(24*time.Hour).AddDate(0, 0, -rapid.IntRange(0, days).Draw(w.T, what+" day")).Add(time.Duration(hours) * time.Hour)
	if at.After(end) {
		at = end
	}
	if at.Before(first) {
		at = first
	}
	return moment{at, rapid.Bool().Draw(w.T, what+" bare")}
}

var (
	house  = supply.Supplier{Authorities: []line.Authority{line.ClearingHouse}, Client: uuid.UUID{1}}
	sector = supply.Supplier{Authorities: []line.Authority{line.Sector}, Client: uuid.UUID{2}}
	orders = supply.Supplier{Authorities: []line.Authority{line.Regulator}, Client: uuid.UUID{3}, Actor: audit.Actor{Kind: audit.Client, ID: uuid.UUID{3}}}
)

var operatorKinds = []line.Kind{
	line.Assign, line.ChangeSIM, line.ChangeSIM, line.Bar, line.Unbar, line.Park, line.Deactivate, line.Use, line.End, line.Reinstate,
	line.GiveNotice, line.Transfer, line.ClaimPort, line.ReleasePort, line.Void,
}

// report reports a few events.
func (w *snapshotModel) report() {
	for range rapid.IntRange(1, 5).Draw(w.T, "events") {
		who := rapid.SampledFrom([]string{"MTN", "MTN", "AIRTEL", "house", "house", "sector", "orders"}).Draw(w.T, "speaker")
		speaker, kinds := operator(who), operatorKinds
		switch who {
		case "house":
			speaker, kinds = house, []line.Kind{line.Port}
		case "sector":
			speaker, kinds = sector, []line.Kind{line.Flag}
		case "orders":
			speaker, kinds = orders, []line.Kind{line.Bar, line.Unbar, line.Blacklist, line.Release}
		}
		w.sent++
		kind := rapid.SampledFrom(kinds).Draw(w.T, "kind")
		effective := w.moment("effective", 40, time.Time{}, w.k.clock)
		item := supply.Item{
			ID: "r" + strconv.Itoa(w.sent), PhoneNumber: rapid.SampledFrom(w.numbers).Draw(w.T, "number"), Type: kind.String(), EffectiveAt: effective.String(),
		}
		switch kind {
		case line.Bar:
			item.Reason = rapid.SampledFrom([]string{"FRAUD", "DEBT"}).Draw(w.T, "reason")
		case line.End:
			item.Reason = "CHURNED"
		case line.Flag:
			item.Level = "HIGH"
		case line.GiveNotice:
			item.ChurnAt = effective.at.AddDate(0, 0, rapid.SampledFrom([]int{15, 30}).Draw(w.T, "churn")).Format(time.RFC3339)
		case line.Port, line.ReleasePort:
			item.Network = rapid.SampledFrom([]string{"MTN", "AIRTEL"}).Draw(w.T, "recipient")
		case line.Void:
			before := w.ids[who]
			if len(before) == 0 {
				continue
			}
			of := rapid.SampledFrom(before).Draw(w.T, "withdrawn")
			item.PhoneNumber, item.Voids, item.Note = of.PhoneNumber, of.ID, "by mistake"
		default:
		}
		if _, err := w.k.ApplyEvents(w.k.t.Context(), speaker, []supply.Item{item}); err != nil {
			w.Fatal(err)
		}
		w.ids[who] = append(w.ids[who], item)
	}
}

// decide confirms or voids an event that staff see as open.
func (w *snapshotModel) decide() {
	open, err := w.k.OpenEvents(w.k.t.Context(), supply.OpenQuery{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	open = slices.DeleteFunc(open, func(o supply.OpenEvent) bool { return o.Type == line.Void.String() }) // a void cannot be voided
	if len(open) == 0 {
		return
	}
	o := rapid.SampledFrom(open).Draw(w.T, "open")
	form := order.Form{
		PhoneNumber: o.Number.E164(), Action: "VOID", Event: strconv.FormatInt(o.Seq, 10), Note: "for a test",
	}
	if o.IfConfirmed != "" && rapid.Bool().Draw(w.T, "confirmed") {
		form.Action = "CONFIRM"
	}
	if _, err := giveOrder(w.k.t.Context(), w.k.Service, orders, form); err != nil {
		w.Fatal(err)
	}
}

// rows draws a snapshot: for each number the known state, another one, or no row.
func (w *snapshotModel) rows(network string, asOf time.Time) []snapshotRow {
	var rows []snapshotRow
	for _, n := range w.numbers {
		mine := strings.HasPrefix(n, "+234803") == (network == "MTN")
		if rapid.IntRange(0, 9).Draw(w.T, "there") >= map[bool]int{true: 9, false: 2}[mine] {
			continue
		}
		known := w.at(n, asOf)
		r := snapshotRow{number: n, state: line.State(rapid.IntRange(int(line.StateActive), int(line.StateBarred)).Draw(w.T, "state"))}
		switch rapid.IntRange(0, 9).Draw(w.T, "tenure is") {
		case 0:
		case 1, 2:
			r.tenure = w.moment("tenure", 60, time.Time{}, asOf)
		case 3:
			r.tenure = w.moment("old tenure", 30, time.Time{}, asOf.AddDate(-2, 0, 0))
		default:
			r.tenure = w.known(known.Tenure, asOf)
		}
		switch rapid.IntRange(0, 5).Draw(w.T, "sim is") {
		case 0:
		case 1:
			r.never = true
		case 2:
			r.sim = w.moment("sim", 60, r.tenure.at, asOf)
		default:
			r.sim = w.known(max(known.SIM, known.Tenure), asOf)
		}
		since := known.StateSince
		if known.BarAt != line.Never && known.State == line.StateActive {
			since = known.BarAt
		}
		if r.since = w.moment("since", 60, r.tenure.at, asOf); rapid.Bool().Draw(w.T, "as known") && since != line.Never && known.State != line.StateNone {
			if r.state, r.since = known.State, w.known(since, asOf); known.BarAt != line.Never && known.State == line.StateActive {
				r.state = line.StateBarred
			}
		}
		if r.state == line.StateNoticed && rapid.Bool().Draw(w.T, "dated") {
			at := asOf.AddDate(0, 0, rapid.SampledFrom([]int{-3, 5, 20}).Draw(w.T, "churn"))
			for _, known := range []time.Time{r.since.at, r.sim.at} {
				if soonest := known.AddDate(0, 0, 2); at.Before(soonest) {
					at = soonest
				}
			}
			r.churn = moment{at, rapid.Bool().Draw(w.T, "churn bare")}
		}
		rows = append(rows, r)
	}
	return rows
}

// known returns a known time, or its day.
func (w *snapshotModel) known(at line.Instant, asOf time.Time) moment {
	if at == line.Never || at > line.InstantOf(asOf) {
		return moment{}
	}
	return moment{at.Time(), rapid.IntRange(0, 3).Draw(w.T, "known bare") == 0}
}

// history returns the history of a number, and its row.
func (w *snapshotModel) history(number string) (*line.History, line.Row) {
	n := w.k.parse(number)
	rows, err := linestore.Rows(w.k.t.Context(), w.k.Pool, []phone.Number{n})
	if err != nil {
		w.Fatal(err)
	}
	all, err := linestore.Histories(w.k.t.Context(), w.k.Pool, []phone.Number{n}, rows)
	if err != nil {
		w.Fatal(err)
	}
	row, ok := rows[n]
	if !ok {
		row = line.NoRow()
	}
	return all[n], row
}

func (w *snapshotModel) at(number string, at time.Time) line.Row {
	h, _ := w.history(number)
	r, _ := line.Fold(h, w.k.terms(), line.InstantOf(at))
	return r
}

// importFile runs an import to its end.
func (w *snapshotModel) importFile(network string, f supply.ImportForm, content string) supply.Import {
	ctx := w.k.t.Context()
	im, err := w.k.Begin(ctx, operator(network), f, "cli")
	if err != nil {
		w.Fatal(err)
	}
	source := w.k.source(content).InChunks(3)
	if im, err = w.k.Run(ctx, im.ID, source, nil); err == nil && im.State == supply.Held {
		if im, err = w.k.Confirm(ctx, im.ID, console); err == nil {
			im, err = w.k.Run(ctx, im.ID, source, nil)
		}
	}
	if err != nil || im.Open() || im.State == supply.Rejected {
		w.Fatalf("the import is %s (%s), %v", im.State, im.Reason, err)
	}
	return im
}

// snapshot sends a snapshot, first as a dry run, and checks the result.
func (w *snapshotModel) snapshot(network string) {
	asOf := w.k.clock.Add(-time.Duration(rapid.SampledFrom([]int{0, 10, 24 * 3, 24 * 12}).Draw(w.T, "as of")) * time.Hour)
	if !asOf.After(w.last[network]) {
		return
	}
	s := sentSnapshot{snapshotModel: w, network: network, asOf: asOf, last: w.last[network], rows: w.rows(network, asOf), before: map[string]line.Row{}, then: map[string]line.Row{}}
	lines := []string{}
	for _, r := range s.rows {
		lines = append(lines, r.String())
	}
	s.content = "number,tenureStart,simChangedAt,state,stateSince,churnAt\n" + strings.Join(lines, "\n") + "\n"
	for _, n := range w.numbers {
		_, s.before[n] = w.history(n)
		s.then[n] = w.at(n, asOf)
	}
	form := supply.ImportForm{Kind: linefile.Snapshot, AsOf: asOf}
	dry := form
	dry.DryRun = true
	dryRun := w.importFile(network, dry, s.content)
	im := w.importFile(network, form, s.content)
	w.last[network] = asOf
	report := w.k.refused(im)
	if got := w.k.refused(dryRun); dryRun.Counts != im.Counts || !slices.Equal(got, report) {
		w.Fatalf("the dry run counted %+v %q, the import %+v %q\n%s", dryRun.Counts, got, im.Counts, report, s.content)
	}
	s.check(im, report)
}
