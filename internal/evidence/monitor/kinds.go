package monitor

import (
	"time"

	"github.com/lineproof/lineproof/internal/values/logentry"
)

// lastOf has the last entry of each kind whose entries have an order of their own.
// After a restore, which repeats what it has lost, versions are -1 and times zero.
type lastOf struct {
	Policy, Plan int32
	Hour         time.Time // of the audit trail
	Month        time.Time // of erasures
}

// addOther judges an entry that is not about a batch: versions, hours and months follow each
// other without a gap, and nothing is about a time that has not passed.
func (s *state) addOther(index int64, e *logentry.Entry) error {
	body, err := e.DecodeBody()
	if err != nil {
		return violation("entry %d is not in a form that this version knows", index)
	}
	switch b := body.(type) {
	case *logentry.Version:
		last := &s.Last.Policy
		if b.Of == "plan" {
			last = &s.Last.Plan
		}
		if *last >= 0 && b.Number != *last+1 {
			return violation("entry %d is about version %d of the %s, and the last one was %d", index, b.Number, b.Of, *last)
		}
		*last = b.Number
	case *logentry.Hour:
		if !s.Last.Hour.IsZero() && !b.Hour.Equal(s.Last.Hour.Add(time.Hour)) {
			return violation("entry %d is about %s, and the last hour was %s", index, b, s.Last.Hour.Format(time.RFC3339))
		}
		s.Last.Hour = b.Hour
		return notYet(index, e, b.Hour.Add(time.Hour))
	case *logentry.Month:
		next := b.Month.AddDate(0, 1, 0)
		if !s.Last.Month.IsZero() && !b.Month.Equal(s.Last.Month.AddDate(0, 1, 0)) {
			return violation("entry %d is about %s, and the last month was %s", index, b, s.Last.Month.Format("2006-01"))
		}
		s.Last.Month = b.Month
		return notYet(index, e, next)
	case *logentry.KeyUse:
		s.addKey(index, b)
	case *logentry.Day:
		return notYet(index, e, b.Day.AddDate(0, 0, 1))
	case *logentry.Restore:
		if b.After > index {
			return violation("entry %d says that entries were lost that follow it", index)
		}
		s.Last = lastOf{Policy: -1, Plan: -1}
	}
	return nil
}

// notYet reports an entry about a time that was not over.
func notYet(index int64, e *logentry.Entry, over time.Time) error {
	if e.At.Before(over) {
		return violation("entry %d is about a time that was not over when it was added", index)
	}
	return nil
}
