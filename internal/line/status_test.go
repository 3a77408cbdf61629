package line_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/policy"
)

// supplied returns the coverage of an operator whose supply is complete from the start
// up to a time.
func supplied(through time.Time) func(numbering.Network) line.Coverage {
	first := line.Instant(0).Time()
	return func(numbering.Network) line.Coverage {
		return line.Coverage{KnownSince: first, CompleteSince: first, Through: through}
	}
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
	p.FreshnessDays = rapid.IntRange(1, 10).Draw(t, "freshnessDays")
	return &p
}

const hour = line.Instant(time.Hour / time.Second)

// anyRow draws a row with any content. Its times are within the twenty days before now;
// an announced churn may be later.
func anyRow(t *rapid.T, now line.Instant) line.Row {
	maybe := func(label string) line.Instant {
		if rapid.Bool().Draw(t, label) {
			return line.Never
		}
		return now - hour*line.Instant(rapid.Int32Range(0, 480).Draw(t, label+" hours ago"))
	}
	r := line.NoRow()
	r.State = line.State(rapid.Int16Range(int16(line.StateNone), int16(line.StateEnded)).Draw(t, "state"))
	if r.State != line.StateNone {
		r.Network = rapid.SampledFrom([]numbering.Network{home, other}).Draw(t, "network")
		r.StateSince = now - hour*line.Instant(rapid.Int32Range(0, 480).Draw(t, "state since"))
		r.Tenure, r.SIM, r.PortAt = maybe("tenure"), maybe("sim"), maybe("port")
	}
	if r.State == line.StateNoticed && rapid.Bool().Draw(t, "announced") {
		r.Until = now + hour*line.Instant(rapid.Int32Range(-10, 10).Draw(t, "churn in hours"))
	}
	r.BarAt, r.OrderAt, r.FlagAt, r.BlackAt = maybe("bar"), maybe("order"), maybe("flag"), line.Never
	if rapid.IntRange(0, 5).Draw(t, "blacklist") == 0 {
		r.BlackAt = now - hour
	}
	return r
}
