package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Verdict is the result of comparing a recorded answer with the answer computed
// again.
type Verdict string

// The verdicts. Programs read these words.
const (
	Agrees       Verdict = "agrees"  // the computation gives the recorded answer
	Differs      Verdict = "differs" // the computation does not give the recorded answer
	NotDerivable Verdict = "untold"  // there is nothing to compute the answer from
)

// Derivation is the result of computing a recorded answer again.
type Derivation struct {
	Verdict Verdict
	Answers []string // status and network
	Why     string   // for every verdict but Agrees
}

// Derive computes a recorded answer again from what its record names: the part of the
// line's history that made that version of its row, the policy, the numbering plan, and
// the coverage, which must be in the history of the coverage at that moment.
func Derive(ctx context.Context, pool *pgxpool.Pool, lines *linestore.Resolver, e *record.Entry) (Derivation, error) {
	n, isNumber := phone.FromInt(e.Number)
	request, known := recordedRequest(e)
	switch {
	case e.Erased():
		return notDerivable("The personal part of the record was erased."), nil
	case e.Type != typeNumber || e.Rules != rulesVersion:
		return notDerivable("The record has a type or rules of lines that this version of the program does not know."), nil
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
	if why, err = wrongCoverage(ctx, pool, l.View(e.At).Network, e); err != nil || why != "" {
		return differs(why), err
	}
	l.Coverage = recordedCoverage(e)
	return compare(&l, &request, e)
}

func notDerivable(why string) Derivation { return Derivation{Verdict: NotDerivable, Why: why} }
func differs(why string) Derivation      { return Derivation{Verdict: Differs, Why: why} }

// wrongCoverage returns why the recorded coverage cannot be the one that a network had
// when the answer was given; empty if it can.
//
// A change of the coverage has the time at which its transaction began. So an answer
// may have missed one of shortly before, and may have seen one that began after the
// answer's own clock was read.
func wrongCoverage(ctx context.Context, pool *pgxpool.Pool, n numbering.Network, e *record.Entry) (why string, err error) {
	const before, after = 2 * time.Minute, time.Minute
	possible, err := linestore.CoverageDuring(ctx, pool, n, e.At.Add(-before), e.At.Add(after))
	if err != nil {
		return "", err
	}
	for i, t := range ReadCoverage(&e.Coverage) {
		if !slices.Contains(possible[i], t.Span) {
			return "The network's supply of " + t.Topic.String() + " did not have the recorded coverage.", nil
		}
	}
	return "", nil
}

// compare computes the answer by what is in l, and compares it with the record.
func compare(l *linestore.Lookup, request *Request, e *record.Entry) (d Derivation, err error) {
	a, err := newAnswer(request, l, e.At, e.At)
	if err != nil {
		return d, err
	}
	d.Answers = []string{statusAndNetwork(l, e.At)}
	switch {
	case string(a.Status) != e.Status || a.Network != e.MobileNetwork || string(a.Reason) != e.Reason:
		d.Verdict, d.Why = Differs, "The events reported by then give another answer."
	case a.ExtraJSON != e.Extra:
		d.Verdict, d.Why = Differs, "Status and network are as recorded, but the additional fields are not."
	case recordCoverage(l.Topics(l.Policy, e.At)) != e.Coverage:
		d.Verdict, d.Why = Differs, "The policy judges the recorded coverage differently."
	default:
		d.Verdict = Agrees
	}
	return d, nil
}

// statusAndNetwork returns the status and the network of a line, as one text.
func statusAndNetwork(l *linestore.Lookup, at time.Time) string {
	v := l.View(at)
	return string(v.Status) + " " + l.NetworkName(v.Network)
}

// pastRules returns the look-up of a number by given versions of policy and
// plan, without the line's row.
func pastRules(ctx context.Context, pool *pgxpool.Pool, lines *linestore.Resolver, n phone.Number, at time.Time, policyVersion, planVersion int32) (l linestore.Lookup, err error) {
	if l.Policy, l.Plan, err = lines.Rules(ctx, pool, policyVersion, planVersion); err != nil {
		return l, err
	}
	l.ApplyPlan(n, at)
	return l, nil
}

// pastRow returns the row of a number in an earlier version. why is set when the
// history has no such version.
func pastRow(ctx context.Context, pool *pgxpool.Pool, n phone.Number, version int64) (row line.Row, why string, err error) {
	if version == 0 {
		return line.NoRow(), "", nil // nothing had been reported
	}
	numbers := []phone.Number{n}
	rows, err := linestore.Rows(ctx, pool, numbers)
	if err != nil {
		return row, "", err
	}
	histories, err := linestore.Histories(ctx, pool, numbers, rows)
	if err != nil {
		return row, "", err
	}
	known, ok := histories[n].Known(version)
	if !ok {
		return row, fmt.Sprintf("The record names version %d of the line, which its history does not have.", version), nil
	}
	versions, err := policy.History(ctx, pool)
	if err != nil {
		return row, "", err
	}
	return known.Row(line.TermsOf(versions)), "", nil
}

// recordedRequest returns the request of a record, as far as the answer depends on it: its
// options, and the purpose, by which the policy decides which dates it gives. ok is
// false when the options cannot be read.
func recordedRequest(e *record.Entry) (r Request, ok bool) {
	r, ok = parseOptions(e.Options)
	r.Purpose = e.Purpose
	return r, ok
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
				r.Include.Dates = r.Include.Dates || word == "dates"
				r.Include.Receipt = r.Include.Receipt || word == "receipt"
				r.Include.Signals = r.Include.Signals || word == "signals"
			}
		}
	}
	return r, r.options() == text
}
