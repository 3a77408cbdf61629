package supply_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

// snapshotModel is a small country in which operators send snapshots and events. Its
// times are whole days, so that they often coincide.
type snapshotModel struct {
	*rapid.T

	k       *importEnv
	numbers []string
	last    map[string]int // the day of each network's last snapshot
	ids     map[string][]supply.Item
	sent    int
}

// lastDay is yesterday, counted from the first of the year.
const lastDay = 150

func date(day int) string { return dayOf(day).Format(time.DateOnly) }

func dayOf(day int) time.Time { return time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC) }

// snapshotRow is a row of a snapshot; its times are days.
type snapshotRow struct {
	number             string
	tenure, sim, since int // sim -1: not given
	state              line.State
}

func (r snapshotRow) String() string {
	sim := ""
	if r.sim >= 0 {
		sim = date(r.sim)
	}
	return strings.Join([]string{r.number, date(r.tenure), sim, r.state.String(), date(r.since)}, ",")
}

// After any snapshots and any events between them, before and after asOf: every
// stored row is what its history makes of it; an accepted row of a file is the state
// of the line at asOf; a refused row has no effect; a missing number has ended, or
// was reported about later; and a dry run counts all of this in advance.
func TestRandomSnapshotsMatchTheModel(t *testing.T) {
	t.Parallel()
	for i := range 2 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			rapid.Check(t, func(t *rapid.T) {
				k.reset()
				w := &snapshotModel{T: t, k: k, last: map[string]int{}, ids: map[string][]supply.Item{}}
				for i := range 5 {
					w.numbers = append(w.numbers, number(i))
				}
				w.numbers = append(w.numbers, airtel(0), airtel(1))
				for range rapid.IntRange(2, 6).Draw(t, "rounds") {
					if rapid.IntRange(0, 2).Draw(t, "round") == 0 {
						w.report()
					} else {
						w.snapshot(rapid.SampledFrom([]string{"MTN", "MTN", "AIRTEL"}).Draw(t, "network"))
					}
				}
			})
		})
	}
}

func (w *snapshotModel) day(what string) int { return rapid.IntRange(0, lastDay).Draw(w.T, what) }

var (
	house  = supply.Supplier{Authorities: []line.Authority{line.ClearingHouse}, Client: uuid.UUID{1}}
	sector = supply.Supplier{Authorities: []line.Authority{line.Sector}, Client: uuid.UUID{2}}
	orders = supply.Supplier{Authorities: []line.Authority{line.Regulator}}
)

// report reports a few events.
func (w *snapshotModel) report() {
	for range rapid.IntRange(1, 5).Draw(w.T, "events") {
		who := rapid.SampledFrom([]string{"MTN", "MTN", "AIRTEL", "house", "house", "sector", "orders"}).Draw(w.T, "speaker")
		speaker, kinds := operator(who), []line.Kind{
			line.Assign, line.ChangeSIM, line.Bar, line.Unbar, line.Park, line.Return, line.Deactivate, line.Use, line.End, line.Reinstate, line.Void,
		}
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
		item := supply.Item{
			ID: "r" + strconv.Itoa(w.sent), PhoneNumber: rapid.SampledFrom(w.numbers).Draw(w.T, "number"), Type: kind.String(),
			EffectiveAt: date(w.day("effective")),
		}
		switch kind {
		case line.Bar:
			item.Reason = "FRAUD"
		case line.End:
			item.Reason = "CHURNED"
		case line.Flag:
			item.Level = "HIGH"
		case line.Port:
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
		if _, err := w.k.ApplyEvents(w.k.t.Context(), speaker, []supply.Item{item}, time.Time{}); err != nil {
			w.Fatal(err)
		}
		w.ids[who] = append(w.ids[who], item)
	}
}

// rows draws a snapshot: for each number the known state, another one, or no row.
func (w *snapshotModel) rows(network string, day int) []snapshotRow {
	var rows []snapshotRow
	for _, n := range w.numbers {
		known := w.at(n, dayOf(day))
		r := snapshotRow{
			number: n, tenure: rapid.IntRange(0, day).Draw(w.T, "tenure"), sim: -1, state: line.State(rapid.IntRange(int(line.StateActive), int(line.StateBarred)).Draw(w.T, "state")),
		}
		if known.Tenure != line.Never && rapid.IntRange(0, 3).Draw(w.T, "same tenure") > 0 {
			r.tenure = dayIn(known.Tenure)
		}
		r.since = rapid.IntRange(r.tenure, day).Draw(w.T, "since")
		if rapid.Bool().Draw(w.T, "sim given") {
			r.sim = rapid.IntRange(r.tenure, day).Draw(w.T, "sim")
		}
		if rapid.Bool().Draw(w.T, "as known") && known.State != line.StateNone && known.Tenure != line.Never {
			r.state, r.since = known.State, max(dayIn(known.StateSince), r.tenure)
			if known.BarAt != line.Never && known.State == line.StateActive {
				r.state, r.since = line.StateBarred, max(dayIn(known.BarAt), r.tenure)
			}
			if known.SIM != line.Never {
				r.sim = max(dayIn(known.SIM), r.tenure)
			}
		}
		mine := strings.HasPrefix(n, "+234803") == (network == "MTN")
		if rapid.IntRange(0, 9).Draw(w.T, "there") < map[bool]int{true: 8, false: 3}[mine] {
			rows = append(rows, r)
		}
	}
	return rows
}

// dayIn returns the day of an instant. Derived events may be a second later than the
// start of their day.
func dayIn(i line.Instant) int { return max(int(i.Time().Sub(dayOf(0))/(24*time.Hour)), 0) }

// history returns the history of a number, and its row.
func (w *snapshotModel) history(written string) (*line.History, line.Row) {
	n := w.k.parse(written)
	rows, err := line.Rows(w.k.t.Context(), w.k.Pool, []phone.Number{n})
	if err != nil {
		w.Fatal(err)
	}
	all, err := line.Histories(w.k.t.Context(), w.k.Pool, []phone.Number{n}, rows)
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
	r, _ := line.Fold(h.Base, h.Events, line.InstantOf(at))
	return r
}

// snapshot sends a snapshot, first as a dry run, and checks the result.
func (w *snapshotModel) snapshot(network string) {
	last, sent := w.last[network]
	if sent && last >= lastDay {
		return
	}
	day := lastDay
	if !sent || last < lastDay {
		first := 0
		if sent {
			first = last + 1
		}
		day = rapid.IntRange(first, lastDay).Draw(w.T, "as of")
	}
	rows := w.rows(network, day)
	var lines []string
	for _, r := range rows {
		lines = append(lines, r.String())
	}
	content := snapshotOf(lines...)
	before := map[string]line.Row{}
	then := map[string]line.Row{}
	for _, n := range w.numbers {
		_, before[n] = w.history(n)
		then[n] = w.at(n, dayOf(day))
	}
	form := supply.ImportForm{Kind: linefile.Snapshot, AsOf: dayOf(day)}
	dry := form
	dry.DryRun = true
	dryRun := w.import1(network, dry, content)
	im := w.import1(network, form, content)
	w.last[network] = day

	report := w.k.refused(im)
	if got := w.k.refused(dryRun); dryRun.Counts != im.Counts || !slices.Equal(got, report) {
		w.Fatalf("the dry run counted %+v %q, the import %+v %q\n%s", dryRun.Counts, got, im.Counts, report, content)
	}
	refused := map[int]string{}
	for _, r := range report {
		words := strings.Fields(r)
		place, _ := strconv.Atoi(words[0])
		refused[place] = words[2]
	}
	var want supply.Counts
	want.Refused = int64(len(refused))
	for _, n := range w.numbers {
		i := slices.IndexFunc(rows, func(r snapshotRow) bool { return r.number == n })
		what := fmt.Sprintf("%s as of %s, which was %+v, in\n%s", n, date(day), then[n], content)
		h, row := w.history(n)
		if model := linemodel.Replay(h.Base, h.Events); model != row {
			w.Fatalf("%s: the row is %+v, the model makes %+v", what, row, model)
		}
		byThis := slices.DeleteFunc(slices.Clone(h.Events), func(e line.Event) bool { return e.Import != importID(w, im) })
		switch {
		case i < 0:
			want.Ended += w.checkMissing(what, network, day, last, sent, before[n], then[n], h, byThis)
		case refused[i+2] != "":
			if reason := refused[i+2]; reason != w.refusal(network, n, then[n]) && reason != "CONTRADICTS" || row != before[n] {
				w.Fatalf("%s: refused for %s, and is now %+v", what, reason, row)
			}
			if refused[i+2] == "PORTED_OUT" {
				want.PortedOut++
			}
			// Where nothing but an earlier snapshot spoke, only what is older than that
			// contradicts it, or what happened all in the one second of this one. A new
			// tenure is older, too, when it begins no later than the known end.
			r := rows[i]
			older := r.tenure < dayIn(then[n].Tenure) || !w.running(then[n]) && r.tenure <= dayIn(then[n].StateSince) || r.sim >= 0 && r.sim < dayIn(then[n].SIM) || r.since == day
			if refused[i+2] == "CONTRADICTS" && len(h.Events) == 0 && !older {
				w.Fatalf("%s: %s contradicts nothing", what, r)
			}
		default:
			w.checkTaken(what, network, rows[i], day, before[n], then[n], h, byThis, &want)
		}
	}
	if im.Counts != want {
		w.Fatalf("the counts are %+v, want %+v, of\n%s", im.Counts, want, content)
	}
	if wrong := w.k.inconsistency(); wrong != "" {
		w.Fatal(wrong)
	}
}

func importID(w *snapshotModel, im supply.Import) int32 {
	return int32(w.k.count(`SELECT id FROM supply_import WHERE uid = $1`, im.ID))
}

// import1 runs an import to its end.
func (w *snapshotModel) import1(network string, f supply.ImportForm, content string) supply.Import {
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

func (w *snapshotModel) running(r line.Row) bool {
	return r.State >= line.StateActive && r.State <= line.StateNoticed
}

func (w *snapshotModel) code(r line.Row) string { return w.k.plan.Code(r.Network) }

// refusal returns why a network may not report about a number in this state, or
// nothing.
func (w *snapshotModel) refusal(network, n string, then line.Row) string {
	mine := strings.HasPrefix(n, "+234803") == (network == "MTN")
	switch {
	case w.running(then) && w.code(then) == network, !w.running(then) && mine:
		return ""
	case w.running(then) && mine && then.PortAt != line.Never:
		return "PORTED_OUT"
	default:
		return "NOT_YOURS"
	}
}

// checkMissing checks a number that is not in the snapshot, and counts its end.
func (w *snapshotModel) checkMissing(what, network string, day, last int, sent bool, before, then line.Row, h *line.History, byThis []line.Event) int64 {
	there := w.running(before) && w.code(before) == network && w.running(then) && w.code(then) == network
	switch len(byThis) {
	case 0:
		asOf := line.InstantOf(dayOf(day))
		later := slices.ContainsFunc(h.Events, func(e line.Event) bool {
			if e.Effective == asOf { // it began or came in that very second
				return e.Kind == line.Assign || e.Kind == line.Reinstate || e.Kind == line.Port
			}
			return e.Authority == line.Operator && e.Effective > asOf
		})
		if there && !later {
			w.Fatalf("missing %s: it was not ended", what)
		}
		return 0
	case 1:
		e := byThis[0]
		if !there || e.Kind != line.End || e.Code != line.ReasonInferred || e.Effective != line.InstantOf(dayOf(day)) ||
			sent && e.EndedAfter != line.InstantOf(dayOf(last)) || !sent && (e.EndedAfter == line.Never || e.EndedAfter > e.Effective) {
			w.Fatalf("missing %s: it was ended by %+v", what, e)
		}
		if now, _ := line.Fold(h.Base, h.Events, e.Effective); now.State != line.StateEnded {
			w.Fatalf("missing %s: it goes on as %+v", what, now)
		}
		return 1
	}
	w.Fatalf("missing %s: %+v was sent", what, byThis)
	return 0
}

// checkTaken checks a row that was accepted, and counts it.
func (w *snapshotModel) checkTaken(what, network string, r snapshotRow, day int, before, then line.Row, h *line.History, byThis []line.Event, c *supply.Counts) {
	if why := w.refusal(network, r.number, then); why != "" {
		w.Fatalf("%s is taken, want %s", what, why)
	}
	now, _ := line.Fold(h.Base, h.Events, line.InstantOf(dayOf(day)))
	ported := strings.HasPrefix(r.number, "+234803") != (network == "MTN")
	if !rowMatches(now, r, ported) {
		w.Fatalf("%s: the line was taken as %+v", what, now)
	}
	switch {
	case before.Version == 0:
		c.Added++
		if len(h.Events) > 0 || h.Base == nil {
			w.Fatalf("%s has no baseline alone: %+v", what, h)
		}
	case len(byThis) > 0:
		c.Changed++
		if rowMatches(then, r, ported) {
			w.Fatalf("%s is rewritten without need by %+v", what, byThis)
		}
	default:
		c.Unchanged++
	}
}

// rowMatches reports whether a line was as a row of the file describes it. It follows
// the design and is independent of the code.
func rowMatches(is line.Row, r snapshotRow, ported bool) bool {
	tenure := is.Tenure == line.InstantOf(dayOf(r.tenure))
	if ported { // its tenure is not the recipient's to say
		tenure = true
	}
	state := map[line.State]bool{
		line.StateNone:     false,
		line.StateActive:   is.State == line.StateActive && is.BarAt == line.Never,
		line.StateInactive: is.State == line.StateInactive && is.BarAt == line.Never,
		line.StateParked:   is.State == line.StateParked && is.BarAt == line.Never,
		line.StateNoticed:  is.State == line.StateNoticed && is.BarAt == line.Never,
		line.StateBarred:   is.State == line.StateActive && is.BarAt != line.Never,
		line.StateEnded:    is.State == line.StateEnded,
	}[r.state]
	sim := line.Never
	if r.sim >= 0 {
		sim = line.InstantOf(dayOf(r.sim))
	}
	// The SIM of the first day, or of a port, is no change, and after the end of a
	// tenure the SIM does not matter.
	sent := sim > max(is.Tenure, is.PortAt) && is.State != line.StateEnded
	return tenure && state && (!sent || is.SIM == sim)
}
