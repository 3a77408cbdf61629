package web

import (
	"sync/atomic"
	"time"
)

// LinesPerSecond is how many lines a LogSampler lets through in a second. The
// metrics count every request.
const LinesPerSecond = 10

// LogSampler limits the log lines of refused requests. Where ten thousand
// callers a second are refused, a line for each would cost more than the
// responses, and say nothing that the first ten did not. The zero value is ready
// for use.
type LogSampler struct{ lines atomic.Int64 } // Unix second × perSecond + lines in that second

const perSecond = 1 << 20 // more lines than a second can have

// Skip reports whether the line is over the limit. It may let a line more
// through when the second changes.
func (s *LogSampler) Skip(now time.Time) bool {
	second := now.Unix() * perSecond
	had := s.lines.Load()
	if had < second {
		s.lines.CompareAndSwap(had, second)
	}
	return s.lines.Add(1)-second > LinesPerSecond
}
