package line_test

import (
	"slices"
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// From the announced date on a line counts as churned by the clock, until it is used after all. An end does not
// change when it ended.
func TestAnnouncedChurnTakesEffectByTheClock(t *testing.T) {
	t.Parallel()

	const date = 30 * day
	events := []line.Event{event(line.Use, 0), event(line.Bar, hour), event(line.GiveNotice, 2*hour, until(date))}
	r, _ := rowOf(events...)
	if got := viewOf(r, date-1); got.Status != line.Barred || got.Signals[1].Status != line.PendingChurn || got.Signals[1].Until != date {
		t.Errorf("before the date: %+v", got)
	}
	churned := []line.Signal{{Status: line.Quarantined, Since: date, Until: line.Never, Source: line.Operator}}
	for name, test := range map[string]struct {
		events []line.Event
		status line.Status
	}{
		"at the date":      {nil, line.Quarantined},
		"ended later":      {[]line.Event{event(line.End, date+hour)}, line.Quarantined},
		"used later":       {[]line.Event{event(line.Unbar, date-hour), event(line.Use, date+hour)}, line.Normal},
		"used before":      {[]line.Event{event(line.Unbar, date-hour), event(line.Use, date-hour)}, line.Normal},
		"given back":       {[]line.Event{event(line.Unbar, date-hour), event(line.Reinstate, date+hour)}, line.Normal},
		"barred as before": {[]line.Event{event(line.Reinstate, date+hour)}, line.Barred},
	} {
		r, _ := rowOf(append(events, test.events...)...)
		got := viewOf(r, date+hour)
		if got.Status != test.status || test.status == line.Quarantined && !slices.Equal(got.Signals, churned) {
			t.Errorf("%s the line is %+v", name, got)
		}
	}
}

// A first holder is NEW and otherwise NORMAL; NEW is never the status.
func TestFirstHolderIsNewAndNormal(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	at := 10 * day
	r, _ := rowOf(event(line.Assign, at, first))
	want := line.Signal{Status: line.New, Since: at, Until: at.Add(p.Recycled()), Source: line.Operator}
	if got := viewOf(r, want.Until-1); got.Status != line.Normal || !slices.Equal(got.Signals, []line.Signal{want}) {
		t.Errorf("the line is %s: %+v", got.Status, got.Signals)
	}
	if got := viewOf(r, want.Until); got.Status != line.Normal || len(got.Signals) != 0 {
		t.Errorf("after its window: %s, %+v", got.Status, got.Signals)
	}
	r, _ = rowOf(event(line.Assign, at, first), event(line.ChangeSIM, at+day))
	if got := viewOf(r, at+2*day); got.Status != line.Swapped || len(got.Signals) != 2 {
		t.Errorf("with a new SIM: %s, %+v", got.Status, got.Signals)
	}
	r, _ = rowOf(event(line.Assign, at))
	if got := viewOf(r, at+day); got.Status != line.Recycled {
		t.Errorf("without the mark the line is %s", got.Status)
	}
}

// The row as of a time after its newest event has ended where an announced churn date
// has come, and is otherwise the same.
func TestRowAsOfATimeHasEndedAtItsChurnDate(t *testing.T) {
	t.Parallel()

	const date = 30 * day
	row, _ := rowOf(event(line.Use, 0), event(line.GiveNotice, hour, until(date)))
	expect(t, row.AsOf(date-1), row)
	ended := row
	ended.State, ended.StateSince, ended.Until = line.StateEnded, date, line.Never
	expect(t, row.AsOf(date), ended)
}
