package verify

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Said is everything that an answer says.
type Said struct {
	Status  string
	Network string
	Extra   string // the rest as one JSON object, word for word; empty if nothing more was requested
}

// String returns the status and the network.
func (s Said) String() string { return s.Status + " " + s.Network }

// say computes what the answer to a request says.
func (r *Request) say(l *linestore.Lookup, at time.Time) (s Said, err error) {
	view := l.View(at)
	s = Said{Status: string(view.Status), Network: l.NetworkName(view.Network)}
	if r.wantsExtra() {
		extra := r.extra(l, view, at)
		s.Extra, err = extra.text()
	}
	return s, err
}

// parts returns in which parts two answers to the same request differ.
func (s Said) parts(o Said) (names []string, err error) {
	if s.Status != o.Status {
		names = append(names, "status")
	}
	if s.Network != o.Network {
		names = append(names, "network")
	}
	if s.Extra == o.Extra {
		return names, nil
	}
	var a, b map[string]jsontext.Value
	for text, to := range map[string]*map[string]jsontext.Value{s.Extra: &a, o.Extra: &b} {
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), to); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"statusReason", "signals", "coverage", "dates", "changedSince", "changes", "knownThrough"} {
		if string(a[name]) != string(b[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// compare computes both forms of answers and adds those that differ to the result.
func (r *impactRun) compare(ctx context.Context, answers []record.Entry) error {
	histories, err := r.readHistories(ctx, answers)
	if err != nil {
		return err
	}
	var found, unchanged []Difference
	var compared, notDerivable int64
	for i := range answers {
		e := &answers[i]
		n, _ := phone.FromInt(e.Number)
		d, is, err := r.difference(ctx, e, histories[n])
		switch {
		case fault.CodeOf(err) == fault.NotFound || is == unreadable:
			notDerivable++
			continue
		case err != nil:
			return err
		case is == unconcerned:
			continue
		case is == different:
			found = append(found, d)
		case r.finder.KeepSame:
			unchanged = append(unchanged, d)
		}
		compared++
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Differences = append(r.result.Differences, found...)
	r.result.Same = append(r.result.Same, unchanged...)
	r.result.Compared += compared
	r.result.NotDerivable += notDerivable
	return nil
}

// readHistories reads the histories of the numbers of answers. A history is sorted by
// the first use of it, so no two goroutines share one.
func (r *impactRun) readHistories(ctx context.Context, answers []record.Entry) (histories map[phone.Number]*line.History, err error) {
	seen := make(map[phone.Number]bool, len(answers))
	var numbers []phone.Number
	for i := range answers {
		if n, ok := phone.FromInt(answers[i].Number); ok && !seen[n] {
			seen[n] = true
			numbers = append(numbers, n)
		}
	}
	err = pg.InSnapshot(ctx, r.finder.Pool, func(tx pg.Tx) error {
		// On a busy machine the pauses between statements may be long.
		if _, err := tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
			return fmt.Errorf("verify: read histories: %w", err)
		}
		rows, err := linestore.Rows(ctx, tx, numbers)
		if err != nil {
			return err
		}
		histories, err = linestore.Histories(ctx, tx, numbers, rows)
		return err
	})
	return histories, err
}

// outcome is the result of comparing one answer.
type outcome int

const (
	unconcerned outcome = iota // the correction has no part in what was known later
	unreadable                 // the answer cannot be computed again
	same
	different
)

// difference computes what an answer said from what was known, and what it would have
// said with hindsight. Both use the policy, the plan and the coverage of the answer.
func (r *impactRun) difference(ctx context.Context, e *record.Entry, h *line.History) (d Difference, is outcome, err error) {
	request, readable := recordedRequest(e)
	if h == nil || !readable {
		return d, unreadable, nil
	}
	known, ok := h.Known(e.LineVersion)
	if !ok {
		return d, unreadable, nil
	}
	n, _ := phone.FromInt(e.Number)
	l, err := pastRules(ctx, r.finder.Pool, r.finder.Lines, n, e.At, e.PolicyVersion, e.PlanVersion)
	if err != nil {
		return d, unreadable, err
	}
	hindsight := h.Hindsight(known, e.At, l.Policy.Zone())
	if !r.concerns(known, hindsight) {
		return d, unconcerned, nil
	}
	said := Said{Status: e.Status, Network: e.MobileNetwork, Extra: e.Extra}
	d = Difference{
		RequestID: e.RequestID, At: e.At, Number: e.Number, Entity: e.Entity, Key: e.Key, Purpose: e.Purpose, Options: e.Options,
		Version: int64(len(h.Events)), Answered: said, Recomputed: said,
	}
	l.Row = line.NoRow()
	if e.LineVersion > 0 {
		l.Row = known.Row(r.terms)
	}
	before := l.Row
	after := hindsight.Row(r.terms)
	if before.Version = after.Version; before == after {
		return d, same, nil
	}
	l.Coverage = r.coverageOf(e, l.View(e.At).Network)
	then, err := request.say(&l, e.At)
	if err != nil {
		return d, unreadable, err
	}
	l.Row = after
	now, err := request.say(&l, e.At)
	if err != nil || then == now {
		return d, same, err
	}
	d.Recomputed = now
	d.Parts, err = then.parts(now)
	return d, different, err
}

// coverageOf returns the coverage that an answer was given by, for the network that it
// names, and for others that of its time.
func (r *impactRun) coverageOf(e *record.Entry, recorded numbering.Network) func(numbering.Network) line.Coverage {
	own, others := recordedCoverage(e), r.coverage.At(e.At)
	return func(n numbering.Network) line.Coverage {
		if n == recorded {
			return own(n)
		}
		return others(n)
	}
}
