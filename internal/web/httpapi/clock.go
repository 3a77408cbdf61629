package httpapi

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// errLiveKey is for a live key where a test key is needed.
var errLiveKey = fault.New(fault.PermissionDenied, "This is a live key, and only test keys (lp_test_…) have a test clock. Create a test key, or ask the operator of the service for one.")

type clockResponse struct {
	Now       string          `json:"now"`
	Day       int             `json:"day"`
	StartedAt string          `json:"startedAt"`
	Lives     []clockScenario `json:"lives"`
}

type clockScenario struct {
	PhoneNumber string     `json:"phoneNumber"`
	Title       string     `json:"title"`
	Answer      string     `json:"answer"`
	Next        *clockStep `json:"next"`
}

type clockStep struct {
	Day    int    `json:"day"`
	At     string `json:"at"`
	Text   string `json:"text"`
	Answer string `json:"answer"`
}

// showClock serves GET /api/v1/test/clock.
func (b *Bank) showClock(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	if !c.isTest() {
		return errLiveKey
	}
	shown, err := b.Sandbox.State(r.Context(), c.key)
	if err != nil {
		return err
	}
	return c.respond(clockOf(shown))
}

// moveClock serves POST /api/v1/test/clock. What happens meanwhile to test numbers that
// the organisation watches is added to the feed of its test keys.
func (b *Bank) moveClock(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	if !c.isTest() {
		return errLiveKey
	}
	reset, step, err := readClockMove(c)
	if err != nil {
		return err
	}
	shown, err := b.Sandbox.Advance(r.Context(), c.key, reset, step, func(tx pg.Tx, m sandbox.Move) error {
		return b.Tests.Distribute(r.Context(), tx, c.owner.Entity, m)
	})
	if err != nil {
		return err
	}
	return c.respond(clockOf(shown))
}

// readClockMove reads how to move the clock: reset it, advance it, or reset it
// first and then advance it.
func readClockMove(c *bankCall) (reset bool, step time.Duration, err error) {
	var advance string
	var advances bool
	err = c.decode(func(wrong *fault.Form) {
		if advances {
			var ok bool
			step, ok = sandbox.ParseDuration(advance)
			wrong.Check(ok, "advance", fault.BadFormat, "Must be an ISO 8601 duration above zero in weeks, days, hours, minutes or seconds, for example P30D or PT12H.")
		}
		wrong.Check(advances || reset, "advance", fault.Required, "Enter how far to advance the clock, for example P30D, or send reset as true to start over.")
	}, field{name: "advance", text: &advance, present: &advances}, field{name: "reset", flag: &reset})
	return reset, step, err
}

func clockOf(s sandbox.ClockState) clockResponse {
	answer := clockResponse{Now: stamp(s.Now), Day: s.Day, StartedAt: stamp(s.Start), Lives: make([]clockScenario, len(s.Scenarios))}
	for i, l := range s.Scenarios {
		answer.Lives[i] = clockScenario{PhoneNumber: l.Number.E164(), Title: l.Title, Answer: l.Answer}
		if l.Next != nil {
			answer.Lives[i].Next = &clockStep{Day: l.Next.Day, At: stamp(l.Next.At), Text: l.Next.Text, Answer: l.Next.Answer}
		}
	}
	return answer
}
