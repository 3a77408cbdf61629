package scenario_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// run reports the message.
func (m message) run(e *env) {
	e.setClock(m.reported)
	if m.number == "" {
		m.number = e.row.number
	}
	if _, ordered := orders[strings.Fields(m.what)[0]]; ordered && m.by == regulator {
		m.order(e)
		return
	}
	items := make([]supply.Item, m.times)
	for i := range items {
		items[i] = m.item(e)
		if m.times > 1 {
			items[i].PhoneNumber = otherNumber(m.by.name, i%otherLines)
		}
	}
	for part := range slices.Chunk(items, supply.MaxEvents) {
		receipt, err := e.ApplyEvents(e.ctx, m.by.Supplier, part)
		e.must(err)
		for _, r := range receipt.Results {
			if got := words(r.Outcome, r.Reason); got != m.want && r.Outcome != m.want {
				e.failf("%s: got %s", m.told(), got)
				break
			}
		}
	}
}

// levels and reasons tell what a word of a message is.
var (
	levels  = []string{"MEDIUM", "HIGH", "VERY_HIGH"}
	reasons = []string{"NIN", "FRAUD", "COURT", "LOST", "DEBT", "OTHER", "CHURNED", "SURRENDERED"}
)

// item returns the message as a call of the API has it.
func (m message) item(e *env) supply.Item {
	e.count++
	i := supply.Item{ID: "e" + strconv.Itoa(e.count), PhoneNumber: m.number, EffectiveAt: m.at.written()}
	if m.id != "" {
		i.ID = m.id
	}
	if m.name != "" {
		e.ids[m.name] = i.ID
	}
	said := strings.Fields(m.what)
	i.Type = said[0]
	for n, w := range said[1:] {
		switch {
		case i.Type == "VOIDED":
			i.Voids, i.Note = e.ids[w], "a mistake"
		case n > 0 && said[n] == "to":
			i.Network = w
		case slices.Contains(levels, w):
			i.Level = w
		case slices.Contains(reasons, w):
			i.Reason = w
		case w == "HOLDER" || w == "NUMBER":
			i.Scope = w
		case w == "first":
			i.FirstHolder = true
		}
	}
	if i.Type == "ENDED" && i.Reason == "" {
		i.Reason = "CHURNED"
	}
	if m.churn != (when{}) {
		i.ChurnAt = m.churn.written()
	}
	return i
}

// orders are the messages that the regulator sends as orders.
var orders = map[string]string{
	"BARRED": "BAR", "UNBARRED": "UNBAR", "BLACKLISTED": "BLACKLIST", "RELEASED": "RELEASE", "VOIDED": "VOID", "CONFIRMED": "CONFIRM",
}

// order gives the message as an order of the regulator. A second person confirms what
// takes two.
func (m message) order(e *env) {
	said := strings.Fields(m.what)
	f := order.Form{PhoneNumber: m.number, Action: orders[said[0]], Note: "for the scenario"}
	if m.at != m.reported {
		f.EffectiveAt = m.at.written()
	}
	for _, w := range said[1:] {
		switch {
		case f.Action == "VOID" || f.Action == "CONFIRM":
			f.Event = strconv.FormatInt(e.seqOf(w), 10)
		case slices.Contains(reasons, w):
			f.Reason = w
		case w == "HOLDER" || w == "NUMBER":
			f.Scope = w
		}
	}
	orders := order.Service{Supply: e.Service, CheckClient: access.CheckOrders}
	o, err := orders.Create(e.ctx, m.by.Supplier, f)
	if err == nil && o.State == order.Pending {
		o, err = orders.Confirm(e.ctx, deputy.Supplier, o.ID)
	}
	got := words(o.Result.Outcome, o.Result.Reason)
	if err == nil && o.State == order.Unconfirmed {
		_, err = orders.Confirm(e.ctx, deputy.Supplier, o.ID)
	}
	if err != nil {
		got = supply.Refused
	}
	if got != m.want {
		e.failf("%s: got %s, %v", m.told(), got, err)
	}
	if m.name != "" {
		e.ids[m.name] = o.ID.String()
	}
}

// seqOf returns the service's id of an event, by the name of its message, or the
// newest of a type that a snapshot made.
func (e *env) seqOf(name string) (seq int64) {
	h, err := e.History(e.ctx, supply.HistoryQuery{Number: e.number(e.row.number)})
	e.must(err)
	for _, event := range h.Events {
		if id, named := e.ids[name]; named && event.ID == id || !named && event.Type == name && event.ID == "" {
			seq = max(seq, event.Seq)
		}
	}
	if seq == 0 {
		e.failf("there is no event %s", name)
	}
	return seq
}

// assurance is a statement that everything of some topics up to a time was reported.
type assurance struct {
	by       *party
	topics   string
	through  when
	reported when
	refused  bool
}

// assured assures that everything of the topics up to a time was reported.
func assured(by *party, topics string, through when) assurance {
	return assurance{by: by, topics: topics, through: through, reported: through}
}

func (a assurance) sent(at when) assurance {
	a.reported = at
	return a
}

func (a assurance) isRefused() assurance {
	a.refused = true
	return a
}

func (a assurance) addTo(r *row) {
	r.silent = true
	r.steps = append(r.steps, a)
}

func (a assurance) told() string {
	text := fmt.Sprintf("%s: %s assures %s", a.reported, a.by.name, strings.ReplaceAll(a.topics, " ", " and "))
	if a.through != a.reported {
		text += " through " + a.through.String()
	}
	if a.refused {
		text += " → REFUSED"
	}
	return text
}

func (a assurance) run(e *env) {
	e.setClock(a.reported)
	var list []supply.Assurance
	for word := range strings.FieldsSeq(a.topics) {
		topic, ok := line.ParseTopic(word)
		if !ok {
			panic("no topic " + word)
		}
		list = append(list, supply.Assurance{Topic: topic, Through: a.through.at.UTC()})
	}
	_, err := e.ApplyEvents(e.ctx, a.by.Supplier, nil, list...)
	if (err != nil) != a.refused {
		e.failf("%s: %v", a.told(), err)
	}
}

// assureAll assures, for everybody whom the scenario is about, that everything up to
// now was reported.
func (e *env) assureAll() {
	if e.row.silent {
		return
	}
	now := when{at: e.clock}
	for _, by := range operators {
		if e.row.involves(by) {
			assured(by, "LIFECYCLE SIM", now).run(e)
		}
	}
	based := slices.ContainsFunc(e.row.steps, func(s step) bool { return strings.Contains(s.told(), "first base") })
	if current, _, err := e.Lines.Current(e.ctx, e.Pool, e.clock); err == nil && (current.ClearingHouse != "" || based) {
		assured(house, "PORT", now).run(e)
	}
}

// involves reports whether a scenario is about an operator: MTN, whose line it is, or
// one that a message names.
func (r *row) involves(by *party) bool {
	return by == mtn || slices.ContainsFunc(r.steps, func(s step) bool { return strings.Contains(s.told(), by.name) })
}

// act is something that staff do, or that happened outside the table.
type act struct {
	at    when
	words string
	do    func(e *env)
}

func (a act) addTo(r *row) { r.steps = append(r.steps, a) }
func (a act) told() string { return fmt.Sprintf("%s: %s", a.at, a.words) }
func (a act) run(e *env) {
	e.setClock(a.at)
	a.do(e)
}

// fileConfirmed lets the held file be applied.
func fileConfirmed(at when) part {
	return act{at, "staff confirm the file", (*env).confirmLast}
}

// confirmLast confirms the file that was sent last, and applies it.
func (e *env) confirmLast() {
	e.must(e.InTx(e.ctx, func(tx pg.Tx) error {
		return e.ConfirmHeld(e.ctx, tx, e.lastImport.ID, audit.Entry{At: e.Now(), Actor: audit.Actor{Kind: audit.Operator}})
	}))
	e.runImport(e.lastImport.ID, supply.Finished, "")
}

// snapshotVoided withdraws the network's newest snapshot.
func snapshotVoided(at when) part {
	return act{at, "staff void that snapshot", func(e *env) {
		e.must(e.InTx(e.ctx, func(tx pg.Tx) error {
			return e.StartVoid(e.ctx, tx, e.lastImport.ID, audit.Entry{At: e.Now(), Actor: audit.Actor{Kind: audit.Operator}, After: map[string]any{}})
		}))
		_, err := e.VoidSnapshot(e.ctx, e.lastImport.ID, nil)
		e.must(err)
	}}
}

// waiting gives a network pending events, and lines.
func waiting(by *party, events, lines int, at when) part {
	return act{at, fmt.Sprintf("%s has %d lines and %d pending events", by.name, lines, events), func(e *env) {
		_, plan, err := e.Lines.Current(e.ctx, e.Pool, e.clock)
		e.must(err)
		n, _ := plan.Network(by.Network)
		_, err = e.admin.Exec(e.ctx, `INSERT INTO line_open (seq, number, outcome, half, hold, network, reported_at)
			SELECT n, 2348039000000 + n, $1, false, 0, $2, $3 FROM generate_series(1, $4) AS n`, int16(line.Waiting), n, e.clock, events)
		e.must(err)
		_, err = e.admin.Exec(e.ctx, `UPDATE network_lines SET lines = $1 WHERE network = $2`, lines, n)
		e.must(err)
	}}
}

// houseBase is the clearing house's first base of ports, which has none and is confirmed.
func houseBase(at when) part {
	return act{at, "the clearing house supplies its first base", func(e *env) {
		im, err := e.Begin(e.ctx, house.Supplier, supply.ImportForm{Kind: linefile.Snapshot, AsOf: e.clock}, "api")
		e.must(err)
		e.lastFile = "id,number,type,effectiveAt,network\n"
		e.runImport(im.ID, supply.Held, "")
		e.confirmLast()
	}}
}
