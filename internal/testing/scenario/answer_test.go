package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// run asks, and compares the answer with the expected one.
func (a *ask) run(e *env) {
	lookup, at := a.lookup(e)
	v := lookup.View(at)
	e.differ("status", a.want.status+", "+a.want.network, words(string(v.Status), string(v.Reason))+", "+lookup.Plan.Code(v.Network))
	if a.want.signalled {
		a.compareSignals(e, v.Signals)
	}
	for _, q := range a.want.sinces {
		got := line.ChangedSince(&lookup.Facts, lookup.Policy, q.at.at, at)
		said := []string{got.Changed}
		for _, c := range got.Changes {
			said = append(said, string(c))
		}
		e.differ("changed since "+q.at.String(), q.want, strings.Join(said, " "))
	}
	if a.want.through != (when{}) {
		got := line.ChangedSince(&lookup.Facts, lookup.Policy, at.Add(-time.Hour), at).KnownThrough
		e.differ("known through", a.want.through.String(), when{at: got}.String())
	}
	if a.knowing == (when{}) {
		a.compareOpen(e)
	}
	a.compareCounts(e)
}

// words joins a word with another, if there is one.
func words(a, b string) string { return strings.TrimSpace(a + " " + b) }

func (e *env) differ(what, want, got string) {
	if want != got {
		e.failf("%s at %s: want %s, got %s", what, when{at: e.clock}, want, got)
	}
}

// lookup returns what is known about the number, and the time that the question is
// about.
func (a *ask) lookup(e *env) (*linestore.Lookup, time.Time) {
	n := e.number(e.row.number)
	if a.knowing == (when{}) {
		e.setClock(a.at)
		e.assureAll()
		l, err := e.Lines.Lookup(e.ctx, e.Pool, n, e.clock)
		e.must(err)
		return l, e.clock
	}
	e.setClock(a.knowing)
	return e.pastLookup(n, a.at.at.UTC()), a.at.at.UTC()
}

// pastLookup computes what was true at a time, by what is known now. The coverage is
// that of the time.
func (e *env) pastLookup(n phone.Number, at time.Time) *linestore.Lookup {
	rows, err := linestore.Rows(e.ctx, e.Pool, []phone.Number{n})
	e.must(err)
	histories, err := linestore.Histories(e.ctx, e.Pool, []phone.Number{n}, rows)
	e.must(err)
	versions, err := policy.History(e.ctx, e.Pool)
	e.must(err)
	l := &linestore.Lookup{}
	l.Row, _ = line.Fold(histories[n], line.TermsOf(versions), line.InstantOf(at))
	l.Policy, l.Plan, err = e.Lines.Current(e.ctx, e.Pool, at)
	e.must(err)
	l.ApplyPlan(n, at)
	l.Coverage, err = linestore.CoverageAt(e.ctx, e.Pool, at)
	e.must(err)
	h, err := e.History(e.ctx, supply.HistoryQuery{Number: n, AsOf: at})
	e.must(err)
	if v := l.View(at); v.Status != h.Status || v.Reason != h.Reason {
		e.failf("the history has %s %s, and the fold %s %s", h.Status, h.Reason, v.Status, v.Reason)
	}
	return l
}

// compareSignals compares what the scenario says about each signal.
func (a *ask) compareSignals(e *env, got []line.Signal) {
	var texts []string
	for i, g := range got {
		have := signal{words: words(string(g.Status), g.Level.String()), isContested: g.Contested}
		if i < len(a.want.signals) {
			if a.want.signals[i].since != (when{}) {
				have.since = when{at: g.Since.Time()}
			}
			if a.want.signals[i].until != (when{}) {
				have.until = when{at: g.Until.Time()}
			}
		}
		texts = append(texts, have.String())
	}
	var want []string
	for _, g := range a.want.signals {
		want = append(want, offsets(g).String())
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		e.failf("signals at %s (-want +got):\n%s", when{at: e.clock}, diff)
	}
}

// offsets writes the times of a signal as offsets, so that they can be compared.
func offsets(g signal) signal {
	if g.since != (when{}) {
		g.since = when{at: g.since.at}
	}
	if g.until != (when{}) {
		g.until = when{at: g.until.at}
	}
	return g
}

// compareOpen compares the list of open events.
func (a *ask) compareOpen(e *env) {
	list, err := e.OpenEvents(e.ctx, supply.OpenQuery{Limit: 100})
	e.must(err)
	got := []string{}
	for _, o := range list {
		by := o.Network
		if by == "" {
			by = o.Source
		}
		text := fmt.Sprintf("%s by %s: %s", o.Type, by, o.Reason)
		if o.IfConfirmed != "" && slices.ContainsFunc(a.want.open, func(w string) bool { return strings.Contains(w, ", if confirmed") }) {
			text += ", if confirmed " + string(o.IfConfirmed)
		}
		if !slices.Contains(got, text) {
			got = append(got, text)
		}
	}
	want := slices.Clone(a.want.open)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		e.failf("open events at %s (-want +got):\n%s", when{at: e.clock}, diff)
	}
}

// compareCounts compares what is counted of the reports of an operator.
func (a *ask) compareCounts(e *env) {
	for _, c := range a.want.counts {
		list, err := e.NetworkStatuses(e.ctx, c.by.Network, time.Time{})
		e.must(err)
		var lateness, earliness int64
		for _, k := range list[0].Kinds {
			if k.Kind == c.kind {
				lateness, earliness = k.Late, k.Early
			}
		}
		if lateness != c.late || earliness != c.early {
			e.failf("%s of %s: %d late and %d early, want %d and %d", c.kind, c.by.name, lateness, earliness, c.late, c.early)
		}
	}
}
