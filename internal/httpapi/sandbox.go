package httpapi

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/sandbox"
)

// clockPath is the path of the test clock of a test key.
const clockPath = "/api/v1/test/clock"

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
func (a *API) showClock(service *sandbox.Service) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := testKey(r)
		if err != nil {
			return err
		}
		shown, err := service.State(r.Context(), key.ID)
		if err != nil {
			return err
		}
		return a.respond(w, r, clockOf(shown))
	}
}

// moveClock serves POST /api/v1/test/clock.
func (a *API) moveClock(service *sandbox.Service) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := testKey(r)
		if err != nil {
			return err
		}
		reset, step, err := readClockMove(w, r)
		if err != nil {
			return err
		}
		shown, err := service.Advance(r.Context(), key.ID, reset, step)
		if err != nil {
			return err
		}
		return a.respond(w, r, clockOf(shown))
	}
}

// testKey returns the caller, which must be a test key.
func testKey(r *http.Request) (access.Principal, error) {
	who := principal(r.Context())
	if who.Mode != access.Test {
		return access.Principal{}, errLiveKey
	}
	return who, nil
}

// readClockMove reads how to move the clock: reset it, advance it, or reset it
// first and then advance it.
func readClockMove(w http.ResponseWriter, r *http.Request) (reset bool, step time.Duration, err error) {
	var advance string
	var advances bool
	found, err := decode(w, r, field{name: "advance", text: &advance, present: &advances}, field{name: "reset", flag: &reset})
	if err != nil {
		return false, 0, err
	}
	var wrong fault.Form
	if advances {
		var ok bool
		step, ok = sandbox.ParseDuration(advance)
		wrong.Check(ok, "advance", fault.BadFormat, "Must be an ISO 8601 duration above zero in weeks, days, hours, minutes or seconds, for example P30D or PT12H.")
	}
	wrong.Check(advances || reset, "advance", fault.Required, "Enter how far to advance the clock, for example P30D, or send reset as true to start over.")
	return reset, step, mergeViolations(found, wrong.Err())
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
