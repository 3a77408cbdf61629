package supply_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The parties of the liar's test that are no networks.
const (
	byHouse     = "the clearing house"
	bySector    = "the sector regulator"
	byRegulator = "the regulator"
)

// What the rules as they are written let a liar do to a line that it has, or has in
// rest, and that then leaves it. It may happen to a few lines, and is counted apart.
const (
	// The liar ends a blacklisted line; then its port to another network would begin a
	// new tenure, and is refused.
	portedWhileBlack = ", of a blacklisted line that was ported"
	// The liar assigns a number that is back in its rest; then the network that ended the
	// tenure reinstates it, and is not believed.
	reinstatedFromRest = ", of a line that was reinstated from the liar's rest"
	// A tenure that the liar served ends, and only the liar can report that. While it does
	// not, or says that the holder is back, the number is not back with the network of its
	// range, whose ASSIGNED is refused.
	endedByLiar = ", of a line whose tenure ended with the liar"
)

var liarNetworks = []string{"MTN", "AIRTEL", "GLO", "T2"}

var liarPrefixes = map[string]string{"MTN": "+2348030", "AIRTEL": "+2348020", "GLO": "+2348050", "T2": "+2348090"}

// honestReport is what an honest party reports in the slot of a day.
type honestReport struct {
	slot int
	by   string
	item supply.Item
	at   line.Instant // when it took effect
}

// trueEvent is something that happened to a line.
type trueEvent struct {
	line.Event

	from  string        // the network that served the line just before, or held it in rest; none of a number that nobody had
	by    string        // who reports it
	fresh time.Duration // how old it must be before an answer must show it
}

// trueLine is a number and everything that truly happened to it.
type trueLine struct {
	number  string
	phone   phone.Number
	holder  string // of its range
	base    *line.Baseline
	events  []trueEvent
	reports []honestReport

	odd      string    // what may happen to this line only
	served   bool      // the liar served it at some time, or holds its range
	cut      time.Time // when the port that took the number away from the liar was reported; zero if none was
	returned time.Time // when the liar got it back

	sent []supply.Item // by the liar
	told []liarMessage // by everybody, for the report of a violation
}

// liarMessage is a message about a number, for the report of a violation.
type liarMessage struct {
	at      time.Time
	by      string
	item    supply.Item
	outcome string
}

// history returns the true history, all of it known at once.
func (l *trueLine) history() *line.History {
	h := &line.History{Base: l.base}
	for i := range l.events {
		h.Events = append(h.Events, l.events[i].Event)
	}
	return h
}

// truth makes the true history of one number, day by day.
type truth struct {
	*trueLine

	random  *rand.Rand
	w       *liarWorld
	state   line.State
	server  string
	barred  bool // by its operator
	ordered bool // barred by the regulator
	flagged bool
	black   bool
	endAt   time.Time
	until   time.Time // the announced churn
	last    time.Time // the last event
}

func (w *liarWorld) network(code string) numbering.Network {
	n, _ := w.with.plan.Network(code)
	return n
}

// makeLine makes the true history of a number.
func (w *liarWorld) makeLine(i int) *trueLine {
	r := w.random
	l := &trueLine{holder: liarNetworks[i%len(liarNetworks)]}
	l.number = liarPrefixes[l.holder] + fmt.Sprintf("%06d", i/len(liarNetworks))
	l.phone = w.with.parse(l.number)
	g := &truth{trueLine: l, random: r, w: w, last: w.start}
	switch r.IntN(20) {
	case 0:
		l.odd = portedWhileBlack
	case 1:
		l.odd = reinstatedFromRest
	case 2, 3:
		l.odd = endedByLiar
	}
	if r.IntN(100) < 88 {
		g.begin()
	}
	rate := []int{1, 3, 8, 15}[r.IntN(4)]
	for slot := 1; slot < w.days; slot++ {
		if at := w.slots[slot]; g.state == line.StateNoticed && !at.Before(g.until) {
			g.state, g.endAt = line.StateEnded, g.until
			g.last = later(g.last, g.until)
		}
		if r.IntN(100) < rate {
			g.step(slot)
		}
	}
	g.mark()
	return l
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// begin gives the number a holder from before the first day.
func (g *truth) begin() {
	r, w := g.random, g.w
	began := w.start.AddDate(-1-r.IntN(6), 0, -r.IntN(300))
	g.base = &line.Baseline{
		Import: 1, Network: w.network(g.holder), Tenure: line.InstantOf(began), SIM: line.Never, State: line.StateActive, StateSince: line.InstantOf(began), Until: line.Never,
	}
	if r.IntN(3) == 0 {
		g.base.SIM = line.InstantOf(began.AddDate(0, 0, 20+r.IntN(200)))
	}
	g.state, g.server = line.StateActive, g.holder
	if r.IntN(8) == 0 {
		to := g.otherNetwork()
		at := w.start.AddDate(0, 0, -60-r.IntN(60))
		g.add(trueEvent{Event: line.Event{Kind: line.Port, Authority: line.ClearingHouse, Peer: w.network(to)}, by: byHouse}, at)
		g.reports = append(g.reports, honestReport{slot: 0, by: byHouse, item: g.item(line.Port, at, func(i *supply.Item) { i.Network = to }), at: line.InstantOf(at)})
		g.server = to
	}
}

func (g *truth) otherNetwork() string {
	for {
		if n := liarNetworks[g.random.IntN(len(liarNetworks))]; n != g.server {
			return n
		}
	}
}

// has returns the network that serves the line, or holds it in rest.
func (g *truth) has() string {
	switch g.state {
	case line.StateNone:
		return ""
	case line.StateEnded:
		return g.holder
	default:
		return g.server
	}
}

// add adds an event to the truth.
func (g *truth) add(e trueEvent, at time.Time) {
	e.from = g.has()
	e.Seq, e.Effective, e.ReportedAt = int64(len(g.events)+1), line.InstantOf(at), at
	if e.Kind != line.GiveNotice {
		e.Until = line.Never
	}
	e.EndedAfter = line.Never
	if e.Authority == line.Operator {
		e.Network = g.w.network(e.by)
		e.Supplier = int32(e.Network)
	}
	if topic, ok := e.Topic(); ok {
		e.fresh = map[line.Topic]time.Duration{
			line.TopicLifecycle: g.w.policy.LifecycleFreshness(), line.TopicSIM: g.w.policy.SIMFreshness(), line.TopicPort: g.w.policy.PortFreshness(false),
		}[topic]
	} else {
		e.fresh = time.Hour
	}
	g.events = append(g.events, e)
	g.last = at
}

// item returns an event as its reporter writes it.
func (g *truth) item(k line.Kind, at time.Time, set func(*supply.Item)) supply.Item {
	g.w.ids++
	i := supply.Item{ID: fmt.Sprint("h", g.w.ids), PhoneNumber: g.number, Type: k.String(), EffectiveAt: at.Format(time.RFC3339)}
	if set != nil {
		set(&i)
	}
	return i
}

// choice is one thing that may happen next.
type choice struct {
	weight int
	kind   line.Kind
	may    bool
}

// step lets something happen that is reported in a slot.
func (g *truth) step(slot int) {
	running := g.state >= line.StateActive && g.state <= line.StateNoticed
	free := g.state == line.StateActive && !g.barred
	ends := g.server != g.w.liar || g.holder == g.w.liar || g.odd == endedByLiar
	rested := g.state == line.StateEnded && !g.w.slots[slot].Before(g.endAt.Add(g.w.policy.Quarantine()).AddDate(0, 0, 1)) && !g.black && !g.ordered
	choices := []choice{
		{25, line.ChangeSIM, running},
		{25, line.Port, running && (!g.black || g.odd == portedWhileBlack)},
		{8, line.End, running && ends},
		{6, line.Transfer, running && !g.black},
		{6, line.Bar, free},
		{15, line.Unbar, running && g.barred},
		{4, line.Deactivate, free},
		{4, line.Park, free},
		{6, line.GiveNotice, free && ends},
		{15, line.Use, g.state == line.StateInactive || g.state == line.StateNoticed || g.state == line.StateParked},
		{6, line.Flag, running},
		{5, line.Unflag, running && g.flagged},
		{6, line.Blacklist, running && !g.black},
		{12, line.Release, g.black},
		{4, line.Confirm, running && !g.ordered}, // the regulator's bar
		{8, line.Void, g.ordered},                // the regulator lifts it
		{8, line.Reinstate, g.state == line.StateEnded && !rested && (g.holder == g.server || g.holder != g.w.liar || g.odd == reinstatedFromRest)},
		{60, line.Assign, rested || g.state == line.StateNone},
	}
	total := 0
	for _, c := range choices {
		if c.may {
			total += c.weight
		}
	}
	if total == 0 {
		return
	}
	n := g.random.IntN(total)
	for _, c := range choices {
		if !c.may {
			continue
		}
		if n -= c.weight; n < 0 {
			g.happen(c.kind, slot)
			return
		}
	}
}

// happen adds what happened, and its reports.
func (g *truth) happen(k line.Kind, slot int) {
	r, w := g.random, g.w
	reach := 20 * time.Hour
	switch k { //nolint:exhaustive // everything else happens at any time of the day
	case line.ChangeSIM:
		reach = 55 * time.Minute
	case line.Flag, line.Unflag, line.Blacklist, line.Release, line.Confirm, line.Void:
		reach = time.Minute
	}
	at := w.slots[slot].Add(-time.Duration(1+r.Int64N(int64(reach/time.Second))) * time.Second)
	if !at.After(g.last.Add(time.Minute)) {
		at = g.last.Add(time.Minute)
	}
	if !at.Before(w.slots[slot]) {
		return
	}
	e := trueEvent{Event: line.Event{Kind: k, Authority: line.Operator}, by: g.server}
	set := func(*supply.Item) {}
	delay := 0
	switch k {
	case line.Port:
		g.port(at, slot)
		return
	case line.End:
		e.Code, delay = line.ReasonChurned, min(r.IntN(3), w.days-1-slot)
		set = func(i *supply.Item) { i.Reason = "CHURNED" }
		defer func() { g.state, g.endAt, g.barred, g.flagged = line.StateEnded, at, false, false }()
	case line.Assign:
		e.by = g.holder
		first := g.state == line.StateNone && r.IntN(2) == 0
		e.First = first
		set = func(i *supply.Item) { i.FirstHolder = first }
		defer func() { g.state, g.server, g.barred, g.flagged = line.StateActive, g.holder, false, false }()
	case line.ChangeSIM:
	case line.Transfer:
		defer func() { g.state, g.barred = line.StateActive, false }()
	case line.Bar:
		e.Code = line.ReasonLost
		set = func(i *supply.Item) { i.Reason = "LOST" }
		g.barred = true
	case line.Unbar:
		g.barred = false
	case line.Deactivate:
		defer func() { g.state = line.StateInactive }()
	case line.Park:
		defer func() { g.state = line.StateParked }()
	case line.Use, line.Reinstate:
		defer func() { g.state = line.StateActive }()
	case line.GiveNotice:
		g.until = at.Add(w.policy.Notice()).Add(time.Duration(1+r.IntN(72)) * time.Hour)
		e.Until = line.InstantOf(g.until)
		set = func(i *supply.Item) { i.ChurnAt = g.until.Format(time.RFC3339) }
		defer func() { g.state = line.StateNoticed }()
	case line.Flag, line.Unflag:
		e.Authority, e.by, e.Supplier = line.Sector, bySector, 9000
		if g.flagged = k == line.Flag; g.flagged {
			e.Code = line.LevelHigh
			set = func(i *supply.Item) { i.Level = "HIGH" }
		}
	default:
		g.order(k, at, slot)
		return
	}
	g.add(e, at)
	g.reports = append(g.reports, honestReport{slot: slot + delay, by: e.by, item: g.item(k, at, set), at: line.InstantOf(at)})
}

// order lets the regulator order something.
func (g *truth) order(k line.Kind, at time.Time, slot int) {
	e := trueEvent{Event: line.Event{Kind: k, Authority: line.Regulator, Supplier: 9001}, by: byRegulator}
	set := func(*supply.Item) {}
	switch k {
	case line.Confirm:
		e.Kind, e.Code, e.Number = line.Bar, line.ReasonOther, g.random.IntN(2) == 0
		scope := map[bool]string{true: "NUMBER", false: "HOLDER"}[e.Number]
		set = func(i *supply.Item) { i.Reason, i.Scope = "OTHER", scope }
		g.ordered = true
	case line.Void:
		e.Kind = line.Unbar
		g.ordered, g.barred = false, false
	default:
		g.black = k == line.Blacklist
	}
	g.add(e, at)
	g.reports = append(g.reports, honestReport{slot: slot, by: byRegulator, item: g.item(e.Kind, at, set), at: line.InstantOf(at)})
}

// port moves the number. The clearing house reports it, or the two networks do if both
// are honest. The honest one of two sometimes reports its half, too.
func (g *truth) port(at time.Time, slot int) {
	r, from, to := g.random, g.server, g.otherNetwork()
	g.add(trueEvent{Event: line.Event{Kind: line.Port, Authority: line.ClearingHouse, Peer: g.w.network(to)}, by: byHouse}, at)
	report := func(by string, k line.Kind, at time.Time, set func(*supply.Item)) {
		g.reports = append(g.reports, honestReport{slot: slot, by: by, item: g.item(k, at, set), at: line.InstantOf(at)})
	}
	toNetwork := func(i *supply.Item) { i.Network = to }
	liars := from == g.w.liar || to == g.w.liar || g.w.houseLies
	halves := !liars && r.IntN(2) == 0
	if !halves {
		report(byHouse, line.Port, at, toNetwork)
	}
	if halves || r.IntN(4) == 0 && to != g.w.liar {
		report(to, line.ClaimPort, at, nil)
	}
	if halves || r.IntN(4) == 0 && from != g.w.liar {
		report(from, line.ReleasePort, at.Add(-time.Duration(r.IntN(2))*time.Second), toNetwork)
	}
	g.state, g.server = line.StateActive, to
}

// mark notes whether and when the number left the liar and came back. Of several
// departures it takes one at random.
func (g *truth) mark() {
	w := g.w
	if w.houseLies {
		return
	}
	g.served = g.holder == w.liar
	type stay struct{ told, back time.Time }
	var departures []stay
	had := g.holder == w.liar // in the moment before
	var moments []line.Instant
	for i := range g.events {
		moments = append(moments, g.events[i].Effective)
		if g.events[i].Until != line.Never {
			moments = append(moments, g.events[i].Until)
		}
	}
	slices.Sort(moments)
	for _, at := range moments {
		now := w.liarHas(g.trueLine, at)
		g.served = g.served || now
		switch {
		case had && !now:
			i := slices.IndexFunc(g.reports, func(r honestReport) bool { return r.by == byHouse && r.at == at })
			if i >= 0 {
				departures = append(departures, stay{told: w.slots[g.reports[i].slot]})
			}
		case !had && now && len(departures) > 0 && departures[len(departures)-1].back.IsZero():
			departures[len(departures)-1].back = at.Time()
		}
		had = now
	}
	if len(departures) > 0 {
		d := departures[g.random.IntN(len(departures))]
		g.cut, g.returned = d.told, d.back
	}
}

// liarPolicy returns the policy of a world: the defaults, or one with short windows, in
// which more happens.
func liarPolicy(short, forgiving bool) policy.Policy {
	p := policy.Defaults()
	p.Note, p.ClearingHouse = "for a test", "NPC"
	if short {
		p.RecycledDays, p.SwappedHours, p.PortedHours, p.FlaggedDays, p.QuarantineDays, p.NoticeDays, p.BackdatingDays = 16, 72, 144, 16, 12, 4, 12
	}
	if forgiving {
		p.FalseAssurancePercent = 100
	}
	return p
}

// fileRow returns the row of a line as an honest network writes it, or nothing if the
// line is not with the network.
func (w *liarWorld) fileRow(l *trueLine, network string, asOf time.Time) string {
	row, _ := line.Fold(l.history(), w.terms, line.InstantOf(asOf))
	if row.State == line.StateNone || row.Network != w.network(network) || row.State == line.StateEnded && l.holder != network {
		return ""
	}
	return rowOf(l.number, &row)
}

// rowOf writes a row of a snapshot.
func rowOf(number string, row *line.Row) string {
	written := func(i line.Instant, otherwise string) string {
		if i == line.Never {
			return otherwise
		}
		return i.Time().Format(time.RFC3339)
	}
	state, since := row.State, row.StateSince
	switch {
	case state == line.StateActive && row.BarAt != line.Never:
		state, since = line.StateBarred, row.BarAt
	case state == line.StateActive:
		since = line.Never
	}
	churn := ""
	if state == line.StateNoticed {
		churn = written(row.Until, "")
	}
	return strings.Join([]string{
		number, written(row.Tenure, "UNKNOWN"), written(max(row.SIM, row.PortAt), "NEVER"), state.String(), written(since, ""), churn,
	}, ",")
}
