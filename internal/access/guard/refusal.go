package guard

import (
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// refusal is the reason for refusing a request.
type refusal uint8

const (
	allowed refusal = iota
	overDay
	overMonth
	overNumbers
	overSponsorNumbers
	overYear
	overSponsorYear
	overFiles
	overSponsorFiles
	isStopped
	sponsorStopped
)

// stoppedRetryAfter is when a stopped organisation may try whether it has been
// released.
const stoppedRetryAfter = time.Hour

var (
	errStopped        = stoppedFault("The requests of this organisation look like number scanning")
	errSponsorStopped = stoppedFault("The requests of the organisations that the same client onboarded, this one among them, look like number scanning")
)

// ErrStopped reports an organisation that was stopped because its requests look
// like a scan, and ErrSponsorStopped one whose sponsor was.
var (
	ErrStopped        error = errStopped
	ErrSponsorStopped error = errSponsorStopped
)

func stoppedFault(why string) *fault.Error {
	f := fault.New(fault.ScanSuspected, why+", so the service no longer answers them. Stop whatever sends them, and ask the regulator for a release: nobody else can give it.")
	f.RetryAfter = stoppedRetryAfter
	return f
}

// fault returns the error for the caller; nil if the request is admitted.
func (r refusal) fault(b *Budget, now time.Time) error {
	var f *fault.Error
	switch r {
	case allowed:
		return nil
	case isStopped:
		return errStopped
	case sponsorStopped:
		return errSponsorStopped
	case overDay:
		f = quotaError("The quota of "+withCommas(b.Day)+" verifications a day is used up", tomorrow(now), now)
	case overMonth:
		f = quotaError("The quota of "+withCommas(b.Month)+" verifications a month is used up", nextMonth(now), now)
	case overNumbers:
		f = quotaError("The budget of "+withCommas(b.Numbers)+" different numbers a day is used up: only numbers that were already verified today are answered", tomorrow(now), now)
	case overSponsorNumbers:
		f = quotaError("The budget of "+withCommas(b.SponsorNumbers)+" different numbers a day, which all organisations share that the same client onboarded, is used up: only numbers that this organisation already verified today are answered", tomorrow(now), now)
	case overYear:
		f = quotaError("The budget of "+withCommas(b.Year)+" different numbers a year is used up: only numbers that were already verified today are answered", nextYear(now), now)
	case overSponsorYear:
		f = quotaError("The budget of "+withCommas(b.SponsorYear)+" different numbers a year, which all organisations share that the same client onboarded, is used up: only numbers that this organisation already verified today are answered", nextYear(now), now)
	case overFiles:
		f = quotaError("The numbers of this file are more than are left of the "+withCommas(FilesOf(b.Numbers))+" a day that files may have", tomorrow(now), now)
	case overSponsorFiles:
		f = quotaError("The numbers of this file are more than are left of the "+withCommas(FilesOf(b.SponsorNumbers))+" a day that the files of all organisations may have that the same client onboarded", tomorrow(now), now)
	}
	if b.growing && r >= overNumbers {
		f.Message += " The budget of a new organisation grows with its age, and with documents that the regulator has accepted."
	}
	return f
}

func quotaError(what string, renews, now time.Time) *fault.Error {
	f := fault.New(fault.QuotaExceeded, what+". It renews at "+renews.Format(time.RFC3339)+"; the regulator can allow more.")
	f.RetryAfter = renews.Sub(now).Truncate(time.Second) + time.Second
	return f
}

func tomorrow(now time.Time) time.Time { return startOf(dayOf(now) + 1) }

func nextYear(now time.Time) time.Time {
	return time.Date(now.UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
}

func nextMonth(now time.Time) time.Time {
	y, m, _ := now.UTC().Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}

// withCommas formats a number with commas between thousands.
func withCommas(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
