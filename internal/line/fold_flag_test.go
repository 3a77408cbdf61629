package line_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// A flag is withdrawn only by the supplier that set it or by the regulator. Another
// supplier cannot remove it by setting and withdrawing a flag of its own.
func TestFlagsAreWithdrawnByTheirOwner(t *testing.T) {
	t.Parallel()

	assigned, one := event(line.Assign, 0), event(line.Flag, 5, by(1), code(line.LevelHigh))
	two, third := event(line.Flag, 6, by(2), code(line.LevelHigh)), event(line.Flag, 7, by(2), code(line.LevelMedium))
	never := line.Never
	for name, test := range map[string]struct {
		events       []line.Event
		high, medium line.Instant
		outcome      line.Outcome // of the last event
	}{
		"by its owner":                                {[]line.Event{assigned, one, event(line.Unflag, 9, by(1))}, never, never, line.Applied},
		"not by another":                              {[]line.Event{assigned, one, event(line.Unflag, 9, by(2))}, 5, never, line.NoEffect},
		"by the regulator":                            {[]line.Event{assigned, one, event(line.Unflag, 9, ordered, by(9))}, never, never, line.Applied},
		"of one level the newest is kept":             {[]line.Event{assigned, one, two}, 6, never, line.Applied},
		"each level is kept":                          {[]line.Event{assigned, one, third}, 5, 7, line.Applied},
		"withdrawing the newest leaves the older one": {[]line.Event{assigned, one, two, event(line.Unflag, 9, by(2))}, 5, never, line.Applied},
		"withdrawing the older one leaves the newest": {[]line.Event{assigned, one, two, event(line.Unflag, 9, by(1))}, 6, never, line.Applied},
		"a regulator withdraws all of its flags":      {[]line.Event{assigned, one, two, third, event(line.Unflag, 9, by(2))}, 5, never, line.Applied},
		"the regulator withdraws all flags":           {[]line.Event{assigned, one, two, third, event(line.Unflag, 9, ordered, by(9))}, never, never, line.Applied},
		"no flag of the previous tenure is left":      {[]line.Event{assigned, one, event(line.Assign, 6), third, event(line.Unflag, 9, by(2))}, never, never, line.Applied},
		"a flag on the next tenure is its own":        {[]line.Event{assigned, one, event(line.Assign, 6), third}, never, 7, line.Applied},
		"a number of which nobody reported a tenure":  {[]line.Event{one}, 5, never, line.Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, outcomes := rowOf(test.events...)
			if got := outcomes[len(outcomes)-1]; r.HighAt != test.high || r.MediumAt != test.medium || r.VeryHighAt != never || got != test.outcome {
				t.Errorf("flagged HIGH at %d, MEDIUM at %d, outcome %d; want %d, %d, %d", r.HighAt, r.MediumAt, got, test.high, test.medium, test.outcome)
			}
		})
	}
}

// The gravest flag that is in force is shown, also where a lesser one is newer, and the
// lesser one when that has expired.
func TestGravestFlagIsShownThenTheLesser(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	lasts := line.Instant(p.Flagged().Seconds())
	row, _ := rowOf(
		event(line.Use, 0), event(line.Flag, 10*day, by(1), code(line.LevelVeryHigh)), event(line.Flag, 20*day, by(2), code(line.LevelMedium)),
		event(line.Flag, 15*day, by(2), code(line.LevelHigh)),
	)
	for _, test := range []struct {
		now   line.Instant
		level line.Code
		since line.Instant
	}{
		{21 * day, line.LevelVeryHigh, 10 * day},
		{10*day + lasts - 1, line.LevelVeryHigh, 10 * day},
		{10*day + lasts, line.LevelHigh, 15 * day},
		{15*day + lasts, line.LevelMedium, 20 * day},
		{20*day + lasts, 0, 0},
	} {
		view := viewOf(row, test.now)
		if test.level == 0 {
			if view.Status != line.Normal || len(view.Signals) > 0 {
				t.Errorf("when all have expired the line is %s", view.Status)
			}
			continue
		}
		want := line.Signal{Status: line.Flagged, Since: test.since, Until: test.since + lasts, Source: line.Sector, Level: test.level}
		if len(view.Signals) != 1 || view.Signals[0] != want {
			t.Errorf("at %d the signals are %+v, not %+v", test.now, view.Signals, want)
		}
	}
}
