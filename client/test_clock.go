package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// TestClock is the test clock of a test key, by which some test numbers change.
type TestClock struct {
	Now       time.Time  `json:"now"`
	Day       int        `json:"day"` // how many days of 24 hours it is ahead of its start
	StartedAt time.Time  `json:"startedAt"`
	Lives     []TestLife `json:"lives"`
}

// TestLife is a test number that changes with the clock.
type TestLife struct {
	PhoneNumber string    `json:"phoneNumber"`
	Title       string    `json:"title"`  // what it simulates
	Answer      string    `json:"answer"` // of a verification now: a status or the code of an error
	Next        *TestStep `json:"next"`   // nil if nothing follows
}

// TestStep is what happens to a test number next.
type TestStep struct {
	Day    int       `json:"day"` // of the clock
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
	Answer string    `json:"answer"` // from then on
}

// ClockMove says how a test clock is moved.
type ClockMove struct {
	Reset   bool          // to day 0, before it is advanced
	Advance time.Duration // in whole seconds, at most 3,650 days
}

const clockPath = "/api/v1/test/clock"

// TestClock returns the test clock of a test key. A live key has none.
func (c *Client) TestClock(ctx context.Context, key Secret) (*TestClock, error) {
	r, err := c.newRead(ctx, "test clock", clockPath, key)
	if err != nil {
		return nil, err
	}
	return sendClock(ctx, c, r)
}

// MoveTestClock moves the test clock of a test key, and returns it. With Reset a call has the same
// effect every time, and only then it is retried when its response was lost.
func (c *Client) MoveTestClock(ctx context.Context, key Secret, m ClockMove) (*TestClock, error) {
	r, err := c.newRequest(ctx, "move test clock", clockPath)
	if err != nil {
		return nil, err
	}
	if m.Advance < 0 || m.Advance%time.Second != 0 {
		return nil, r.wrong("the clock can be advanced by whole seconds only")
	}
	fields := map[string]any{}
	if m.Reset {
		fields["reset"] = true
	}
	if m.Advance > 0 {
		const day = 24 * time.Hour
		fields["advance"] = fmt.Sprintf("P%dDT%dS", m.Advance/day, m.Advance%day/time.Second)
	}
	if err := r.sendJSON(fields); err != nil {
		return nil, err
	}
	r.method, r.repeatable = http.MethodPost, m.Reset
	if err := r.authorize(key); err != nil {
		return nil, err
	}
	return sendClock(ctx, c, r)
}

func sendClock(ctx context.Context, c *Client, r *request) (*TestClock, error) {
	answer, err := send[envelope[TestClock]](ctx, c, r)
	switch {
	case err != nil:
		return nil, err
	case answer.Data.Now.IsZero() || answer.Data.StartedAt.IsZero():
		return nil, r.incomplete()
	}
	return &answer.Data, nil
}
