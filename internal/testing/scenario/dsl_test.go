package scenario_test

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// group is the scenarios of one rule.
type group struct {
	name, title string
	rows        []*row
}

// row is one scenario: its steps in order, each with what it must lead to.
type row struct {
	title  string
	number string // the number that the scenario is about
	bare   bool   // nobody has supplied anything yet
	silent bool   // suppliers assure only what the row says
	policy []func(*policy.Policy)
	given  []string // for the page
	ranges []planChange
	steps  []step
}

// step is something that happens: a message, a file, an assurance, a question.
type step interface {
	run(e *env)
	told() string // for the page; empty if the step is not a message
}

// part is what a scenario is made of: a step, a setting, or an expected answer.
type part interface{ addTo(r *row) }

// setting is a part that is no step.
type setting func(r *row)

func (s setting) addTo(r *row) { s(r) }

// s is a scenario.
func s(title string, parts ...part) *row {
	r := &row{title: title, number: theLine}
	for _, p := range parts {
		p.addTo(r)
	}
	return r
}

// The numbers of scenarios. The standard environment has theLine with MTN since 2018,
// its SIM never changed, and nobody has ever had neverHad.
const (
	theLine  = "+2348030000001"
	another  = "+2348030000002"
	neverHad = "+2348030009999"
	ofT2     = "+2348090000001" // T2 has never supplied
	noRange  = "+2347130000001" // no network has the range
)

var (
	// never makes the scenario one of a number that nobody has had.
	never = setting(func(r *row) {
		r.number = neverHad
		r.given = append(r.given, "Nobody has ever had the number, which is in MTN's range.")
	})
	// nobody makes the scenario start before anybody has supplied anything.
	nobody = setting(func(r *row) {
		r.bare = true
		r.given = append(r.given, "Nobody has supplied anything yet.")
	})
	// silent means that nobody assures more than the scenario says.
	silent = setting(func(r *row) { r.silent = true })
)

// about makes the scenario one of another number.
func about(number, words string) part {
	return setting(func(r *row) { r.number, r.given = number, append(r.given, words) })
}

// with changes the policy.
func with(words string, change func(p *policy.Policy)) part {
	return setting(func(r *row) { r.policy, r.given = append(r.policy, change), append(r.given, words) })
}

// named is the policy with a clearing house, so that PORT is required.
var named = with("The policy names a clearing house.", func(p *policy.Policy) { p.ClearingHouse = "NPC" })

// unlimited is the policy without a limit of false assurances, for scenarios that ask
// before a late report.
var unlimited = with("The policy has no limit of false assurances.", func(p *policy.Policy) { p.FalseAssurancePercent = 100 })

// planChange allocates or withdraws a range.
type planChange struct {
	prefix, network      string
	allocated, withdrawn when
}

// allocated gives a network a new range.
func allocated(prefix, network string, at when) part {
	return setting(func(r *row) {
		r.ranges = append(r.ranges, planChange{prefix, network, at, when{}})
		r.given = append(r.given, fmt.Sprintf("The range was allocated to %s on %s.", network, at))
	})
}

// withdrawn takes the range of the number from MTN.
func withdrawn(at when) part {
	return setting(func(r *row) {
		r.ranges = append(r.ranges, planChange{"234803", "MTN", when{}, at})
		r.given = append(r.given, fmt.Sprintf("The range was withdrawn from MTN on %s.", at))
	})
}

// party is somebody who reports.
type party struct {
	name string
	supply.Supplier
}

func newParty(name string, a line.Authority) *party {
	id := uuid.NewSHA1(uuid.Nil, []byte(name))
	p := &party{name, supply.Supplier{Authorities: []line.Authority{a}, Client: id, Actor: audit.Actor{Kind: audit.Client, ID: id}}}
	if a == line.Operator {
		p.Network = name
	}
	return p
}

// Who reports. CBN and SEC are sector regulators.
var (
	mtn       = newParty("MTN", line.Operator)
	airtel    = newParty("AIRTEL", line.Operator)
	glo       = newParty("GLO", line.Operator)
	house     = newParty("the clearing house", line.ClearingHouse)
	cbn       = newParty("CBN", line.Sector)
	sector    = newParty("SEC", line.Sector)
	regulator = newParty("the regulator", line.Regulator)
	deputy    = newParty("the deputy", line.Regulator)
)

// message is one event as it was reported.
type message struct {
	by       *party
	what     string
	at       when
	reported when
	churn    when
	name     string // by which a later message voids or confirms it
	id       string // the supplier's id, if the scenario is about ids
	number   string
	times    int
	want     string
}

// told is a message: who reports what, and when that took effect. It is reported when
// it took effect unless it says otherwise, and applies.
func told(by *party, what string, at when, options ...func(*message)) message {
	m := message{by: by, what: what, at: at, reported: at, want: "APPLIED", times: 1}
	if at.bare {
		m.reported = at.plus(24*hour - sec)
	}
	for _, o := range options {
		o(&m)
	}
	return m
}

func reported(at when) func(*message) { return func(m *message) { m.reported = at } }
func churning(at when) func(*message) { return func(m *message) { m.churn = at } }
func as(name string) func(*message)   { return func(m *message) { m.name = name } }
func withID(id string) func(*message) { return func(m *message) { m.id = id } }
func times(n int) func(*message)      { return func(m *message) { m.times = n } }

// ofAnother makes the message one about another line of MTN.
func ofAnother(m *message) { m.number = another }

// is sets the outcome of the message.
func (m message) is(want string) message {
	m.want = want
	return m
}

func (m message) addTo(r *row) { r.steps = append(r.steps, m) }

func (m message) told() string {
	what := "`" + strings.Fields(m.what)[0] + "`"
	if rest := strings.Fields(m.what)[1:]; len(rest) > 0 {
		what += " " + strings.Join(rest, " ")
	}
	if m.churn != (when{}) {
		what += fmt.Sprintf(" for %s", m.churn)
	}
	if m.times > 1 {
		what = fmt.Sprintf("%d × %s about other lines", m.times, what)
	}
	if m.number == another {
		what += " about another line"
	}
	if m.id != "" {
		what += " with the id " + m.id
	}
	if m.name != "" {
		what += " (" + m.name + ")"
	}
	text := fmt.Sprintf("%s: %s reports %s", m.reported, m.by.name, what)
	if m.at != m.reported {
		text += " of " + m.at.String()
	}
	if m.want != "APPLIED" {
		text += " → " + outcomeWords(m.want)
	}
	return text
}

func outcomeWords(want string) string {
	outcome, reason, ok := strings.Cut(want, " ")
	if !ok {
		return outcome
	}
	return outcome + " (`" + reason + "`)"
}
