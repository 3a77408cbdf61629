package supply

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// resolveDay sets the AsOf that a supplier means by a day: its last second in the policy's time zone,
// or now while the day lasts. A nightly file is named by the day that it tells of. A day that has not
// begun ends in the future, and is refused like any such time.
func (s *Service) resolveDay(ctx context.Context, f *ImportForm, now time.Time) error {
	if f.Day == "" {
		return nil
	}
	current, _, err := s.Lines.Current(ctx, s.Pool, now)
	if err != nil {
		return err
	}
	last, day, ok := line.ParseInstant(f.Day, current.Zone())
	if t, err := time.Parse(time.DateOnly, f.Day); err == nil && t.After(now.AddDate(0, 0, 2)) {
		f.AsOf = t
		return nil
	}
	if !ok || !day {
		var wrong fault.Form
		wrong.Check(false, "asOf", fault.BadFormat, "Write a time like 2026-01-31T13:45:00Z, or a date.")
		return wrong.Err()
	}
	f.AsOf = last.Time()
	if first := line.DayStart(last, current.Zone()).Time(); !now.Before(first) && now.Before(f.AsOf) {
		f.AsOf = now.Truncate(time.Second)
	}
	return nil
}
