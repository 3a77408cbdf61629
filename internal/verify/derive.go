package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
)

// Verdict is the result of comparing a recorded answer with the answer computed
// again.
type Verdict string

// The verdicts. Programs read these words.
const (
	Agrees       Verdict = "agrees"   // the computation gives the recorded answer and no other
	Possible     Verdict = "possible" // the computation gives several answers, the recorded one among them
	Differs      Verdict = "differs"  // the computation does not give the recorded answer
	NotDerivable Verdict = "untold"   // there is nothing to compute the answer from
)

// Derivation is the result of computing a recorded answer again.
type Derivation struct {
	Verdict Verdict
	Answers []string // status and network; several when an input of the answer is not stored
	Why     string   // for every verdict but Agrees
}

// Derive computes a recorded answer again from the versions that its record
// names: the part of the line's history that made that version of its row, the
// policy, and the numbering plan.
//
// One input is not stored for every past moment: the coverage of the network's
// supply. It is known only within bounds, so several answers may be possible;
// see [possibleCoverages].
func Derive(ctx context.Context, pool *pgxpool.Pool, lines *line.Resolver, e *journal.Entry) (Derivation, error) {
	n, isNumber := phone.FromInt(e.Number)
	request, known := parseOptions(e.Options)
	switch {
	case e.Mode != "live":
		return notDerivable("The answer was given to a test key and does not come from a real line."), nil
	case !isNumber || !known:
		return notDerivable("The record has a number or options that this version of the program cannot read."), nil
	}
	l, err := pastRules(ctx, pool, lines, n, e.At, e.PolicyVersion, e.PlanVersion)
	if fault.CodeOf(err) == fault.NotFound {
		return differs("The policy or the numbering plan that the record names does not exist."), nil
	}
	if err != nil {
		return Derivation{}, err
	}
	row, why, err := pastRow(ctx, pool, n, e.LineVersion)
	if err != nil || why != "" {
		return differs(why), err
	}
	l.Row = row
	// An import that ended within two minutes of the answer may have been visible
	// to it or not. This margin is tried only if the computation without it does
	// not give the recorded answer.
	const importMargin = 2 * time.Minute
	var d Derivation
	for _, margin := range []time.Duration{0, importMargin} {
		coverages, err := possibleCoverages(ctx, pool, l.View(e.At).Network, e, margin)
		if err != nil {
			return Derivation{}, err
		}
		if d, err = compare(&l, request, e, coverages); err != nil || d.Verdict != Differs {
			return d, err
		}
	}
	return d, nil
}

func notDerivable(why string) Derivation { return Derivation{Verdict: NotDerivable, Why: why} }
func differs(why string) Derivation      { return Derivation{Verdict: Differs, Why: why} }

// compare computes the answer for every coverage that was possible, and compares
// each with the record.
func compare(l *line.Lookup, request Request, e *journal.Entry, coverages []line.Coverage) (d Derivation, err error) {
	equal, statusEqual := 0, false
	for _, c := range coverages {
		l.Coverage = sameForAll(c)
		a, err := newAnswer(&request, l, e.At, e.At)
		if err != nil {
			return d, err
		}
		if s := statusAndNetwork(l, e.At); !slices.Contains(d.Answers, s) {
			d.Answers = append(d.Answers, s)
		}
		if string(a.Status) == e.Status && a.Network == e.MobileNetwork {
			statusEqual = true
			if a.ExtraJSON == e.Extra {
				equal++
			}
		}
	}
	switch {
	case equal == len(coverages):
		d.Verdict = Agrees
	case equal > 0:
		d.Verdict, d.Why = Possible, "The answer depended on the coverage of the network's supply at that time, which is not stored."
	case statusEqual:
		d.Verdict, d.Why = Differs, "Status and network are as recorded, but the additional fields are not."
	default:
		d.Verdict, d.Why = Differs, "The events reported by then give another answer."
	}
	return d, nil
}

// statusAndNetwork returns the status and the network of a line, as one text.
func statusAndNetwork(l *line.Lookup, at time.Time) string {
	v := l.View(at)
	return string(v.Status) + " " + l.NetworkName(v.Network)
}

// pastRules returns the look-up of a number by given versions of policy and
// plan, without the line's row.
func pastRules(ctx context.Context, pool *pgxpool.Pool, lines *line.Resolver, n phone.Number, at time.Time, policyVersion, planVersion int32) (l line.Lookup, err error) {
	if l.Policy, l.Plan, err = lines.Rules(ctx, pool, policyVersion, planVersion); err != nil {
		return l, err
	}
	l.ApplyPlan(n, at)
	return l, nil
}

// pastRow returns the row of a number in an earlier version. The version of a
// row is the number of its events, plus one if it has a baseline; so the events
// that were reported first, as many as the version counts, made it. why is set
// when the history is too short.
func pastRow(ctx context.Context, pool *pgxpool.Pool, n phone.Number, version int64) (row line.Row, why string, err error) {
	if version == 0 {
		return line.NoRow(), "", nil // nothing had been reported
	}
	numbers := []phone.Number{n}
	rows, err := line.Rows(ctx, pool, numbers)
	if err != nil {
		return row, "", err
	}
	histories, err := line.Histories(ctx, pool, numbers, rows)
	if err != nil {
		return row, "", err
	}
	h := histories[n]
	events := version
	if h.Base != nil {
		events--
	}
	if events > int64(len(h.Events)) {
		return row, fmt.Sprintf("The record names version %d of the line, but its history has only %d.", version, version-events+int64(len(h.Events))), nil
	}
	slices.SortStableFunc(h.Events, func(a, b line.Event) int {
		return cmp.Or(a.ReportedAt.Compare(b.ReportedAt), cmp.Compare(a.Seq, b.Seq))
	})
	row, _ = line.Fold(h.Base, h.Events[:events], line.Forever)
	return row, "", nil
}

// parseOptions is the reverse of [Request.options]. ok is false when the text
// has anything that it does not know.
func parseOptions(text string) (r Request, ok bool) {
	for option := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "since":
			r.Since, _ = time.Parse(time.RFC3339, value)
		case "gate":
			r.Grace = value == "grace"
		case "include":
			for word := range strings.SplitSeq(value, ",") {
				r.Include.Coverage = r.Include.Coverage || word == "coverage"
				r.Include.Signals = r.Include.Signals || word == "signals"
			}
		}
	}
	return r, r.options() == text
}

// statedCoverage returns the coverage that an answer stated in its extra fields,
// or nil.
func statedCoverage(extra string) *Coverage {
	var stated struct {
		Coverage *Coverage `json:"coverage"`
	}
	if extra == "" || json.Unmarshal([]byte(extra), &stated) != nil {
		return nil
	}
	return stated.Coverage
}
