package client

import (
	"context"
	"time"
)

// Standing is the reporting status of an operator.
type Standing struct {
	Network         string         `json:"network"` // its code
	Name            string         `json:"name"`
	KnownSince      time.Time      `json:"knownSince,omitzero"` // zero, like the next two, if there is none
	CompleteSince   time.Time      `json:"completeSince,omitzero"`
	SuppliedThrough time.Time      `json:"suppliedThrough,omitzero"` // the earliest of its required topics
	Silent          bool           `json:"silent"`                   // the reports of a required topic are older than the policy allows
	Lines           int64          `json:"lines"`
	Capacity        int64          `json:"capacity"`
	Share           float64        `json:"share"`
	Refused         int64          `json:"refused"` // in the last 30 days, like the events
	Events          []TypeStanding `json:"events"`

	Topics []TopicStanding `json:"topics"`
}

// TopicStanding is the reporting status of one topic.
type TopicStanding struct {
	Topic           string    `json:"topic"`                    // TopicLifecycle and the like
	SuppliedThrough time.Time `json:"suppliedThrough,omitzero"` // zero if it was never stated
	Required        bool      `json:"required"`                 // the policy requires it
	Fresh           bool      `json:"fresh"`                    // it is as recent as the policy requires; false if it is not required
	Doubtful        bool      `json:"doubtful"`                 // too many events contradicted the supplier's statements
}

// TypeStanding counts the reports of one type of event.
type TypeStanding struct {
	Type              string `json:"type"`
	Accepted          int64  `json:"accepted"`
	Late              int64  `json:"late"`
	Early             int64  `json:"early"` // numbers assigned again before the end of their quarantine
	MeanDelaySeconds  int64  `json:"meanDelaySeconds"`
	WorstDelaySeconds int64  `json:"worstDelaySeconds"`
}

// Supply returns the reporting status of operators: of the token's network, which
// needs [ScopeSupply], or of all networks with a session of the regulator's staff.
func (c *Client) Supply(ctx context.Context, credential Secret) ([]Standing, error) {
	type list struct {
		Operators []Standing `json:"operators"`
	}
	data, err := readData(ctx, c, credential, "supply", "/api/v1/lines/supply", func(d *list) bool { return d.Operators == nil })
	if err != nil {
		return nil, err
	}
	return data.Operators, nil
}

// HistoryQuery selects the history of a number. Only staff may set the times and the reason.
type HistoryQuery struct {
	PhoneNumber string
	AsOf        time.Time // return what was true at this time; zero means now
	KnownAt     time.Time // return what the service knew at this time; zero means now
	Reason      string    // why staff look the number up, in at least 10 characters; they must set it, and nobody else may
}

// History is the history of a number.
type History struct {
	Status        Status         `json:"status"`
	StatusReason  string         `json:"statusReason,omitzero"` // of StatusUnallocated and StatusUnknown
	MobileNetwork string         `json:"mobileNetwork"`
	Tenures       []Tenure       `json:"tenures"` // oldest first
	Events        []HistoryEvent `json:"events"`  // in the order in which they took effect
}

// Tenure is the period in which one holder has a number.
type Tenure struct {
	Network    string    `json:"network"`
	Start      time.Time `json:"start,omitzero"`      // zero if it is not known
	End        time.Time `json:"end,omitzero"`        // zero if it is current
	EndedAfter time.Time `json:"endedAfter,omitzero"` // it ended after this and not later than End; zero if End is exact
	State      string    `json:"state"`
	EndReason  string    `json:"endReason,omitzero"`
}

// HistoryEvent is one event about a number. Fields that the caller may not see are
// empty.
type HistoryEvent struct {
	Event       string    `json:"event"` // the service's id of the event
	ID          string    `json:"id,omitzero"`
	Type        string    `json:"type"`
	Source      string    `json:"source"`
	Network     string    `json:"network,omitzero"`
	Peer        string    `json:"peer,omitzero"` // the recipient of a port
	Code        string    `json:"code,omitzero"` // the reason or the level
	Note        string    `json:"note,omitzero"`
	EffectiveAt time.Time `json:"effectiveAt"`
	ToldAt      time.Time `json:"toldAt"`
	ChurnAt     time.Time `json:"churnAt,omitzero"` // of a notice
	Result      string    `json:"result"`
	Reason      string    `json:"reason,omitzero"` // why it does not simply count
	Held        string    `json:"held,omitzero"`   // why it waits for a confirmation by staff, or has waited
	Voided      bool      `json:"voided"`
	Voids       string    `json:"voids,omitzero"`    // the event that it withdrew or confirmed
	ImportID    string    `json:"importId,omitzero"` // the import that contained it
}

// History returns the tenures and events of a number. The credential is an
// access token with [ScopeSupply] of the number's network, or a session of the
// regulator's staff, whose requests are recorded with the reason and counted. A request
// beyond what one person may look up on a day fails with [CodeQuotaExceeded].
func (c *Client) History(ctx context.Context, credential Secret, q HistoryQuery) (*History, error) {
	r, err := c.newRequest(ctx, "history", "/api/v1/lines/history")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(credential); err != nil {
		return nil, err
	}
	fields := map[string]any{"phoneNumber": q.PhoneNumber}
	if !q.AsOf.IsZero() {
		fields["asOf"] = formatTime(q.AsOf)
	}
	if !q.KnownAt.IsZero() {
		fields["knownAt"] = formatTime(q.KnownAt)
	}
	if q.Reason != "" {
		fields["reason"] = q.Reason
	}
	if err := r.sendJSON(fields); err != nil {
		return nil, err
	}
	r.repeatable = true
	return sendData(ctx, c, r, func(d *History) bool { return d.Status == "" || d.MobileNetwork == "" })
}
