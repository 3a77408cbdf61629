package httpapi

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

// clockPath is where a key for tests finds its clock.
const clockPath = "/api/v1/test/clock"

// errLiveKey reports a live key where only one for tests will do.
var errLiveKey = fault.New(fault.PermissionDenied, "Only keys for tests (lp_test_…) have a test clock, and this is a live key. Ask the operator of the service for a key for tests.")

type clockResponse struct {
	Now       string      `json:"now"`
	Day       int         `json:"day"`
	StartedAt string      `json:"startedAt"`
	Lives     []clockLife `json:"lives"`
}

type clockLife struct {
	PhoneNumber string     `json:"phoneNumber"`
	Title       string     `json:"title"`
	Answer      string     `json:"answer"`
	Next        *clockTurn `json:"next"`
}

type clockTurn struct {
	Day    int    `json:"day"`
	At     string `json:"at"`
	Text   string `json:"text"`
	Answer string `json:"answer"`
}

// showClock serves GET /api/v1/test/clock.
func (a *API) showClock(desk *rehearsal.Desk) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := testKey(r)
		if err != nil {
			return err
		}
		shown, err := desk.Show(r.Context(), key.ID)
		if err != nil {
			return err
		}
		return a.respond(w, r, clockOf(shown))
	}
}

// moveClock serves POST /api/v1/test/clock.
func (a *API) moveClock(desk *rehearsal.Desk) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		key, err := testKey(r)
		if err != nil {
			return err
		}
		reset, step, err := readMove(w, r)
		if err != nil {
			return err
		}
		shown, err := desk.Move(r.Context(), key.ID, reset, step)
		if err != nil {
			return err
		}
		return a.respond(w, r, clockOf(shown))
	}
}

// testKey returns the caller, if it is a key for tests.
func testKey(r *http.Request) (access.Principal, error) {
	who := principal(r.Context())
	if who.Mode != access.Test {
		return access.Principal{}, errLiveKey
	}
	return who, nil
}

// readMove reads how the clock is to be moved: reset, advance, or first the one
// and then the other.
func readMove(w http.ResponseWriter, r *http.Request) (reset bool, step time.Duration, err error) {
	var advance string
	var asked bool
	found, err := decode(w, r, field{name: "advance", text: &advance, given: &asked}, field{name: "reset", flag: &reset})
	if err != nil {
		return false, 0, err
	}
	var wrong fault.Form
	if asked {
		var ok bool
		step, ok = rehearsal.ParseStep(advance)
		wrong.Check(ok, "advance", fault.BadFormat, "Write how far to go as a duration of ISO 8601 in weeks, days, hours, minutes or seconds, for example P30D or PT12H. It must be more than nothing.")
	}
	wrong.Check(asked || reset, "advance", fault.Required, "Say how far to advance the clock, for example P30D, or send reset as true to begin anew.")
	return reset, step, merge(found, wrong.Err())
}

func clockOf(s rehearsal.Showing) clockResponse {
	answer := clockResponse{Now: stamp(s.Now), Day: s.Day, StartedAt: stamp(s.Begun), Lives: make([]clockLife, len(s.Lives))}
	for i, l := range s.Lives {
		answer.Lives[i] = clockLife{PhoneNumber: l.Number.E164(), Title: l.Title, Answer: l.Answer}
		if l.Next != nil {
			answer.Lives[i].Next = &clockTurn{Day: l.Next.Day, At: stamp(l.Next.At), Text: l.Next.Text, Answer: l.Next.Answer}
		}
	}
	return answer
}
