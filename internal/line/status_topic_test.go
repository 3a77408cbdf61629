package line_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// Each required topic must be fresh by its own measure, and is stale from the moment at
// which that ends. PORT is required only where a clearing house is named.
func TestEachRequiredTopicMustBeFresh(t *testing.T) {
	t.Parallel()

	now := 400 * day
	none, named := policy.Defaults(), policy.Defaults()
	named.ClearingHouse = "the clearing house"
	noSIM := policy.Defaults()
	noSIM.SIMFreshnessHours = 0
	whole := line.Span{KnownSince: line.Instant(0).Time(), CompleteSince: line.Instant(0).Time(), Through: now.Time()}
	ago := func(d time.Duration) line.Span {
		s := whole
		s.Through = s.Through.Add(-d)
		return s
	}
	doubtful := whole
	doubtful.Doubtful = true
	const short = time.Nanosecond
	for name, test := range map[string]struct {
		policy   *policy.Policy
		coverage line.Coverage
		reason   line.Reason // "" when the line is NORMAL
		through  time.Time
	}{
		"all are fresh":                 {&named, line.Coverage{Lifecycle: whole, SIM: whole, Ports: whole}, "", whole.Through},
		"LIFECYCLE is just fresh":       {&none, line.Coverage{Lifecycle: ago(7*24*time.Hour - short), SIM: whole}, "", ago(7*24*time.Hour - short).Through},
		"LIFECYCLE is stale":            {&none, line.Coverage{Lifecycle: ago(7 * 24 * time.Hour), SIM: whole}, line.ReasonStale, ago(7 * 24 * time.Hour).Through},
		"SIM is just fresh":             {&none, line.Coverage{Lifecycle: whole, SIM: ago(36*time.Hour - short)}, "", ago(36*time.Hour - short).Through},
		"SIM is stale":                  {&none, line.Coverage{Lifecycle: whole, SIM: ago(36 * time.Hour)}, line.ReasonStale, ago(36 * time.Hour).Through},
		"SIM was never supplied":        {&none, line.Coverage{Lifecycle: whole}, line.ReasonNoSupply, time.Time{}},
		"LIFECYCLE was never supplied":  {&none, line.Coverage{SIM: whole}, line.ReasonNoSupply, time.Time{}},
		"SIM is not required":           {&noSIM, line.Coverage{Lifecycle: whole}, "", whole.Through},
		"PORT is just fresh":            {&named, line.Coverage{Lifecycle: whole, SIM: whole, Ports: ago(72*time.Hour - short)}, "", ago(72*time.Hour - short).Through},
		"PORT is stale":                 {&named, line.Coverage{Lifecycle: whole, SIM: whole, Ports: ago(72 * time.Hour)}, line.ReasonStale, ago(72 * time.Hour).Through},
		"PORT was never supplied":       {&named, line.Coverage{Lifecycle: whole, SIM: whole}, line.ReasonNoSupply, time.Time{}},
		"PORT without a clearing house": {&none, line.Coverage{Lifecycle: whole, SIM: whole}, "", whole.Through},
		"assurances are not believed":   {&none, line.Coverage{Lifecycle: whole, SIM: doubtful}, line.ReasonStale, whole.Through},
		"nor those of the nation":       {&named, line.Coverage{Lifecycle: whole, SIM: whole, Ports: doubtful}, line.ReasonStale, whole.Through},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := factsOf(fold(nil, numbered(event(line.Use, 0))), func(numbering.Network) line.Coverage { return test.coverage })
			view := line.At(facts, test.policy, whole.Through)
			if view.Reason != test.reason || (view.Status == line.Normal) != (test.reason == "") {
				t.Errorf("the line is %s (%s)", view.Status, view.Reason)
			}
			since := line.ChangedSince(facts, test.policy, (now - 20*day).Time(), whole.Through)
			if want := map[bool]string{true: line.No, false: line.Uncertain}[test.reason == ""]; since.Changed != want {
				t.Errorf("changed: %s", since.Changed)
			}
			if known := facts.KnownThrough(test.policy, whole.Through); !since.KnownThrough.Equal(test.through) || !known.Equal(test.through) {
				t.Errorf("known through %s and %s, not %s", since.KnownThrough, known, test.through)
			}
		})
	}
}

// Every topic must cover the time, each from its own start.
func TestEachRequiredTopicMustCoverTheTime(t *testing.T) {
	t.Parallel()

	now := 400 * day
	named := policy.Defaults()
	named.ClearingHouse = "the clearing house"
	from := func(since line.Instant) line.Span {
		return line.Span{KnownSince: since.Time(), CompleteSince: since.Time(), Through: now.Time()}
	}
	facts := factsOf(fold(nil, numbered(event(line.Use, 0))), func(numbering.Network) line.Coverage {
		ports := from(300 * day)
		ports.CompleteSince = time.Time{} // there is no base
		return line.Coverage{Lifecycle: from(100 * day), SIM: from(200 * day), Ports: ports}
	})
	for _, test := range []struct {
		since       line.Instant
		none, named string
	}{
		{200*day - 1, line.Uncertain, line.Uncertain}, {200 * day, line.No, line.Uncertain}, {300*day - 1, line.No, line.Uncertain}, {300 * day, line.No, line.No},
	} {
		none := policy.Defaults()
		for p, want := range map[*policy.Policy]string{&none: test.none, &named: test.named} {
			if got := line.ChangedSince(facts, p, test.since.Time(), now.Time()); got.Changed != want {
				t.Errorf("with the clearing house %q, since %d: %s, not %s", p.ClearingHouse, test.since, got.Changed, want)
			}
		}
	}
}

// Topics says which topics are required, and which of them are fresh.
func TestTopicsAreJudgedOneByOne(t *testing.T) {
	t.Parallel()

	p := policy.Defaults()
	now := (400 * day).Time()
	fresh, old := line.Span{Through: now}, line.Span{Through: now.Add(-48 * time.Hour)}
	facts := factsOf(fold(nil, numbered(event(line.Use, 0))), func(n numbering.Network) line.Coverage {
		return map[numbering.Network]line.Coverage{home: {Lifecycle: old, SIM: old, Ports: fresh}}[n]
	})
	want := [3]line.TopicState{
		{Span: old, Topic: line.TopicLifecycle, Required: true, Fresh: true},
		{Span: old, Topic: line.TopicSIM, Required: true, Fresh: false},
		{Span: fresh, Topic: line.TopicPort, Required: false, Fresh: false},
	}
	if got := facts.Topics(&p, now); got != want {
		t.Errorf("the topics are %+v, not %+v", got, want)
	}
}

// An event belongs to the topic of its reporter: SIM for SIM changes, PORT for the
// clearing house alone, LIFECYCLE for everything else, halves of ports included.
func TestEventsBelongToTopics(t *testing.T) {
	t.Parallel()

	for _, kind := range line.Kinds() {
		for a := line.Operator; a <= line.Regulator; a++ {
			if !kind.MayReport(a) {
				continue
			}
			e := line.Event{Kind: kind, Authority: a}
			topic, ok := e.Topic()
			want, supplies := line.TopicLifecycle, a == line.Operator || a == line.ClearingHouse
			switch {
			case a == line.ClearingHouse:
				want = line.TopicPort
			case kind == line.ChangeSIM:
				want = line.TopicSIM
			}
			if ok != supplies || ok && topic != want {
				t.Errorf("%s by %s belongs to %s (%v)", kind, a, topic, ok)
			}
		}
	}
}

// The status of a number without signals, case by case.
func TestStatusWithoutSignals(t *testing.T) {
	t.Parallel()

	now := 100 * day
	fresh, old := supplied(now.Time()), supplied((now - 30*day).Time())
	partial := covering(0, line.Never, now)
	only := func(n numbering.Network) func(numbering.Network) line.Coverage {
		return func(network numbering.Network) line.Coverage {
			if network == n {
				return fresh(n)
			}
			return line.Coverage{}
		}
	}
	row := func(events ...line.Event) line.Row { return fold(nil, numbered(events...)) }
	inUse, elsewhere := row(event(line.Use, 0)), row(event(line.Port, 0, to(other)))
	doubtful := row(event(line.Use, 0), event(line.ReleasePort, 1, to(other)))
	claimed := row(event(line.Use, 0, from(other), outside))
	ended := row(event(line.Port, 0, to(other)), event(line.End, 1, from(other)))
	churned := row(event(line.Port, 0, to(other)), event(line.GiveNotice, 1, from(other), until(now)))
	for name, test := range map[string]struct {
		row       line.Row
		coverage  func(numbering.Network) line.Coverage
		planned   bool
		allocated bool
		status    line.Status
		reason    line.Reason
		network   numbering.Network
	}{
		"in use":                                       {inUse, fresh, true, true, line.Normal, "", home},
		"in use, without a plan":                       {inUse, fresh, false, false, line.Normal, "", home},
		"in use, in a range that was withdrawn":        {inUse, fresh, true, false, line.Unknown, line.ReasonRange, home},
		"the same without supply":                      {inUse, noSupply, true, false, line.Unknown, line.ReasonRange, home},
		"in use, the supply is old":                    {inUse, old, true, true, line.Unknown, line.ReasonStale, home},
		"in use, its network never supplied":           {inUse, only(other), true, true, line.Unknown, line.ReasonNoSupply, home},
		"in doubt":                                     {doubtful, fresh, true, true, line.Unknown, line.ReasonDisputed, home},
		"in doubt, and the supply is old":              {doubtful, old, true, true, line.Unknown, line.ReasonStale, home},
		"ported, the recipient supplies":               {elsewhere, only(other), true, true, line.Normal, "", other},
		"ported, only the donor supplies":              {elsewhere, only(home), true, true, line.Unknown, line.ReasonNoSupply, other},
		"ended after a port, back with its range":      {ended, only(other), true, true, line.Quarantined, "", home},
		"churned by its date, back with its range":     {churned, only(other), true, true, line.Quarantined, "", home},
		"ended, in a range that was withdrawn":         {ended, fresh, true, false, line.Quarantined, "", other},
		"never in a complete supply":                   {line.NoRow(), fresh, true, true, line.Unallocated, line.ReasonNumber, home},
		"never in an incomplete supply":                {line.NoRow(), partial, true, true, line.Unknown, line.ReasonNoSupply, home},
		"never supplied, and the supply is old":        {line.NoRow(), old, true, true, line.Unknown, line.ReasonStale, home},
		"never supplied, and no network supplies":      {line.NoRow(), noSupply, true, true, line.Unknown, line.ReasonNoSupply, home},
		"never supplied, without a coverage function":  {line.NoRow(), nil, true, true, line.Unknown, line.ReasonNoSupply, home},
		"never supplied, in no range":                  {line.NoRow(), fresh, true, false, line.Unallocated, line.ReasonRange, 0},
		"never supplied, without a plan":               {line.NoRow(), fresh, false, false, line.Unknown, line.ReasonNoSupply, 0},
		"claimed by a network without the range":       {claimed, fresh, true, true, line.Unknown, line.ReasonDisputed, home},
		"the same in no range":                         {claimed, fresh, true, false, line.Unallocated, line.ReasonRange, 0},
		"released by the regulator, never supplied":    {row(event(line.Blacklist, 0), event(line.Release, 1)), fresh, true, true, line.Unallocated, line.ReasonNumber, home},
		"barred by the regulator before any supply":    {row(event(line.Bar, 0, ordered)), noSupply, true, true, line.Barred, "", home},
		"blacklisted in a range that is not allocated": {row(event(line.Blacklist, 0)), noSupply, true, false, line.Blacklisted, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := policy.Defaults()
			facts := &line.Facts{Row: test.row, Planned: test.planned, Allocated: test.allocated, Coverage: test.coverage}
			if test.allocated {
				facts.Holder = home
			}
			got := line.At(facts, &p, now.Time())
			if got.Status != test.status || got.Reason != test.reason || got.Network != test.network {
				t.Errorf("%s (%s) with network %d, not %s (%s) with %d", got.Status, got.Reason, got.Network, test.status, test.reason, test.network)
			}
		})
	}
}
