package httpapi

import (
	"sync/atomic"
	"time"
)

// mostRefusals is how many refusals a second of the busiest routes have a line
// in the log. The metrics count all of them.
const mostRefusals = 10

// thinner lets some lines through and drops the rest. Where ten thousand callers
// a second are put off, a line for each would cost more than answering them, and
// say nothing that the first ten did not.
type thinner struct{ lines atomic.Int64 } // the second, and how many it had

const perSecond = 1 << 20 // more than a second can have

// skip reports whether the line is one too many. It may let a line more through
// when seconds change.
func (t *thinner) skip(now time.Time) bool {
	second := now.Unix() * perSecond
	had := t.lines.Load()
	if had < second {
		t.lines.CompareAndSwap(had, second)
	}
	return t.lines.Add(1)-second > mostRefusals
}
