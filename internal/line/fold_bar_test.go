package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
)

// A bar is lifted by the authority that set it, or by a higher one.
func TestBarsAreLiftedBySameOrHigherAuthority(t *testing.T) {
	t.Parallel()

	assigned, mine := event(line.Assign, 0), event(line.Bar, 5, code(line.ReasonDebt))
	holder, number := event(line.Bar, 6, ordered, code(line.ReasonNIN)), event(line.Bar, 6, ordered, onNumber, code(line.ReasonCourt))
	ported := event(line.Port, 7, to(other))
	for name, test := range map[string]struct {
		events              []line.Event
		bar, holder, number bool
	}{
		"the operator lifts its own":                      {[]line.Event{assigned, mine, event(line.Unbar, 7)}, false, false, false},
		"the operator lifts only its own":                 {[]line.Event{assigned, mine, holder, number, event(line.Unbar, 7)}, false, true, true},
		"the regulator lifts all":                         {[]line.Event{assigned, mine, holder, number, event(line.Unbar, 7, ordered)}, false, false, false},
		"another network cannot lift anything":            {[]line.Event{assigned, mine, event(line.Unbar, 7, from(other))}, true, false, false},
		"a bar stays with a line that is ported":          {[]line.Event{assigned, mine, holder, ported}, true, true, false},
		"the recipient may lift the bar of a ported line": {[]line.Event{assigned, mine, holder, ported, event(line.Unbar, 8, from(other))}, false, true, false},
		"the two of the regulator are independent":        {[]line.Event{assigned, holder, number}, false, true, true},
		"on the number, of which nobody knows a tenure":   {[]line.Event{number}, false, false, true},
		"on the number, after the end":                    {[]line.Event{assigned, event(line.End, 5), number}, false, false, true},
		"on the holder, after the end":                    {[]line.Event{assigned, event(line.End, 5), holder}, false, false, false},
		"lifted by the regulator after the end":           {[]line.Event{assigned, holder, number, event(line.End, 7), event(line.Unbar, 8, ordered)}, false, false, false},
		"not lifted by the operator after the end":        {[]line.Event{assigned, holder, number, event(line.End, 7), event(line.Unbar, 8)}, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := rowOf(test.events...)
			bar, holder, number := r.BarAt != line.Never, r.HolderBarAt != line.Never, r.NumberBarAt != line.Never
			if bar != test.bar || holder != test.holder || number != test.number {
				t.Errorf("barred by the operator: %v, on the holder: %v, on the number: %v", bar, holder, number)
			}
		})
	}
}

// bars returns when the regulator's bars in force at a time end.
func bars(r line.Row, at line.Instant) (ends []line.Instant) {
	for _, s := range viewOf(r, at).Signals {
		if s.Status == line.Barred && s.Source == line.Regulator {
			ends = append(ends, s.Until)
		}
	}
	return ends
}

// expectBar fails the test unless the regulator's only bar is in force until an
// instant, or for ever.
func expectBar(t *testing.T, r line.Row, now, until line.Instant) {
	t.Helper()
	if got := bars(r, now); len(got) != 1 || got[0] != until {
		t.Errorf("at %d the regulator's bars end at %d, not at %d", now, got, until)
	}
	if until == line.Never {
		return
	}
	if got := bars(r, until-1); len(got) != 1 {
		t.Errorf("a second before its end there are %d bars", len(got))
	}
	if got := bars(r, until); len(got) != 0 {
		t.Errorf("at its end there are %d bars", len(got))
	}
}

// The regulator's bar on the holder lasts until the rest after the tenure is over. A
// tenure that starts then is free of it.
func TestBarOnTheHolderLastsUntilTheRestIsOver(t *testing.T) {
	t.Parallel()

	const end = 100 * day
	events := []line.Event{event(line.Assign, 0), event(line.Bar, 50*day, ordered, code(line.ReasonNIN))}
	row, _ := rowOf(events...)
	expectBar(t, row, 60*day, line.Never)
	events = append(events, event(line.End, end))
	row, _ = rowOf(events...)
	expectBar(t, row, end+day, end+rest)

	row, _ = rowOf(append(events[:2:2], event(line.GiveNotice, 60*day, until(end)))...)
	expectBar(t, row, end+day, end+rest) // the churn date ends the tenure, too

	row, _ = rowOf(append(events, event(line.Assign, end+rest))...)
	if row.HolderBarAt != line.Never || row.HolderBarReason != 0 {
		t.Errorf("the tenure after the rest is barred since %d", row.HolderBarAt)
	}
	row, _ = rowOf(append(events, event(line.Reinstate, end+day))...)
	expectBar(t, row, end+rest+day, line.Never) // the same tenure continues
}

// If an early ASSIGNED counted, the bar on the holder stays on the new tenure until the
// rest is over. If it was held, it ends with the confirmation.
func TestBarOnTheHolderOutlivesAnEarlyAssignment(t *testing.T) {
	t.Parallel()

	const end = 100 * day
	assigned, barred := event(line.Assign, 0), event(line.Bar, 50*day, ordered, code(line.ReasonNIN))
	for name, test := range map[string]struct {
		events []line.Event
		until  line.Instant // 0: no bar
	}{
		"a second too early": {[]line.Event{event(line.End, end), event(line.Assign, end+rest-1)}, end + rest},
		"on a running tenure, the rest counts from the new one": {[]line.Event{event(line.Assign, end)}, end + rest},
		"twice too early": {[]line.Event{event(line.End, end), event(line.Assign, end+day), event(line.Assign, end+2*day)}, end + rest},
		"the bar was reported after the assignment": {
			[]line.Event{event(line.End, end), event(line.Assign, end+day), event(line.Bar, end-day, ordered, reported(end+9*day))}, end + rest,
		},
		"held":                                   {[]line.Event{event(line.End, end), event(line.Assign, end+day, held(line.HoldEarly))}, end + rest},
		"held, confirmed":                        {[]line.Event{event(line.End, end), event(line.Assign, end+day, held(line.HoldEarly)), confirm(4, end+3*day)}, 0},
		"a port of a number that ended long ago": {[]line.Event{event(line.End, end), event(line.Port, end+4*day, to(other))}, end + rest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, _ := rowOf(append([]line.Event{assigned, barred}, test.events...)...)
			if test.until != 0 {
				expectBar(t, row, end+4*day, test.until)
			} else if got := bars(row, end+4*day); len(got) != 0 || row.Tenure != end+day {
				t.Errorf("the tenure since %d is barred until %d", row.Tenure, got)
			}
		})
	}
}

// The regulator's bar on the number applies in every state and to every holder, until
// the regulator lifts it.
func TestBarOnTheNumberOutlivesTheHolder(t *testing.T) {
	t.Parallel()

	barred := event(line.Bar, 50*day, ordered, onNumber, code(line.ReasonCourt))
	for name, events := range map[string][]line.Event{
		"nobody has it":          {barred},
		"it runs":                {event(line.Assign, 0), barred},
		"it has ended":           {event(line.Assign, 0), event(line.End, day), barred},
		"it ended later":         {event(line.Assign, 0), barred, event(line.End, 60*day)},
		"it got the next holder": {event(line.Assign, 0), barred, event(line.End, 60*day), event(line.Assign, 60*day+rest)},
		"it was transferred":     {event(line.Assign, 0), barred, event(line.Transfer, 60*day)},
		"a held new holder was confirmed": {
			event(line.Assign, 0), barred, event(line.Assign, 60*day, held(line.HoldEarly)), confirm(3, 61*day),
		},
	} {
		row, _ := rowOf(events...)
		expectBar(t, row, 400*day, line.Never)
		if row.NumberBarReason != line.ReasonCourt {
			t.Errorf("%s: the reason is %s", name, row.NumberBarReason)
		}
		row, _ = rowOf(append(events, event(line.Unbar, 500*day, ordered))...)
		if got := bars(row, 500*day); len(got) != 0 || row.NumberBarReason != 0 {
			t.Errorf("%s: lifted, the bar ends at %d", name, got)
		}
	}
}

// An order that is not confirmed ends by itself; a confirmation makes it last. A second
// order does not shorten the first.
func TestOrderEndsUnlessItIsConfirmed(t *testing.T) {
	t.Parallel()

	const at, end = 50 * day, 53 * day
	assigned := event(line.Assign, 0)
	for name, onIt := range map[string]func(*line.Event){"the holder": func(*line.Event) {}, "the number": onNumber} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bar := func(at, end line.Instant) line.Event { return event(line.Bar, at, ordered, onIt, until(end)) }
			for _, test := range []struct {
				events []line.Event
				until  line.Instant
			}{
				{[]line.Event{assigned, bar(at, end)}, end},
				{[]line.Event{assigned, bar(at, end), confirm(2, end-day)}, line.Never},
				{[]line.Event{assigned, bar(at, end), confirm(2, end+day)}, line.Never},
				{[]line.Event{assigned, bar(at, end), bar(at+day, end+day)}, end + day},
				{[]line.Event{assigned, bar(at, end+day), bar(at+day, end)}, end + day},
				{[]line.Event{assigned, bar(at, line.Never), bar(at+day, end)}, line.Never},
				{[]line.Event{assigned, bar(at-10*day, end-10*day), bar(at, end)}, end},
				{[]line.Event{assigned, bar(at, end), event(line.Assign, at+day)}, end}, // earlier than the rest
			} {
				row, _ := rowOf(test.events...)
				expectBar(t, row, at+day, test.until)
			}
		})
	}
}
