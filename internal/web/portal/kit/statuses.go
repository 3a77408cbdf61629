package kit

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// What an integrator should do with an answer.
const (
	Allow  = "Allow"
	StepUp = "Step up"
	Refuse = "Refuse"
)

// ActionTones are the colours of the actions.
var ActionTones = map[string]Tone{Allow: Good, StepUp: Warn, Refuse: Bad}

// ActionFor returns what to do about a status. Step up is the answer to a status
// that this version does not know.
func ActionFor(status string) string {
	switch line.Status(status) {
	case line.Normal:
		return Allow
	case line.Barred, line.Quarantined, line.Blacklisted, line.Unallocated:
		return Refuse
	default:
		return StepUp
	}
}

// StatusTone is the colour of a line's status in a list.
func StatusTone(status string) Tone { return ActionTones[ActionFor(status)] }

// RejectedUntil is the state of a bar that was rejected while it acts: it ends by itself
// when it lapses.
func RejectedUntil(lapses time.Time) string { return "Rejected, in effect until " + Stamp(lapses) }
