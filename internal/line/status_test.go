package line_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// supplied returns the coverage of an operator, and of the clearing house, whose supply
// is complete from the start up to a time.
func supplied(through time.Time) func(numbering.Network) line.Coverage {
	start := line.Instant(0).Time()
	span := line.Span{KnownSince: start, CompleteSince: start, Through: through}
	return func(numbering.Network) line.Coverage { return line.Coverage{Lifecycle: span, SIM: span, Ports: span} }
}

func noSupply(numbering.Network) line.Coverage { return line.Coverage{} }

// factsOf returns the facts about a number in home's range.
func factsOf(r line.Row, coverage func(numbering.Network) line.Coverage) *line.Facts {
	return &line.Facts{Row: r, Planned: true, Allocated: true, Holder: home, Coverage: coverage}
}

// viewOf returns the status of a line by the default policy, with an operator that
// supplies up to the present.
func viewOf(r line.Row, at line.Instant) line.View {
	p := policy.Defaults()
	return line.At(factsOf(r, supplied(at.Time())), &p, at.Time())
}

// aPolicy draws windows that differ from each other.
func aPolicy(t *rapid.T) *policy.Policy {
	p := policy.Defaults()
	p.RecycledDays = rapid.IntRange(1, 10).Draw(t, "recycledDays")
	p.SwappedHours = rapid.IntRange(1, 200).Draw(t, "swappedHours")
	p.PortedHours = rapid.IntRange(1, 200).Draw(t, "portedHours")
	p.FlaggedDays = rapid.IntRange(1, 10).Draw(t, "flaggedDays")
	p.LifecycleFreshnessHours = rapid.IntRange(1, 240).Draw(t, "lifecycleFreshnessHours")
	p.SIMFreshnessHours = rapid.IntRange(0, 240).Draw(t, "simFreshnessHours")
	p.PortFreshnessHours = rapid.IntRange(1, 240).Draw(t, "portFreshnessHours")
	p.ClearingHouse = rapid.SampledFrom([]string{"", "the clearing house"}).Draw(t, "clearingHouse")
	return &p
}

// anyRow draws a row with any content. Its times are within the twenty days before now;
// an announced churn, and the end of a bar, may be later.
func anyRow(t *rapid.T, now line.Instant) line.Row {
	maybe := func(label string) line.Instant {
		if rapid.Bool().Draw(t, label) {
			return line.Never
		}
		return now - hour*line.Instant(rapid.Int32Range(0, 480).Draw(t, label+" hours ago"))
	}
	soon := func(label string) line.Instant {
		return now + hour*line.Instant(rapid.Int32Range(-10, 10).Draw(t, label))
	}
	r := line.NoRow()
	r.State = line.State(rapid.Int16Range(int16(line.StateNone), int16(line.StateEnded)).Draw(t, "state"))
	if r.State != line.StateNone {
		r.Network = rapid.SampledFrom([]numbering.Network{home, other}).Draw(t, "network")
		r.StateSince = now - hour*line.Instant(rapid.Int32Range(0, 480).Draw(t, "state since"))
		r.Tenure, r.SIM, r.PortAt = maybe("tenure"), maybe("sim"), maybe("port")
		if rapid.IntRange(0, 3).Draw(t, "contested") == 0 {
			r.ContestedTenure, r.ContestedSIM, r.ContestedPort = maybe("contested tenure"), maybe("contested sim"), maybe("contested port")
		}
		r.Bits = rapid.SampledFrom([]line.Bits{0, 0, line.FirstHolder}).Draw(t, "first holder")
	}
	if r.State == line.StateNoticed && rapid.Bool().Draw(t, "announced") {
		r.Until = soon("churn in hours")
	}
	r.BarAt, r.HolderBarAt, r.NumberBarAt = maybe("bar"), maybe("holder bar"), maybe("number bar")
	if r.HolderBarAt != line.Never && rapid.Bool().Draw(t, "holder bar ends") {
		r.HolderBarUntil = soon("holder bar until")
	}
	if r.NumberBarAt != line.Never && rapid.Bool().Draw(t, "number bar ends") {
		r.NumberBarUntil = soon("number bar until")
	}
	r.MediumAt, r.HighAt, r.VeryHighAt, r.BlackAt = maybe("medium"), maybe("high"), maybe("very high"), line.Never
	if rapid.IntRange(0, 5).Draw(t, "blacklist") == 0 {
		r.BlackAt = now - hour
	}
	return r
}

// changedSince answers by the default policy, with an operator that supplies up to the
// present.
func changedSince(r line.Row, since, now line.Instant) line.Since {
	p := policy.Defaults()
	return line.ChangedSince(factsOf(r, supplied(now.Time())), &p, since.Time(), now.Time())
}
