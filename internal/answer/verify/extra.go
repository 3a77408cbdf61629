package verify

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
)

// Include selects what an answer contains beyond its five standard fields.
type Include struct {
	Signals  bool // every condition that applies to the line
	Coverage bool // the coverage of the network's supply
	Dates    bool // of the tenure, the last SIM change and the last port
	Receipt  bool // a promise of a receipt, which is not part of the recorded extra
}

// Extra is the part of an answer beyond its five standard fields. Parts that
// were not requested are absent. The names and their order are part of the API
// contract.
type Extra struct {
	// StatusReason says why a line is UNALLOCATED or UNKNOWN. It is included
	// together with the signals.
	StatusReason line.Reason `json:"statusReason,omitzero"`
	Signals      []Signal    `json:"signals,omitzero"`
	Coverage     *Coverage   `json:"coverage,omitzero"`
	Dates        *Dates      `json:"dates,omitzero"`

	*Since // nil if no time was asked about
}

// Since lists the changes since a time.
type Since struct {
	ChangedSince string        `json:"changedSince"` // yes, no or unknown
	SinceUsed    time.Time     `json:"sinceUsed"`    // the time that changedSince is about; see [sinceFor]
	Changes      []line.Change `json:"changes"`
	KnownThrough time.Time     `json:"knownThrough"` // up to when the answer knows; zero when it knows nothing
}

// Signal is one condition that applies to a line. It does not contain the reason
// of a bar, which only staff may see.
type Signal struct {
	Status line.Status `json:"status"`
	Since  time.Time   `json:"since"` // zero when unknown
	Until  time.Time   `json:"until"` // zero when it does not expire
	Source string      `json:"source"`
	Level  string      `json:"level,omitzero"` // flags only

	Contested bool `json:"contested,omitzero"` // its operator withdrew it
}

// Coverage is the period that the supply of the line's network covers: all required
// topics together, and each.
type Coverage struct {
	KnownSince      time.Time    `json:"knownSince"`      // zero when nothing was supplied
	SuppliedThrough time.Time    `json:"suppliedThrough"` // zero when no supply was declared complete up to a time
	Topics          []TopicState `json:"topics"`
}

// TopicState is the coverage of one topic.
type TopicState struct {
	Topic           string    `json:"topic"`
	KnownSince      time.Time `json:"knownSince"`
	SuppliedThrough time.Time `json:"suppliedThrough"`
	Required        bool      `json:"required"`
	Fresh           bool      `json:"fresh"`
}

// contractTimes formats times as the API contract says: ISO 8601 in UTC with
// milliseconds, and null for the zero time.
var contractTimes = json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, t time.Time) error {
	if t.IsZero() {
		return to.WriteToken(jsontext.Null)
	}
	return to.WriteToken(jsontext.String(t.UTC().Format(contractTime)))
}))

// wantsExtra reports whether the record of the answer will have more than the standard
// fields.
func (r *Request) wantsExtra() bool {
	return !r.Since.IsZero() || r.Include.Signals || r.Include.Coverage || r.Include.Dates
}

// options returns the options of the request as the journal stores them: equal
// options always give the same text.
func (r *Request) options() string {
	if !r.wantsExtra() && !r.Include.Receipt && !r.Grace {
		return ""
	}
	var all, include []string
	if !r.Since.IsZero() {
		all = append(all, "since="+r.Since.UTC().Format(time.RFC3339))
	}
	if r.Include.Coverage {
		include = append(include, "coverage")
	}
	if r.Include.Dates {
		include = append(include, "dates")
	}
	if r.Include.Receipt {
		include = append(include, "receipt")
	}
	if r.Include.Signals {
		include = append(include, "signals")
	}
	if len(include) > 0 {
		all = append(all, "include="+strings.Join(include, ","))
	}
	if r.Grace {
		all = append(all, "gate=grace")
	}
	return strings.Join(all, " ")
}

// extra computes the requested extra fields.
func (r *Request) extra(l *linestore.Lookup, v line.View, at time.Time) (e Extra) {
	if r.Include.Signals {
		e.StatusReason = v.Reason
		e.Signals = make([]Signal, 0, len(v.Signals)) // an empty list is [] and not absent
		for _, s := range v.Signals {
			e.Signals = append(e.Signals, Signal{
				Status: s.Status, Since: s.Since.Time(), Until: s.Until.Time(), Source: s.Source.String(), Level: s.Level.String(), Contested: s.Contested,
			})
		}
	}
	if r.Include.Coverage {
		e.Coverage = coverageOf(l, at)
	}
	if r.Include.Dates {
		e.Dates = datesOf(l, v, r.Purpose, at)
	}
	if !r.Since.IsZero() {
		used := r.Since
		if !r.isTest() { // a test number hides nothing, and its days have no months
			used = sinceFor(l.Policy, r.Purpose, r.Since)
		}
		since := line.ChangedSince(&l.Facts, l.Policy, used, at)
		e.Since = &Since{since.Changed, used, since.Changes, since.KnownThrough}
	}
	return e
}

// coverageOf returns how far the supply behind an answer reaches.
func coverageOf(l *linestore.Lookup, at time.Time) *Coverage {
	c := &Coverage{Topics: []TopicState{}}
	for _, t := range l.Topics(l.Policy, at) {
		c.Topics = append(c.Topics, TopicState{
			Topic: t.Topic.String(), KnownSince: t.KnownSince, SuppliedThrough: t.Through, Required: t.Required, Fresh: t.Fresh,
		})
		if !t.Required {
			continue
		}
		if t.KnownSince.After(c.KnownSince) {
			c.KnownSince = t.KnownSince
		}
	}
	c.SuppliedThrough = l.KnownThrough(l.Policy, at)
	return c
}

// text returns e as one JSON object, for the record and for the caller.
func (e *Extra) text() (string, error) {
	b, err := json.Marshal(e, contractTimes)
	if err != nil {
		return "", fmt.Errorf("verify: encode the extra fields: %w", err)
	}
	return string(b), nil
}
