package guard

import (
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
)

// refusal says why a question does not pass.
type refusal uint8

const (
	passes refusal = iota
	overDay
	overMonth
	overNumbers
	scans
)

// stoppedFor is when somebody who is stopped may look again whether it was
// released.
const stoppedFor = time.Hour

var errStopped = stopped()

// ErrStopped reports an organisation that was stopped because its questions look
// like a scan.
var ErrStopped error = errStopped

func stopped() *fault.Error {
	f := fault.New(fault.QuotaExceeded, "The questions of this organisation look like a scan of numbers, so the service has stopped to answer them. Only the regulator can release it: get in touch.")
	f.RetryAfter = stoppedFor
	return f
}

// fault returns what the caller is told; nil when the question passes.
func (r refusal) fault(b *Budget, now time.Time) error {
	var f *fault.Error
	switch r {
	case passes:
		return nil
	case scans:
		return errStopped
	case overDay:
		f = used("The quota of "+many(b.Day)+" questions a day is used up", tomorrow(now), now)
	case overMonth:
		f = used("The quota of "+many(b.Month)+" questions a month is used up", nextMonth(now), now)
	case overNumbers:
		f = used("The budget of "+many(b.Numbers)+" different numbers a day is used up, so that only numbers that were asked about on this day are answered", tomorrow(now), now)
	}
	return f
}

func used(what string, renews, now time.Time) *fault.Error {
	f := fault.New(fault.QuotaExceeded, what+". It renews at "+renews.Format(time.RFC3339)+"; the regulator can allow more.")
	f.RetryAfter = renews.Sub(now).Truncate(time.Second) + time.Second
	return f
}

func tomorrow(now time.Time) time.Time { return startOf(dayOf(now) + 1) }

func nextMonth(now time.Time) time.Time {
	y, m, _ := now.UTC().Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}

// many writes a number with commas, for people.
func many(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
