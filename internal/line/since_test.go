package line_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// covering returns a coverage, the same for all operators and topics, with its three
// times; complete may be never.
func covering(known, complete, through line.Instant) func(numbering.Network) line.Coverage {
	span := line.Span{KnownSince: known.Time(), CompleteSince: complete.Time(), Through: through.Time()}
	return func(numbering.Network) line.Coverage { return line.Coverage{Lifecycle: span, SIM: span, Ports: span} }
}

// ChangedSince, case by case. Times are in hours; the present is hour 1000, and the
// policy is the default.
func TestChangedSince(t *testing.T) {
	t.Parallel()

	const now = 1000
	at := func(hours line.Instant) line.Instant { return hours * hour }
	on := func(kind line.Kind, hours line.Instant, change ...func(*line.Event)) line.Event {
		return event(kind, at(hours), change...)
	}
	holder, sim, network := line.HolderChanged, line.SIMChanged, line.NetworkChanged
	supply := covering(at(100), at(100), at(now-1))
	used, swapped, ported := on(line.Use, 200), on(line.ChangeSIM, 500), on(line.Port, 500, to(other))
	inferred := on(line.End, 600, after(at(400)))
	base := func(tenure, sim line.Instant, state line.State, since line.Instant) *line.Baseline {
		b := &line.Baseline{Import: 7, Network: home, Tenure: at(tenure), SIM: line.Never, State: state, StateSince: at(since), Until: line.Never}
		if sim > 0 {
			b.SIM = at(sim)
		}
		return b
	}
	unknownSIM := base(10, 0, line.StateActive, 10)
	unknownSIM.Bits |= line.SIMUnknown
	for name, test := range map[string]struct {
		base     *line.Baseline
		events   []line.Event
		coverage func(numbering.Network) line.Coverage
		since    line.Instant // in hours
		want     string
		changes  []line.Change
	}{
		"a new holder has a new SIM":                  {nil, []line.Event{on(line.Assign, 500)}, supply, 499, line.Yes, []line.Change{holder, sim}},
		"a tenure that started then":                  {nil, []line.Event{on(line.Assign, 500)}, supply, 500, line.No, nil},
		"a new SIM":                                   {nil, []line.Event{on(line.Assign, 200), swapped}, supply, 300, line.Yes, []line.Change{sim}},
		"a SIM change before an unknown history ends": {unknownSIM, []line.Event{on(line.ChangeSIM, 50)}, supply, 60, line.Uncertain, nil},
		"the same, since the supply began":            {unknownSIM, []line.Event{on(line.ChangeSIM, 50)}, supply, 100, line.No, nil},
		"a new SIM that was reported late":            {nil, []line.Event{used, on(line.ChangeSIM, 400, reported(at(600)))}, supply, 500, line.No, nil},
		"a new SIM and a new tenure":                  {nil, []line.Event{on(line.Assign, 400), swapped}, supply, 300, line.Yes, []line.Change{holder, sim}},
		"a new network has a new SIM":                 {nil, []line.Event{on(line.Assign, 200), ported}, supply, 300, line.Yes, []line.Change{sim, network}},
		"all before":                                  {nil, []line.Event{on(line.Assign, 200), on(line.ChangeSIM, 300), on(line.Port, 400, to(other))}, supply, 400, line.No, nil},
		"ended":                                       {nil, []line.Event{used, on(line.End, 500)}, supply, 499, line.Yes, []line.Change{holder}},
		"ended before":                                {nil, []line.Event{used, on(line.End, 500)}, supply, 500, line.No, nil},
		"ended and reinstated":                        {nil, []line.Event{used, on(line.End, 500), on(line.Reinstate, 501)}, supply, 499, line.No, nil},
		"a bar, a flag and a notice":                  {nil, []line.Event{used, on(line.Bar, 500), on(line.Flag, 500), on(line.GiveNotice, 500, until(at(2000)))}, supply, 400, line.No, nil},
		"an announced churn in the past":              {nil, []line.Event{on(line.GiveNotice, 200, until(at(600)))}, supply, 599, line.Yes, []line.Change{holder}},
		"an announced churn, due now":                 {nil, []line.Event{on(line.GiveNotice, 200, until(at(now)))}, supply, 500, line.Yes, []line.Change{holder}},
		"an announced churn, due at since":            {nil, []line.Event{on(line.GiveNotice, 200, until(at(600)))}, supply, 600, line.No, nil},
		"an announced churn in the future":            {nil, []line.Event{on(line.GiveNotice, 200, until(at(1001)))}, supply, 300, line.No, nil},

		"an end within an interval, all of it after": {nil, []line.Event{used, inferred}, supply, 400, line.Yes, []line.Change{holder}},
		"an end within an interval, since inside it": {nil, []line.Event{used, inferred}, supply, 401, line.Uncertain, nil},
		"the same, at its last hour":                 {nil, []line.Event{used, inferred}, supply, 599, line.Uncertain, nil},
		"an end within an interval before since":     {nil, []line.Event{used, inferred}, supply, 600, line.No, nil},
		"since inside it, and a SIM that did change": {nil, []line.Event{used, on(line.ChangeSIM, 550), inferred}, supply, 500, line.Yes, []line.Change{sim}},

		"no supply, and no change is known":            {nil, []line.Event{used}, noSupply, 500, line.Uncertain, nil},
		"no supply, and a change is known":             {nil, []line.Event{on(line.ChangeSIM, 600)}, noSupply, 500, line.Yes, []line.Change{sim}},
		"the supply is stale":                          {nil, []line.Event{used}, covering(at(100), at(100), at(now-36)), 500, line.Uncertain, nil},
		"the supply is just fresh":                     {nil, []line.Event{used}, covering(at(100), at(100), at(now-36)+1), 500, line.No, nil},
		"the supply ends before since":                 {nil, []line.Event{used}, supply, now - 1, line.Uncertain, nil},
		"since lies in the future":                     {nil, []line.Event{used}, covering(at(100), at(100), at(now)), now + 1, line.Uncertain, nil},
		"since the operator's first supply":            {nil, []line.Event{used}, supply, 100, line.No, nil},
		"since before the first supply":                {nil, []line.Event{used}, supply, 99, line.Uncertain, nil},
		"without a coverage function":                  {nil, []line.Event{used}, nil, 500, line.Uncertain, nil},
		"never in a complete supply":                   {nil, nil, supply, 100, line.No, nil},
		"never supplied, since before it was complete": {nil, nil, covering(at(50), at(100), at(now-1)), 99, line.Uncertain, nil},
		"never in an incomplete supply":                {nil, nil, covering(at(100), line.Never, at(now-1)), 500, line.Uncertain, nil},
		"blacklisted, never supplied":                  {nil, []line.Event{on(line.Blacklist, 500)}, noSupply, 400, line.Uncertain, nil},

		"a snapshot with earlier changes":          {base(20, 50, line.StateActive, 20), nil, supply, 60, line.No, nil},
		"a snapshot with a SIM after since":        {base(20, 50, line.StateActive, 20), nil, supply, 49, line.Yes, []line.Change{sim}},
		"a snapshot with a tenure after since":     {base(20, 50, line.StateActive, 20), nil, supply, 19, line.Yes, []line.Change{holder, sim}},
		"a snapshot, and no supply after it":       {base(20, 50, line.StateActive, 20), nil, noSupply, 60, line.Uncertain, nil},
		"a snapshot with an end":                   {base(20, 0, line.StateEnded, 50), nil, supply, 49, line.Yes, []line.Change{holder}},
		"a snapshot with an end before since":      {base(20, 0, line.StateEnded, 50), nil, supply, 60, line.No, nil},
		"a snapshot of the donor, and then a port": {base(20, 0, line.StateActive, 20), []line.Event{on(line.Port, 40, to(other))}, supply, 39, line.Yes, []line.Change{sim, network}},
		"a snapshot of the recipient, since then":  {base(20, 0, line.StateActive, 20), []line.Event{on(line.Port, 40, to(home))}, supply, 40, line.No, nil},
		"the recipient's own supply covers since":  {base(20, 0, line.StateActive, 20), []line.Event{on(line.Port, 40, to(other))}, supply, 100, line.No, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Defaults()
			facts := factsOf(fold(test.base, numbered(test.events...)), test.coverage)
			got := line.ChangedSince(facts, &p, at(test.since).Time(), at(now).Time())
			if got.Changed != test.want || !slices.Equal(got.Changes, test.changes) {
				t.Errorf("the answer is %s %v, not %s %v", got.Changed, got.Changes, test.want, test.changes)
			}
		})
	}
}

// If a snapshot does not have the start of the tenure, or whether the SIM changed, the
// answer is not no for a time before the first supply.
func TestUnknownStartIsNotCoveredByTheSnapshot(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	for name, test := range map[string]struct {
		tenure line.Instant
		bits   line.Bits
		before string // since an hour before the first supply
	}{
		"both are known":        {20 * hour, 0, line.No},
		"of unknown start":      {line.Never, 0, line.Uncertain},
		"of unknown SIM":        {20 * hour, line.SIMUnknown, line.Uncertain},
		"nothing else is known": {line.Never, line.SIMUnknown, line.Uncertain},
	} {
		base := line.Baseline{
			Import: 7, Network: home, Tenure: test.tenure, SIM: line.Never, State: line.StateActive, StateSince: line.Never, Until: line.Never, Bits: test.bits,
		}
		facts := factsOf(line.FromBaseline(&base), covering(100*hour, 100*hour, 999*hour))
		if got := line.ChangedSince(facts, &p, (99 * hour).Time(), (1000 * hour).Time()); got.Changed != test.before {
			t.Errorf("%s: before the first supply the answer is %s, not %s", name, got.Changed, test.before)
		}
		if got := line.ChangedSince(facts, &p, (100 * hour).Time(), (1000 * hour).Time()); got.Changed != line.No {
			t.Errorf("%s: since the first supply the answer is %s", name, got.Changed)
		}
	}
}

// The answer is no only when every required topic is fresh and covers the time, and the
// row has no change after since.
func TestNoRequiresAFreshSupply(t *testing.T) {
	t.Parallel()

	now, seen := 1000*hour, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p, row := aPolicy(t), anyRow(t, now)
		row.Baseline = rapid.Int32Range(0, 1).Draw(t, "baseline")
		if rapid.Bool().Draw(t, "quiet") {
			row.Tenure, row.SIM, row.PortAt, row.ContestedTenure, row.ContestedSIM, row.ContestedPort = line.Never, line.Never, line.Never, line.Never, line.Never, line.Never
		}
		ago := func(label string, from, to int32) line.Instant {
			return now - hour*line.Instant(rapid.Int32Range(from, to).Draw(t, label))
		}
		through, since := ago("through", 0, 30), ago("since", 20, 300)
		facts := factsOf(row, covering(ago("known", 200, 480), ago("complete", 200, 480), through))
		answer := line.ChangedSince(facts, p, since.Time(), now.Time())
		seen[answer.Changed]++
		if (answer.Changed == line.Yes) != (len(answer.Changes) > 0) {
			t.Fatalf("%s with the changes %v", answer.Changed, answer.Changes)
		}
		if changed := row.Tenure > since || row.SIM > since || row.PortAt > since; changed && answer.Changed != line.Yes {
			t.Fatalf("%s, but the row has a change", answer.Changed)
		}
		contested := max(row.ContestedTenure, row.ContestedSIM, row.ContestedPort) > since
		if stale := slices.ContainsFunc(requiredFor(p), func(lasts time.Duration) bool { return now.Time().Sub(through.Time()) >= lasts }); answer.Changed == line.No &&
			(stale || since >= through || contested) {
			t.Fatalf("no since %d, supplied through %d", since, through)
		}
		facts.Coverage = noSupply
		if stale := line.ChangedSince(facts, p, since.Time(), now.Time()); stale.Changed == line.No || answer.Changed == line.Yes && stale.Changed != line.Yes {
			t.Fatalf("without supply the answer is %s, and was %s", stale.Changed, answer.Changed)
		}
	})
	for _, answer := range []string{line.Yes, line.No, line.Uncertain} {
		if seen[answer] == 0 {
			t.Errorf("no case had the answer %s", answer)
		}
	}
}

// requiredFor returns how fresh each topic must be that a policy requires.
func requiredFor(p *policy.Policy) []time.Duration {
	return slices.DeleteFunc([]time.Duration{p.LifecycleFreshness(), p.SIMFreshness(), p.PortFreshness(true)}, func(d time.Duration) bool { return d == 0 })
}

// Times are in whole seconds: a fraction of a second is not a change.
func TestChangedSinceIgnoresFractionsOfASecond(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	facts := factsOf(fold(nil, numbered(event(line.Assign, 500*hour))), supplied((1000 * hour).Time()))
	since := (500 * hour).Time().Add(time.Second / 2)
	if got := line.ChangedSince(facts, &p, since, (1000 * hour).Time()); got.Changed != line.No {
		t.Errorf("half a second after the start of the tenure the answer is %s", got.Changed)
	}
}
