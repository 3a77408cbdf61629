package line_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/policy"
)

// covering is the coverage of operators that are known since one hour, complete
// since another (or never), and supplied through a third.
func covering(known, complete, through line.Instant) func(numbering.Network) line.Coverage {
	return func(numbering.Network) line.Coverage {
		return line.Coverage{KnownSince: known.Time(), CompleteSince: complete.Time(), Through: through.Time()}
	}
}

// The answer to "has it changed since?", case by case. Times are in hours; the
// question is asked at hour 1000, by the default policy.
func TestChangedSince(t *testing.T) {
	t.Parallel()

	const now = 1000
	at := func(hours line.Instant) line.Instant { return hours * hour }
	late := func(kind line.Kind, hours line.Instant, change ...func(*line.Event)) line.Event {
		return event(kind, at(hours), change...)
	}
	holder, sim, network := line.HolderChanged, line.SIMChanged, line.NetworkChanged
	supply := covering(at(100), at(100), at(now-1))
	base := func(tenure, sim line.Instant, state line.State, since line.Instant) *line.Baseline {
		b := &line.Baseline{Import: 7, Network: home, Tenure: at(tenure), SIM: line.Never, State: state, StateSince: at(since)}
		if sim > 0 {
			b.SIM = at(sim)
		}
		return b
	}
	for name, test := range map[string]struct {
		base     *line.Baseline
		events   []line.Event
		coverage func(numbering.Network) line.Coverage
		since    line.Instant // in hours
		want     string
		changes  []line.Change
	}{
		"a new tenure":                  {nil, []line.Event{late(line.Assign, 500)}, supply, 499, line.Yes, []line.Change{holder}},
		"a tenure that began then":      {nil, []line.Event{late(line.Assign, 500)}, supply, 500, line.No, nil},
		"a new SIM":                     {nil, []line.Event{late(line.Assign, 200), late(line.ChangeSIM, 500)}, supply, 300, line.Yes, []line.Change{sim}},
		"a new SIM and a new tenure":    {nil, []line.Event{late(line.Assign, 400), late(line.ChangeSIM, 500)}, supply, 300, line.Yes, []line.Change{holder, sim}},
		"a new network has a new SIM":   {nil, []line.Event{late(line.Assign, 200), late(line.Port, 500, to(away))}, supply, 300, line.Yes, []line.Change{sim, network}},
		"all before":                    {nil, []line.Event{late(line.Assign, 200), late(line.ChangeSIM, 300), late(line.Port, 400, to(away))}, supply, 400, line.No, nil},
		"ended":                         {nil, []line.Event{late(line.Use, 200), late(line.End, 500)}, supply, 499, line.Yes, []line.Change{holder}},
		"ended before":                  {nil, []line.Event{late(line.Use, 200), late(line.End, 500)}, supply, 500, line.No, nil},
		"ended and appealed":            {nil, []line.Event{late(line.Use, 200), late(line.End, 500), late(line.Reinstate, 501)}, supply, 499, line.No, nil},
		"a bar, a flag and a notice":    {nil, []line.Event{late(line.Use, 200), late(line.Bar, 500), late(line.Flag, 500), late(line.GiveNotice, 500, until(at(2000)))}, supply, 400, line.No, nil},
		"an announced churn that came":  {nil, []line.Event{late(line.GiveNotice, 200, until(at(600)))}, supply, 599, line.Yes, []line.Change{holder}},
		"an announced churn, come now":  {nil, []line.Event{late(line.GiveNotice, 200, until(at(now)))}, supply, 500, line.Yes, []line.Change{holder}},
		"an announced churn, come then": {nil, []line.Event{late(line.GiveNotice, 200, until(at(600)))}, supply, 600, line.No, nil},
		"an announced churn to come":    {nil, []line.Event{late(line.GiveNotice, 200, until(at(1001)))}, supply, 300, line.No, nil},

		"an end within an interval, all of it after": {nil, []line.Event{late(line.Use, 200), late(line.End, 600, after(at(400)))}, supply, 400, line.Yes, []line.Change{holder}},
		"an end within an interval, since inside it": {nil, []line.Event{late(line.Use, 200), late(line.End, 600, after(at(400)))}, supply, 401, line.Maybe, nil},
		"the same, at its last hour":                 {nil, []line.Event{late(line.Use, 200), late(line.End, 600, after(at(400)))}, supply, 599, line.Maybe, nil},
		"an end within an interval that is over":     {nil, []line.Event{late(line.Use, 200), late(line.End, 600, after(at(400)))}, supply, 600, line.No, nil},
		"since inside it, and a SIM that did change": {nil, []line.Event{late(line.Use, 200), late(line.ChangeSIM, 550), late(line.End, 600, after(at(400)))}, supply, 500, line.Yes, []line.Change{sim}},

		"silence, and nothing is known":       {nil, []line.Event{late(line.Use, 200)}, silence, 500, line.Maybe, nil},
		"silence, and a change is known":      {nil, []line.Event{late(line.ChangeSIM, 600)}, silence, 500, line.Yes, []line.Change{sim}},
		"the supply is stale":                 {nil, []line.Event{late(line.Use, 200)}, covering(at(100), at(100), at(now-14*24)), 500, line.Maybe, nil},
		"the supply is just fresh":            {nil, []line.Event{late(line.Use, 200)}, covering(at(100), at(100), at(now-14*24)+1), 500, line.No, nil},
		"the supply ends before since":        {nil, []line.Event{late(line.Use, 200)}, supply, now - 1, line.Maybe, nil},
		"since lies in the future":            {nil, []line.Event{late(line.Use, 200)}, covering(at(100), at(100), at(now)), now + 1, line.Maybe, nil},
		"since the operator's first word":     {nil, []line.Event{late(line.Use, 200)}, supply, 100, line.No, nil},
		"since before the first word":         {nil, []line.Event{late(line.Use, 200)}, supply, 99, line.Maybe, nil},
		"nobody asked about supply":           {nil, []line.Event{late(line.Use, 200)}, nil, 500, line.Maybe, nil},
		"never named by a complete supply":    {nil, nil, supply, 100, line.No, nil},
		"never named, since before it was":    {nil, nil, supply, 99, line.Maybe, nil},
		"never named by a supply of some":     {nil, nil, covering(at(100), line.Never, at(now-1)), 500, line.Maybe, nil},
		"blacklisted, never named by anybody": {nil, []line.Event{late(line.Blacklist, 500)}, silence, 400, line.Maybe, nil},

		"a snapshot names the changes before it":    {base(20, 50, line.StateActive, 20), nil, supply, 60, line.No, nil},
		"a snapshot names a SIM after since":        {base(20, 50, line.StateActive, 20), nil, supply, 49, line.Yes, []line.Change{sim}},
		"a snapshot names a tenure after since":     {base(20, 50, line.StateActive, 20), nil, supply, 19, line.Yes, []line.Change{holder, sim}},
		"a snapshot, and silence after it":          {base(20, 50, line.StateActive, 20), nil, silence, 60, line.Maybe, nil},
		"a snapshot names an end":                   {base(20, 0, line.StateEnded, 50), nil, supply, 49, line.Yes, []line.Change{holder}},
		"a snapshot names an end before since":      {base(20, 0, line.StateEnded, 50), nil, supply, 60, line.No, nil},
		"a snapshot of the donor, and then a port":  {base(20, 0, line.StateActive, 20), []line.Event{late(line.Port, 40, to(away))}, supply, 39, line.Yes, []line.Change{sim, network}},
		"the donor's snapshot says nothing of then": {base(20, 0, line.StateActive, 20), []line.Event{late(line.Port, 40, to(away))}, supply, 60, line.Maybe, nil},
		"of when the recipient supplied it does":    {base(20, 0, line.StateActive, 20), []line.Event{late(line.Port, 40, to(away))}, supply, 100, line.No, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Defaults()
			facts := factsOf(fold(test.base, told(test.events...)), test.coverage)
			got, changes := line.ChangedSince(facts, &p, at(test.since).Time(), at(now).Time())
			if got != test.want || !slices.Equal(changes, test.changes) {
				t.Errorf("the answer is %s %v, not %s %v", got, changes, test.want, test.changes)
			}
		})
	}
}

// A snapshot that does not say since when its tenure runs cannot say that nothing
// changed before it.
func TestChangedSinceOfAnUnknownStart(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	base := line.Baseline{Import: 7, Network: home, Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never}
	facts := factsOf(line.FromBaseline(base), covering(100*hour, 100*hour, 999*hour))
	for hours, want := range map[int]string{99: line.Maybe, 100: line.No} {
		since := (hour * line.Instant(hours)).Time()
		if got, _ := line.ChangedSince(facts, &p, since, (1000 * hour).Time()); got != want {
			t.Errorf("since %s the answer is %s, not %s", since, got, want)
		}
	}
}

// A no is given only where a supply stands for it: of an operator that is not
// stale, and with no sign of a change after since.
func TestNoIsNeverSaidInSilence(t *testing.T) {
	t.Parallel()

	now, said := 1000*hour, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		row.Baseline = rapid.Int32Range(0, 1).Draw(t, "baseline")
		if rapid.Bool().Draw(t, "quiet") {
			row.Tenure, row.SIM, row.PortAt = line.Never, line.Never, line.Never
		}
		ago := func(label string, from, to int32) line.Instant {
			return now - hour*line.Instant(rapid.Int32Range(from, to).Draw(t, label))
		}
		through, since := ago("through", 0, 30), ago("since", 20, 300)
		facts := factsOf(row, covering(ago("known", 200, 480), ago("complete", 200, 480), through))
		answer, changes := line.ChangedSince(facts, p, since.Time(), now.Time())
		said[answer]++
		if (answer == line.Yes) != (len(changes) > 0) {
			t.Fatalf("%s with the changes %v", answer, changes)
		}
		changed := row.Tenure > since || row.SIM > since || row.PortAt > since
		if changed && answer != line.Yes {
			t.Fatalf("%s, and the row shows a change", answer)
		}
		if fresh := now.Time().Sub(through.Time()) < p.Freshness(); answer == line.No && (!fresh || since >= through) {
			t.Fatalf("no since %d, supplied through %d", since, through)
		}
		facts.Coverage = silence
		if silent, _ := line.ChangedSince(facts, p, since.Time(), now.Time()); silent == line.No || answer == line.Yes && silent != line.Yes {
			t.Fatalf("in silence the answer is %s, and was %s", silent, answer)
		}
	})
	for _, answer := range []string{line.Yes, line.No, line.Maybe} {
		if said[answer] == 0 {
			t.Errorf("the test never heard %s", answer)
		}
	}
}

// A fraction of a second is not a change: times are kept to the second.
func TestChangedSinceKeepsToTheSecond(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	facts := factsOf(fold(nil, told(event(line.Assign, 500*hour))), supplied((1000 * hour).Time()))
	since := (500 * hour).Time().Add(time.Second / 2)
	if got, _ := line.ChangedSince(facts, &p, since, (1000 * hour).Time()); got != line.No {
		t.Errorf("half a second after the tenure began the answer is %s", got)
	}
}
