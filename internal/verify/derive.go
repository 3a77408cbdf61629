package verify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// Verdict is the result of comparing a recorded answer with the answer computed
// again.
type Verdict string

// The verdicts. Programs read these words.
const (
	Agrees       Verdict = "agrees"   // the computation gives the recorded answer and no other
	Possible     Verdict = "possible" // the coverage changed at that moment; one of its two states gives the recorded answer
	Differs      Verdict = "differs"  // the computation does not give the recorded answer
	NotDerivable Verdict = "untold"   // there is nothing to compute the answer from
)

// Derivation is the result of computing a recorded answer again.
type Derivation struct {
	Verdict Verdict
	Answers []string // status and network
	Why     string   // for every verdict but Agrees
}

// Derive computes a recorded answer again from the versions that its record
// names: the part of the line's history that made that version of its row, the
// policy, and the numbering plan.
//
// Which coverage an answer saw is not certain where that changed shortly before.
func Derive(ctx context.Context, pool *pgxpool.Pool, lines *linestore.Resolver, e *journal.Entry) (Derivation, error) {
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
	network := l.View(e.At).Network
	d, equal, err := compare(ctx, pool, &l, request, e, network, e.At)
	if err != nil || equal {
		return d, err
	}
	// A change of the coverage has the time at which its transaction began, so an
	// answer that was given shortly after it may not have seen it.
	times, err := linestore.CoverageChanges(ctx, pool, network, e.At.Add(-commitMargin), e.At)
	if err != nil {
		return Derivation{}, err
	}
	for _, at := range times {
		before, equal, err := compare(ctx, pool, &l, request, e, network, at.Add(-time.Microsecond))
		if err != nil {
			return Derivation{}, err
		}
		if equal {
			before.Verdict, before.Why = Possible, "The coverage of the network's supply changed at that moment, and the answer fits what it was before."
			return before, nil
		}
	}
	return d, nil
}

// commitMargin is how long the transaction of a report may have lasted.
const commitMargin = 2 * time.Minute

func notDerivable(why string) Derivation { return Derivation{Verdict: NotDerivable, Why: why} }
func differs(why string) Derivation      { return Derivation{Verdict: Differs, Why: why} }

// compare computes the answer by the coverage that a network had at a time, and
// reports whether it equals the record.
func compare(
	ctx context.Context, pool *pgxpool.Pool, l *linestore.Lookup, request Request, e *journal.Entry, network numbering.Network, at time.Time,
) (d Derivation, equal bool, err error) {
	coverage, err := linestore.CoverageAt(ctx, pool, at)
	if err != nil {
		return d, false, err
	}
	l.Coverage = sameForAll(coverage(network))
	a, err := newAnswer(&request, l, e.At, e.At)
	if err != nil {
		return d, false, err
	}
	d.Answers = []string{statusAndNetwork(l, e.At)}
	switch sameStatus := string(a.Status) == e.Status && a.Network == e.MobileNetwork; {
	case sameStatus && a.ExtraJSON == e.Extra:
		d.Verdict = Agrees
	case sameStatus:
		d.Verdict, d.Why = Differs, "Status and network are as recorded, but the additional fields are not."
	default:
		d.Verdict, d.Why = Differs, "The events reported by then give another answer."
	}
	return d, d.Verdict == Agrees, nil
}

// sameForAll returns a function that gives every network the same coverage.
func sameForAll(c line.Coverage) func(numbering.Network) line.Coverage {
	return func(numbering.Network) line.Coverage { return c }
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
