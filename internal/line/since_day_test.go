package line_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// A bare date that is reported is some time on that day, in the zone of the policy: the
// answer is yes before the day, unknown within it, and no after it.
func TestBareDateIsAnInterval(t *testing.T) {
	t.Parallel()

	for _, zone := range []string{"Africa/Lagos", "UTC", "Asia/Kolkata"} {
		p := policy.Defaults()
		p.TimeZone = zone
		date, isDay, ok := line.ParseInstant("2020-02-10", p.Zone())
		start := line.DayStart(date, p.Zone())
		if wanted := time.Date(2020, 2, 10, 0, 0, 0, 0, p.Zone()); !ok || !isDay || !start.Time().Equal(wanted) || date != start+day-1 {
			t.Fatalf("in %s the date is from %s to %s", zone, start.Time(), date.Time())
		}
		used := event(line.Use, 0)
		for name, events := range map[string][]line.Event{
			"a new holder":       {used, event(line.Assign, date, onDay)},
			"a new SIM":          {used, event(line.ChangeSIM, date, onDay)},
			"a port":             {used, event(line.Port, date, onDay, to(other))},
			"an end":             {used, event(line.End, start, onDay)},
			"a SIM in the start": {event(line.Assign, 0), event(line.ChangeSIM, date, onDay)},
		} {
			row := fold(nil, numbered(events...))
			for _, test := range []struct {
				since line.Instant
				want  string
			}{{start - 1, line.Yes}, {start + 1, line.Uncertain}, {start + day/2, line.Uncertain}, {date - 1, line.Uncertain}, {date, line.No}} {
				now := date + 30*day
				got := line.ChangedSince(factsOf(row, supplied(now.Time())), &p, test.since.Time(), now.Time())
				if got.Changed != test.want {
					t.Errorf("%s, %s: since %s the answer is %s, not %s", zone, name, test.since.Time(), got.Changed, test.want)
				}
			}
		}
	}
}

// A number that ended and was assigned on the same date did both in that order.
func TestEndIsBeforeTheAssignmentOfTheSameDate(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	date, _, _ := line.ParseInstant("2020-02-10", p.Zone())
	row, outcomes := rowOf(event(line.Use, 0), event(line.Assign, date, onDay), event(line.End, line.DayStart(date, p.Zone()), onDay, reported(date+hour)))
	expectOutcomes(t, outcomes, line.Applied, line.Applied, line.Applied)
	if row.State != line.StateActive || row.Tenure != date || row.Bits != line.TenureDay {
		t.Errorf("the line is %s, the tenure since %d, bits %d", row.State, row.Tenure, row.Bits)
	}
}

// The window of a bare date runs from its last second.
func TestWindowOfABareDateRunsFromItsLastSecond(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	date, _, _ := line.ParseInstant("2020-02-10", p.Zone())
	row, _ := rowOf(event(line.Use, 0), event(line.ChangeSIM, date, onDay, reported(date+hour)))
	end := date.Add(p.Swapped())
	if got := viewOf(row, end-1).Status; got != line.Swapped {
		t.Errorf("a second before the end the line is %s", got)
	}
	if got := viewOf(row, end).Status; got != line.Normal {
		t.Errorf("at the end the line is %s", got)
	}
}

// Before a contested change the answer is unknown, after it no; a later sure change is a
// yes all the same.
func TestContestedChangeMakesTheAnswerUnknown(t *testing.T) {
	t.Parallel()

	const at, now = 200 * day, 230 * day
	events := []line.Event{event(line.Assign, 0), event(line.ChangeSIM, at), void(2, at+day)}
	row, _ := rowOf(events...)
	if got := changedSince(row, at-1, now).Changed; got != line.Uncertain {
		t.Errorf("before it the answer is %s", got)
	}
	if got := changedSince(row, at, now).Changed; got != line.No {
		t.Errorf("after it the answer is %s", got)
	}
	row, _ = rowOf(append(events, event(line.ChangeSIM, at+day))...)
	if got := changedSince(row, at-1, now).Changed; got != line.Yes {
		t.Errorf("with a sure change the answer is %s", got)
	}
}
