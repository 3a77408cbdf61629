package linemodel_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

// A row is written when something is reported, and answers are given from it long after.
// They must not depend on when it was last written: somebody's report without effect
// would change them.
func TestAnswersDoNotDependOnWhenTheRowWasWritten(t *testing.T) {
	t.Parallel()
	p := policy.Defaults()
	histories(t, func(r *rand.Rand, h *line.History) bool {
		written := line.Instant(0)
		passed := func(b *line.Baseline) {
			if b != nil {
				written = max(written, b.Tenure, b.SIM, b.StateSince)
			}
		}
		passed(h.Base)
		for i := range h.Events {
			e := &h.Events[i]
			written = max(written, line.InstantOf(e.ReportedAt)+1, e.Effective)
			passed(e.Base)
		}
		later := written + line.Instant(r.IntN(60*24*3600))
		asked := later + line.Instant(r.IntN(400*24*3600))
		var answers [2]answer
		for i, at := range []line.Instant{written, later} {
			row, _ := line.Fold(h, linemodel.RandomTerms, at)
			answers[i] = answerFrom(&row, &p, asked.Time())
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Errorf("asked at %v, the row of %v and that of %v differ:\n%shistory:\n%s", asked.Time(), written.Time(), later.Time(), diff, linemodel.Format(h, nil, nil))
			return false
		}
		return true
	})
}

type answer struct {
	View  line.View
	Since []line.Since
}

// answerFrom answers from a row of a network that supplies everything in time.
func answerFrom(row *line.Row, p *policy.Policy, at time.Time) answer {
	fresh := line.Span{KnownSince: time.Unix(0, 0), CompleteSince: time.Unix(0, 0), Through: at}
	f := line.Facts{Row: *row, Planned: true, Allocated: true, Holder: 1, Coverage: func(numbering.Network) line.Coverage {
		return line.Coverage{Lifecycle: fresh, SIM: fresh, Ports: fresh}
	}}
	a := answer{View: line.At(&f, p, at)}
	for _, ago := range []time.Duration{time.Hour, 10 * 24 * time.Hour, 50 * 24 * time.Hour, 200 * 24 * time.Hour} {
		a.Since = append(a.Since, line.ChangedSince(&f, p, at.Add(-ago), at))
	}
	return a
}
