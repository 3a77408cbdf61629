package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Scenario is the present state of a test number whose line changes with the
// test clock, and its next step.
type Scenario struct {
	Number phone.Number
	Title  string
	Answer string // the status, or the code of the error that is returned instead
	Next   *Step  // nil when nothing more will happen
}

// Step is one change in a scenario.
type Step struct {
	At     time.Time
	Day    int    // of the test clock
	Text   string // what happens, in a sentence
	Answer string // from then on
}

// Scenarios returns the scenarios in their state by the test clock.
func (s *Simulator) Scenarios(c Clock, now time.Time, p *policy.Policy) []Scenario {
	var all []Scenario
	for _, n := range s.TestNumbers() {
		if !n.IsScenario {
			continue
		}
		at := c.moment(now, p)
		all = append(all, Scenario{Number: n.Number, Title: n.Title, Answer: s.evaluate(&n, at).answer, Next: s.nextStep(&n, at)})
	}
	return all
}

// Answer returns what a test key that never advanced its clock is answered for a test
// number by the policy of a new service: a status, or the code of the error that is
// returned instead.
func (s *Simulator) Answer(n *TestNumber, now time.Time) string {
	if n.delay >= beyondTimeout {
		return string(fault.Unavailable)
	}
	p := policy.Defaults()
	return s.evaluate(n, Clock{}.moment(now, &p)).answer
}

// evaluation is the answer for a test number at a moment, and the signals behind
// it.
type evaluation struct {
	answer  string
	signals []line.Signal
	staleAt line.Instant // when the supply becomes stale, within a supply gap; else Never
}

func (s *Simulator) evaluate(n *TestNumber, now moment) evaluation {
	result := s.simulate(n, now, now.at.Time())
	if result.Fault != nil {
		return evaluation{answer: string(fault.CodeOf(result.Fault)), staleAt: line.Never}
	}
	view := result.Lookup.View(result.At)
	e := evaluation{answer: string(view.Status), signals: view.Signals, staleAt: line.Never}
	if n.supplyGap.contains(&now) {
		e.staleAt = now.day(n.supplyGap.from).Add(12*time.Hour + staleAfter(*now.policy))
	}
	return e
}

// nextStep returns the first step after a moment: a scripted event with a text,
// or a change of the answer by the clock.
func (s *Simulator) nextStep(n *TestNumber, now moment) *Step {
	for {
		before := s.evaluate(n, now)
		at, ok := n.nextMoment(&now, before)
		if !ok {
			return nil
		}
		now.at = at
		after := s.evaluate(n, now)
		if text := n.textAt(&now, before); text != "" || after.answer != before.answer {
			return &Step{At: at.Time(), Day: now.today(), Text: text, Answer: after.answer}
		}
	}
}

// nextMoment returns the first time after a moment at which anything can change.
func (n *TestNumber) nextMoment(now *moment, e evaluation) (first line.Instant, ok bool) {
	candidates := []line.Instant{e.staleAt}
	for i := range n.events {
		candidates = append(candidates, n.events[i].effective(now), n.events[i].reportedAt(now))
	}
	for _, signal := range e.signals {
		candidates = append(candidates, signal.Until)
	}
	for _, r := range []dayRange{n.supplyGap, n.outage} {
		if r != (dayRange{}) {
			candidates = append(candidates, now.day(r.from), now.day(r.until))
		}
	}
	candidates = slices.DeleteFunc(candidates, func(at line.Instant) bool { return at <= now.at })
	if len(candidates) == 0 {
		return line.Never, false
	}
	return slices.Min(candidates), true
}

// textAt describes what happens at a moment; before is the evaluation just
// before it.
func (n *TestNumber) textAt(now *moment, before evaluation) string {
	var texts []string
	for i := range n.events {
		if e := &n.events[i]; e.text != "" && e.reportedAt(now) == now.at {
			texts = append(texts, e.text)
		}
	}
	for _, signal := range before.signals {
		switch {
		case signal.Until != now.at:
		case signal.Status == line.PendingChurn:
			texts = append(texts, "The announced churn date has been reached.")
		case signal.Status == line.Swapped && signal.Source == line.ClearingHouse: // it ends together with PORTED
		default:
			texts = append(texts, fmt.Sprintf("The %s window has ended.", signal.Status))
		}
	}
	if before.staleAt == now.at {
		texts = append(texts, "The last supply is now older than the policy allows.")
	}
	return strings.Join(texts, " ")
}

// StartText describes the start of a scenario, on day 0 of the test clock.
func (n *TestNumber) StartText() string {
	if !n.IsScenario {
		return ""
	}
	var texts []string
	start := &moment{}
	for i := range n.events {
		if e := &n.events[i]; e.reportedAt(start) <= start.at {
			texts = append(texts, e.text)
		}
	}
	return strings.Join(texts, " ")
}
