package verify

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lineproof/lineproof/internal/line"
)

// Include is what an answer says beyond its five fields, if it is asked to.
type Include struct {
	Signals  bool // everything that holds for the line
	Coverage bool // how far the supply reaches
}

// Extra is what an answer says beyond its five fields. What was not asked for is
// absent. The names and their order are part of the contract.
type Extra struct {
	// StatusReason says why a line is UNALLOCATED or UNKNOWN. It comes with the
	// signals.
	StatusReason line.Reason   `json:"statusReason,omitzero"`
	Signals      []Signal      `json:"signals,omitzero"`
	Coverage     *Coverage     `json:"coverage,omitzero"`
	ChangedSince string        `json:"changedSince,omitzero"` // yes, no or unknown
	Changes      []line.Change `json:"changes,omitzero"`
}

// Signal is one thing that holds for a line. Why service is stopped is not part
// of it: that is for staff only.
type Signal struct {
	Status line.Status `json:"status"`
	Since  time.Time   `json:"since"` // zero when it is not known
	Until  time.Time   `json:"until"` // zero when no clock ends it
	Source string      `json:"source"`
	Level  string      `json:"level,omitzero"` // of a flag
}

// Coverage is how far the supply of the line's network reaches.
type Coverage struct {
	KnownSince      time.Time `json:"knownSince"`      // zero when nothing was supplied
	SuppliedThrough time.Time `json:"suppliedThrough"` // zero when no supply was said to be whole
}

// timesOfTheContract writes times in ISO 8601 in UTC with milliseconds, and null
// for one that is not there.
var timesOfTheContract = json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, t time.Time) error {
	if t.IsZero() {
		return to.WriteToken(jsontext.Null)
	}
	return to.WriteToken(jsontext.String(t.UTC().Format("2006-01-02T15:04:05.000Z")))
}))

// plain reports whether nothing is asked beyond the number.
func (q *Question) plain() bool { return q.Since.IsZero() && q.Include == Include{} }

// options returns in words, and always in the same ones, what is asked beyond
// the number.
func (q *Question) options() string {
	if q.plain() && !q.Grace {
		return ""
	}
	var all, include []string
	if !q.Since.IsZero() {
		all = append(all, "since="+q.Since.UTC().Format(time.RFC3339))
	}
	if q.Include.Coverage {
		include = append(include, "coverage")
	}
	if q.Include.Signals {
		include = append(include, "signals")
	}
	if len(include) > 0 {
		all = append(all, "include="+strings.Join(include, ","))
	}
	if q.Grace {
		all = append(all, "gate=grace")
	}
	return strings.Join(all, " ")
}

// extra answers what was asked beyond the number.
func (q *Question) extra(l *line.Look, v line.View, at time.Time) (e Extra) {
	if q.Include.Signals {
		e.StatusReason = v.Reason
		e.Signals = make([]Signal, 0, len(v.Signals)) // none is an empty list
		for _, s := range v.Signals {
			e.Signals = append(e.Signals, Signal{
				Status: s.Status, Since: s.Since.Time(), Until: s.Until.Time(), Source: s.Source.String(), Level: s.Level.String(),
			})
		}
	}
	if q.Include.Coverage {
		var reach line.Coverage
		if v.Network != 0 {
			reach = l.Coverage(v.Network)
		}
		e.Coverage = &Coverage{KnownSince: reach.KnownSince, SuppliedThrough: reach.Through}
	}
	if !q.Since.IsZero() {
		e.Changes = []line.Change{} // none is an empty list
		answer, changes := line.ChangedSince(&l.Facts, l.Policy, q.Since, at)
		e.ChangedSince, e.Changes = answer, append(e.Changes, changes...)
	}
	return e
}

// text returns e as one JSON object, as the record holds it and the caller gets
// it.
func (e *Extra) text() (string, error) {
	b, err := json.Marshal(e, timesOfTheContract)
	if err != nil {
		return "", fmt.Errorf("verify: write what else was asked: %w", err)
	}
	return string(b), nil
}
