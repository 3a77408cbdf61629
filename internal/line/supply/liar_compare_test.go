package supply_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// liarAnswer is a complete answer about a line.
type liarAnswer struct {
	view   line.View
	since  []line.Since // of each time that was asked
	string string       // all of it
}

// answerOf returns the answer from a look-up.
func (w *liarWorld) answerOf(l *linestore.Lookup, asked []time.Time) liarAnswer {
	a := liarAnswer{view: l.View(w.now)}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", a.view.Status, a.view.Reason, l.Plan.Code(a.view.Network))
	for _, s := range a.view.Signals {
		fmt.Fprintf(&b, "; %s %s..%s by %s %s contested %t", s.Status, s.Since.Time().Format(time.RFC3339), s.Until.Time().Format(time.RFC3339), s.Source, s.Level, s.Contested)
	}
	for _, at := range asked {
		s := line.ChangedSince(&l.Facts, l.Policy, at, w.now)
		a.since = append(a.since, s)
		fmt.Fprintf(&b, "; since %s %s %v through %s", at.Format(time.RFC3339), s.Changed, s.Changes, s.KnownThrough.Format(time.RFC3339))
	}
	a.string = b.String()
	return a
}

// level orders the statuses: NORMAL, then UNKNOWN and UNALLOCATED, then what is adverse.
func level(s line.Status) int {
	switch s {
	case line.Normal:
		return 0
	case line.Unknown, line.Unallocated:
		return 1
	default:
		return 2
	}
}

// changedLevel orders the answers to changedSince.
func changedLevel(s string) int { return slices.Index([]string{line.No, line.Uncertain, line.Yes}, s) }

// lower reports whether an answer is lower than another in any part.
func lower(a, b liarAnswer) bool {
	if level(a.view.Status) < level(b.view.Status) {
		return true
	}
	for i := range a.since {
		if changedLevel(a.since[i].Changed) < changedLevel(b.since[i].Changed) {
			return true
		}
	}
	return false
}

// askedSince returns the times since which a question asks for changes.
func (w *liarWorld) askedSince(l *trueLine) []time.Time {
	r := w.random
	times := []time.Time{
		w.now.Add(-time.Duration(1+r.IntN(72)) * time.Hour), w.now.AddDate(0, 0, -4-r.IntN(10)), w.now.AddDate(0, 0, -14-r.IntN(60)),
	}
	return append(times, w.around(l).Add(-time.Second))
}

// ask asks both worlds about some numbers and compares the answers.
func (w *liarWorld) ask(lines []*trueLine) {
	numbers := make([]phone.Number, len(lines))
	for i, l := range lines {
		numbers[i] = l.phone
	}
	ctx := w.t.Context()
	with, err := w.with.Lines.LookupAll(ctx, w.with.Pool, numbers, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	without, err := w.without.Lines.LookupAll(ctx, w.without.Pool, numbers, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range lines {
		asked := w.askedSince(l)
		a, b := with.Get(l.phone), without.Get(l.phone)
		w.judge(l, asked, w.answerOf(&a, asked), w.answerOf(&b, asked))
	}
}

// judge compares two answers by the three rules.
func (w *liarWorld) judge(l *trueLine, asked []time.Time, with, without liarAnswer) {
	s := &w.result
	trueView := w.trueView(l)
	switch {
	case !l.served:
		s.compared[ruleNeverServed]++
		unallocated := without.view.Status == line.Unallocated && without.view.Reason == line.ReasonNumber
		disputed := with.view.Status == line.Unknown && with.view.Reason == line.ReasonDisputed
		if unallocated && disputed {
			rest := func(a liarAnswer) string { _, after, _ := strings.Cut(a.string, " since "); return after }
			if rest(with) != rest(without) {
				w.violation(ruleNeverServed, "changedSince", l, with, without, trueView)
			}
		} else if with.string != without.string {
			sort := fmt.Sprintf("%s becomes %s", without.view.Status, with.view.Status)
			if w.houseLies {
				sort = map[bool]string{true: "the answer is lower", false: "the answer is another"}[lower(with, without)]
			}
			w.violation(ruleNeverServed, sort, l, with, without, trueView)
		}
	case !l.cut.IsZero() && !w.now.Before(l.cut) && (l.returned.IsZero() || w.now.Before(l.returned)) && (w.filesFrom.IsZero() || l.cut.Before(w.filesFrom)):
		s.compared[ruleLeft]++
		odd := ""
		if l.odd == portedWhileBlack {
			odd = l.odd
		}
		if level(with.view.Status) < level(without.view.Status) {
			w.violation(ruleLeft, fmt.Sprintf("%s becomes %s", without.view.Status, with.view.Status)+odd, l, with, without, trueView)
		}
		for i := range asked {
			if changedLevel(with.since[i].Changed) < changedLevel(without.since[i].Changed) {
				w.violation(ruleLeft, fmt.Sprintf("%s becomes %s", without.since[i].Changed, with.since[i].Changed)+odd, l, with, without, trueView)
				break
			}
		}
		if level(with.view.Status) == 2 && level(without.view.Status) < 2 && level(trueView.Status) < 2 {
			s.falseAdverse[with.view.Status]++
		}
	}
	w.judgeTruth(l, asked, with, without, trueView)
}

// trueView returns the true status.
func (w *liarWorld) trueView(l *trueLine) line.View {
	row, _ := line.Fold(l.history(), w.terms, line.InstantOf(w.now))
	fresh := line.Span{KnownSince: w.start, CompleteSince: w.start, Through: w.now}
	f := line.Facts{Row: row, Planned: true, Allocated: true, Holder: w.network(l.holder), Coverage: func(numbering.Network) line.Coverage {
		return line.Coverage{Lifecycle: fresh, SIM: fresh, Ports: fresh}
	}}
	return line.At(&f, &w.policy, w.now)
}

// owed returns the true event of a time that an answer must show: one that was dated
// while the liar did not have the line, and is older than the freshness of its topic.
func (w *liarWorld) owed(l *trueLine, at line.Instant) *trueEvent {
	if at == line.Never {
		return nil
	}
	for i := range l.events {
		e := &l.events[i]
		byOthers := e.from != w.liar && e.by != w.liar || e.Kind == line.Port || w.houseLies
		if (e.Effective == at || e.Kind == line.GiveNotice && e.Until == at) && byOthers && !w.now.Before(e.ReportedAt.Add(e.fresh)) {
			return e
		}
	}
	return nil
}

// judgeTruth checks that nothing that happened elsewhere than with the liar is hidden.
func (w *liarWorld) judgeTruth(l *trueLine, asked []time.Time, with, without liarAnswer, trueView line.View) {
	s := &w.result
	row, _ := line.Fold(l.history(), w.terms, line.InstantOf(w.now))
	s.compared[ruleElsewhere]++
	for _, signal := range trueView.Signals {
		if signal.Status == line.New || signal.Status == line.Swapped && signal.Source == line.ClearingHouse {
			continue
		}
		if e := w.owed(l, signal.Since); e != nil && level(with.view.Status) < 2 {
			w.violation(ruleElsewhere, w.classify(l, e, signal.Status, with.string == without.string), l, with, without, trueView)
			return
		}
	}
	changes := []line.Instant{row.Tenure, row.SIM, row.PortAt}
	if row.State == line.StateEnded {
		changes = append(changes, row.StateSince)
	}
	for i, since := range asked {
		for _, at := range changes {
			// The halves of a port may be a second apart.
			if e := w.owed(l, at); e != nil && at > line.InstantOf(since)+1 && with.since[i].Changed != line.Yes {
				w.violation(ruleElsewhere, w.classify(l, e, "changedSince", with.string == without.string), l, with, without, trueView)
				return
			}
		}
	}
}

// classify says what is hidden, whether the line is now with the liar, and whether the
// answer is the same without the liar.
func (w *liarWorld) classify(l *trueLine, e *trueEvent, what line.Status, same bool) string {
	where := "elsewhere"
	row, _ := line.Fold(l.history(), w.terms, line.InstantOf(w.now))
	switch {
	case row.State == line.StateEnded && l.holder == w.liar:
		where = "in the liar's rest"
	case row.State != line.StateEnded && row.Network == w.network(w.liar):
		where = "with the liar"
	}
	sort := fmt.Sprintf("%s of %s, the line is now %s", what, e.Kind, where)
	switch {
	case !l.served && same:
		return sort + ", also without the liar"
	case !l.served:
		return sort
	case w.ownWord(l, e):
		return sort + ownWord
	}
	return sort + l.odd
}

// ownWord marks what the rules allow: about a line that it has, the liar is believed when
// it reports an end or the next holder, or lifts the bar of the network from which the
// line came.
const ownWord = ", by the liar's word about its own line"

// ownWord reports whether the liar reported, about a time at which it truly had the
// line, what ends the effect of an earlier event.
func (w *liarWorld) ownWord(l *trueLine, hidden *trueEvent) bool {
	k := &importEnv{env: w.with}
	h := k.history(l.number)
	_, outcomes := line.Fold(h, w.terms, line.InstantOf(w.now))
	for i := range h.Events {
		e := &h.Events[i]
		ends := e.Kind == line.End || e.Kind == line.GiveNotice || e.Kind == line.Assign || e.Kind == line.Transfer || e.Kind == line.Unbar && hidden.Kind == line.Bar && hidden.Authority == line.Operator
		if ends && outcomes[i] == line.Applied && e.Network == w.network(w.liar) && w.liar != "" && e.Effective > hidden.Effective && w.liarHas(l, e.Effective) {
			return true
		}
	}
	return false
}

// liarHas reports whether the liar truly served a line at a time, or held it in rest.
func (w *liarWorld) liarHas(l *trueLine, at line.Instant) bool {
	row, _ := line.Fold(l.history(), w.terms, at)
	if row.State == line.StateNone || row.State == line.StateEnded {
		return l.holder == w.liar
	}
	return row.Network == w.network(w.liar)
}

// violation records that a rule is broken, with an example.
func (w *liarWorld) violation(rule rune, sort string, l *trueLine, with, without liarAnswer, trueView line.View) {
	key := string(rule) + ": " + sort
	w.result.violations[key]++
	if w.result.violations[key] > 1 || w.examples == nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, rule (%c), %s\n%s in the range of %s; the liar is %s; asked at %s\n", w.seed, rule, sort, l.number, l.holder, w.liar, w.now.Format(time.RFC3339))
	if !l.cut.IsZero() {
		fmt.Fprintf(&b, "the port away was reported at %s\n", l.cut.Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "answers (- without, + with the liar):\n%s", cmp.Diff(strings.Split(without.string, "; "), strings.Split(with.string, "; ")))
	fmt.Fprintf(&b, "truth: %s %v\ntrue events:\n", trueView.Status, trueView.Signals)
	for _, e := range l.events {
		fmt.Fprintf(&b, "  %s %s by %s to %d (from %q)\n", e.ReportedAt.Format(time.RFC3339), e.Kind, e.by, e.Peer, e.from)
	}
	b.WriteString("reported:\n")
	for _, m := range l.told {
		fmt.Fprintf(&b, "  %s %s: %s %s %s%s%s%s -> %s\n", m.at.Format(time.RFC3339), m.by, m.item.ID, m.item.Type, m.item.EffectiveAt, suffix(" to ", m.item.Network), suffix(" churn ", m.item.ChurnAt), suffix(" voids ", m.item.Voids), m.outcome)
	}
	k := &importEnv{env: w.with}
	h := k.history(l.number)
	_, outcomes := line.Fold(h, w.terms, line.Forever)
	b.WriteString("stored:\n" + linemodel.Format(h, outcomes, outcomes))
	w.examples(key, b.String())
}

func suffix(label, s string) string {
	if s == "" {
		return ""
	}
	return label + s
}
