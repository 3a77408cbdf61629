package rehearsal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// Life is how a number with a scripted life stands, and what comes next.
type Life struct {
	Number phone.Number
	Title  string
	Answer string // the status, or the code of the error that is answered instead
	Next   *Turn  // nil when nothing more will happen
}

// Turn is something that happens to a number with a scripted life.
type Turn struct {
	At     time.Time
	Day    int    // of the test clock
	Text   string // what happens, in a sentence
	Answer string // from then on
}

// Lives returns the numbers with a scripted life, as they stand by the test
// clock.
func (s *Stage) Lives(c Clock, now time.Time, p *policy.Policy) []Life {
	var all []Life
	for _, r := range s.Roles() {
		if !r.Life {
			continue
		}
		at := c.present(now, p)
		all = append(all, Life{Number: r.Number, Title: r.Title, Answer: s.standing(&r, at).answer, Next: s.next(&r, at)})
	}
	return all
}

// standing is how a number stands: what is answered, and the signals behind it.
type standing struct {
	answer  string
	signals []line.Signal
	stale   line.Instant // when its network will be stale, if it stays silent
}

func (s *Stage) standing(r *Role, now present) standing {
	part := s.play(r, now, now.at.Time())
	if part.Fault != nil {
		return standing{answer: string(fault.CodeOf(part.Fault)), stale: line.Never}
	}
	view := part.Look.View(part.At)
	stands := standing{answer: string(view.Status), signals: view.Signals, stale: line.Never}
	if r.silence.holds(&now) {
		stands.stale = now.day(r.silence.from).Add(now.rules.Freshness())
	}
	return stands
}

// next returns the first thing that happens after the present: something that
// the script tells, or a change of the answer that the clock brings.
func (s *Stage) next(r *Role, now present) *Turn {
	for {
		before := s.standing(r, now)
		at, ok := r.soonest(&now, before)
		if !ok {
			return nil
		}
		now.at = at
		after := s.standing(r, now)
		if text := r.happened(&now, before); text != "" || after.answer != before.answer {
			return &Turn{At: at.Time(), Day: now.today(), Text: text, Answer: after.answer}
		}
	}
}

// soonest returns the first moment after the present at which anything can
// change.
func (r *Role) soonest(now *present, stands standing) (first line.Instant, ok bool) {
	moments := []line.Instant{stands.stale}
	for i := range r.told {
		moments = append(moments, r.told[i].at(now), r.told[i].heardAt(now))
	}
	for _, signal := range stands.signals {
		moments = append(moments, signal.Until)
	}
	for _, s := range []span{r.silence, r.outage} {
		if s != (span{}) {
			moments = append(moments, now.day(s.from), now.day(s.until))
		}
	}
	moments = slices.DeleteFunc(moments, func(m line.Instant) bool { return m <= now.at })
	if len(moments) == 0 {
		return line.Never, false
	}
	return slices.Min(moments), true
}

// happened says what happens at this very moment. Before is how the line stood
// until now.
func (r *Role) happened(now *present, before standing) string {
	var texts []string
	for i := range r.told {
		if t := &r.told[i]; t.text != "" && t.heardAt(now) == now.at {
			texts = append(texts, t.text)
		}
	}
	for _, signal := range before.signals {
		switch {
		case signal.Until != now.at:
		case signal.Status == line.PendingChurn:
			texts = append(texts, "The day of the announced churn has come.")
		case signal.Status == line.Swapped && signal.Source == line.ClearingHouse: // it ends with PORTED
		default:
			texts = append(texts, fmt.Sprintf("The time of %s is over.", signal.Status))
		}
	}
	if before.stale == now.at {
		texts = append(texts, "The last supply has become too old.")
	}
	return strings.Join(texts, " ")
}

// Opening says how the life of a number begins, on day 0 of the test clock.
func (r *Role) Opening() string {
	if !r.Life {
		return ""
	}
	var texts []string
	start := &present{}
	for i := range r.told {
		if t := &r.told[i]; t.heardAt(start) <= start.at {
			texts = append(texts, t.text)
		}
	}
	return strings.Join(texts, " ")
}
