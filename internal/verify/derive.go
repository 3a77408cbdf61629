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

// Verdict says how an answer of the past compares with what comes out when it
// is computed anew.
type Verdict string

// The verdicts.
const (
	Agrees   Verdict = "agrees"   // nothing else could have been said
	Possible Verdict = "possible" // it is one of the answers that come out, and what decided between them is not kept
	Differs  Verdict = "differs"  // it does not come out
	Untold   Verdict = "untold"   // there is nothing to compute it from
)

// Derivation is what comes of computing an answer of the past anew.
type Derivation struct {
	Verdict Verdict
	Answers []string // what comes out: status and network; more than one when something is not kept
	Why     string   // for every verdict but Agrees
}

// Derive computes the answer of a record anew, from the versions that it names:
// so much of the line's history as made that version of its row, and the policy
// and the numbering plan of those versions.
//
// One thing that went into the answer is not kept for every moment: how far the
// supply of the line's network reached. What imports and the present reach say
// about it limits what could have been said.
func Derive(ctx context.Context, pool *pgxpool.Pool, lines *line.Almanac, e *journal.Entry) (Derivation, error) {
	n, isNumber := phone.FromInt(e.Number)
	asked, known := parseOptions(e.Options)
	switch {
	case e.Mode != "live":
		return untold("The key was not a live one, and what such a key is told does not come from the lines."), nil
	case e.PolicyVersion == 0:
		return untold("The record is from before there were policies."), nil
	case !isNumber || !known:
		return untold("The record has a number or options that this program cannot read."), nil
	}
	look, err := lookThen(ctx, pool, lines, n, e.At, e.PolicyVersion, e.PlanVersion)
	if fault.CodeOf(err) == fault.NotFound {
		return differs("The policy or the numbering plan that the record names is not there."), nil
	}
	if err != nil {
		return Derivation{}, err
	}
	row, why, err := rowThen(ctx, pool, n, e.LineVersion)
	if err != nil || why != "" {
		return differs(why), err
	}
	look.Row = row
	// An import that ended at about that time may have been seen or not.
	const about = 2 * time.Minute
	var d Derivation
	for _, margin := range []time.Duration{0, about} {
		reaches, err := reachThen(ctx, pool, look.View(e.At).Network, e, margin)
		if err != nil {
			return Derivation{}, err
		}
		if d, err = compare(&look, asked, e, reaches); err != nil || d.Verdict != Differs {
			return d, err
		}
	}
	return d, nil
}

func untold(why string) Derivation  { return Derivation{Verdict: Untold, Why: why} }
func differs(why string) Derivation { return Derivation{Verdict: Differs, Why: why} }

// compare computes the answer for each reach that the supply may have had.
func compare(look *line.Look, asked Question, e *journal.Entry, reaches []line.Coverage) (d Derivation, err error) {
	same, words := 0, false
	for _, reach := range reaches {
		look.Coverage = coverage(reach)
		a, err := answer(&asked, look, e.At, e.At)
		if err != nil {
			return d, err
		}
		says := say(look, e.At)
		if !slices.Contains(d.Answers, says) {
			d.Answers = append(d.Answers, says)
		}
		if string(a.Status) == e.Status && a.Network == e.MobileNetwork {
			words = true
			if a.Said == e.Extra {
				same++
			}
		}
	}
	switch {
	case same == len(reaches):
		d.Verdict = Agrees
	case same > 0:
		d.Verdict, d.Why = Possible, "How far the network's supply reached then is not kept, and the answer hung on that."
	case words:
		d.Verdict, d.Why = Differs, "Status and network come out as recorded, and what else was said does not."
	default:
		d.Verdict, d.Why = Differs, "What was told about the line by then gives another answer."
	}
	return d, nil
}

// say returns how a line stands, and with which network.
func say(l *line.Look, at time.Time) string {
	v := l.View(at)
	return string(v.Status) + " " + l.NetworkName(v.Network)
}

// lookThen returns the rules by which a number was looked at, without its row.
func lookThen(ctx context.Context, pool *pgxpool.Pool, lines *line.Almanac, n phone.Number, at time.Time, policyVersion, planVersion int32) (l line.Look, err error) {
	if l.Policy, l.Plan, err = lines.Rules(ctx, pool, policyVersion, planVersion); err != nil {
		return l, err
	}
	l.Place(n, at)
	return l, nil
}

// rowThen returns the row of a number in the version that a record names. The
// version counts the baseline, if there is one, and the events: the first so
// many that were told made it.
func rowThen(ctx context.Context, pool *pgxpool.Pool, n phone.Number, version int64) (row line.Row, why string, err error) {
	if version == 0 {
		return line.NoRow(), "", nil // nothing had been told
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
		return row, fmt.Sprintf("The record names version %d of the line, and only %d things are known of it.", version, version-events+int64(len(h.Events))), nil
	}
	slices.SortStableFunc(h.Events, func(a, b line.Event) int { return cmp.Or(a.Told.Compare(b.Told), cmp.Compare(a.Seq, b.Seq)) })
	row, _ = line.Fold(h.Base, h.Events[:events], line.Forever)
	return row, "", nil
}

// parseOptions is the reverse of [Question.options]. It reports whether it
// understood all of it.
func parseOptions(text string) (q Question, ok bool) {
	for option := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "since":
			q.Since, _ = time.Parse(time.RFC3339, value)
		case "gate":
			q.Grace = value == "grace"
		case "include":
			for word := range strings.SplitSeq(value, ",") {
				q.Include.Coverage = q.Include.Coverage || word == "coverage"
				q.Include.Signals = q.Include.Signals || word == "signals"
			}
		}
	}
	return q, q.options() == text
}

// saidCoverage returns the reach that the answer itself spoke of, if it did.
func saidCoverage(extra string) *Coverage {
	var said struct {
		Coverage *Coverage `json:"coverage"`
	}
	if extra == "" || json.Unmarshal([]byte(extra), &said) != nil {
		return nil
	}
	return said.Coverage
}
