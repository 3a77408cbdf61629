package supply_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// lies returns what the liar sends on a day: about so many events, most of them in
// short sequences about one number.
func (w *liarWorld) lies(count int) (items []supply.Item) {
	for len(items) < count {
		l := w.victim()
		if w.houseLies {
			items = append(items, w.houseLie(l))
			continue
		}
		items = append(items, w.sequence(l)...)
	}
	return items
}

// victim draws the number of the next lie: one that the liar has or had, or any.
func (w *liarWorld) victim() *trueLine {
	if len(w.former) > 0 && w.random.IntN(2) == 0 {
		return w.former[w.random.IntN(len(w.former))]
	}
	return w.lines[w.random.IntN(len(w.lines))]
}

func pickOne[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// lie returns an event of the liar.
func (w *liarWorld) lie(l *trueLine, k line.Kind, at time.Time) supply.Item {
	r := w.random
	w.ids++
	if at.After(w.now) && r.IntN(10) > 0 {
		at = w.now
	}
	i := supply.Item{ID: fmt.Sprint("l", w.ids), PhoneNumber: l.number, Type: k.String(), EffectiveAt: at.Format(time.RFC3339)}
	if r.IntN(12) == 0 {
		i.EffectiveAt = at.In(lagos).Format(time.DateOnly)
	}
	switch k { //nolint:exhaustive // the others say no more
	case line.Bar:
		i.Reason = pickOne(r, "NIN", "FRAUD", "LOST", "COURT")
	case line.End:
		i.Reason = pickOne(r, "CHURNED", "SURRENDERED")
	case line.GiveNotice:
		i.ChurnAt = at.Add(w.policy.Notice()).Add(time.Duration(r.IntN(20*24)) * time.Hour).Format(time.RFC3339)
	case line.Assign:
		i.FirstHolder = r.IntN(3) == 0
	case line.ReleasePort:
		for i.Network == "" || i.Network == w.liar {
			i.Network = pickOne(r, liarNetworks...)
		}
	}
	return i
}

// moment draws a time of effect: lately, before the backdating limit and beyond it, and
// around what truly happened to the line.
func (w *liarWorld) moment(l *trueLine) time.Time {
	r := w.random
	ago := func(limit time.Duration) time.Time {
		return w.now.Add(-time.Duration(r.Int64N(int64(limit)))).Truncate(time.Second)
	}
	switch r.IntN(8) {
	case 0:
		return ago(10 * time.Minute)
	case 1:
		return ago(72 * time.Hour)
	case 2:
		return ago(w.policy.Backdating())
	case 3:
		return ago(2 * w.policy.Backdating())
	default:
		return w.around(l)
	}
}

var offsets = []time.Duration{
	-72*time.Hour - time.Second, -72 * time.Hour, -71 * time.Hour, -24 * time.Hour, -time.Hour, -time.Second, 0, time.Second, time.Hour, 24 * time.Hour, 5 * 24 * time.Hour,
}

// around returns a time close to a true event, or now if nothing has happened.
func (w *liarWorld) around(l *trueLine) time.Time {
	past := 0
	for past < len(l.events) && !l.events[past].ReportedAt.After(w.now) {
		past++
	}
	if past == 0 {
		return w.now
	}
	e := &l.events[past-1-w.random.IntN(min(past, 3))]
	return e.ReportedAt.Add(pickOne(w.random, offsets...))
}

// portOf returns when the newest port of the number took effect.
func (w *liarWorld) portOf(l *trueLine) time.Time {
	at := w.now
	for i := range l.events {
		if e := &l.events[i]; e.Kind == line.Port && !e.ReportedAt.After(w.now) {
			at = e.ReportedAt
		}
	}
	return at
}

// sequence returns one lie, or several that belong together. Most of them are the
// attacks of docs/reference/scenarios.md.
func (w *liarWorld) sequence(l *trueLine) (items []supply.Item) {
	r := w.random
	port := w.portOf(l)
	before := func() time.Time {
		return port.Add(-pickOne(r, time.Second, time.Hour, 24*time.Hour, 72*time.Hour, 73*time.Hour, 200*time.Hour))
	}
	add := func(k line.Kind, at time.Time) { items = append(items, w.lie(l, k, at)) }
	switch r.IntN(20) {
	case 0: // an end before the port, and the number is sold again
		add(line.End, before())
		add(line.Assign, pickOne(r, w.now, before()))
	case 1:
		add(line.Transfer, before())
	case 2: // something is lifted or undone before the port
		add(pickOne(r, line.Unbar, line.Use, line.Reinstate), before())
	case 3: // the liar claims the number back, to be heard about the time before
		add(line.ClaimPort, w.now)
		add(pickOne(r, line.End, line.Transfer, line.Unbar, line.ChangeSIM), before())
	case 4:
		add(line.GiveNotice, before())
	case 5: // an end and a new holder within a second
		at := w.moment(l)
		add(line.End, at)
		add(line.Assign, at.Add(time.Second))
	case 6: // the same while a bar or a flag is in force
		add(line.End, w.now.Add(-time.Second))
		add(line.Assign, w.now)
		add(line.ChangeSIM, w.now)
	case 7: // half of a port that others make
		add(line.ReleasePort, w.around(l))
		items[0].Network = pickOne(r, liarNetworks...)
	case 8:
		add(line.ClaimPort, w.around(l))
	case 9, 10, 11: // a report is withdrawn
		if len(l.sent) > 0 {
			old := l.sent[r.IntN(len(l.sent))]
			if old.Voids == "" {
				w.ids++
				items = append(items, supply.Item{ID: fmt.Sprint("l", w.ids), PhoneNumber: old.PhoneNumber, Type: "VOIDED", EffectiveAt: old.EffectiveAt, Voids: old.ID, Note: "in error"})
			}
		}
	case 12: // an end and a reinstatement, so that the tenure is the liar's again
		at := w.moment(l)
		add(line.End, at)
		add(line.Reinstate, at.Add(time.Hour))
	case 13:
		add(line.ChangeSIM, w.moment(l))
		add(line.Bar, w.moment(l))
	case 14:
		add(line.Unbar, w.now)
	default:
		for range 1 + r.IntN(3) {
			add(pickOne(r, operatorKinds[:len(operatorKinds)-1]...), w.moment(l))
		}
	}
	l.sent = append(l.sent, items...)
	return items
}

// houseLie returns an event of a clearing house that lies.
func (w *liarWorld) houseLie(l *trueLine) supply.Item {
	r := w.random
	if len(l.sent) > 0 && r.IntN(4) == 0 {
		if old := l.sent[r.IntN(len(l.sent))]; old.Voids == "" {
			w.ids++
			return supply.Item{ID: fmt.Sprint("l", w.ids), PhoneNumber: old.PhoneNumber, Type: "VOIDED", EffectiveAt: old.EffectiveAt, Voids: old.ID, Note: "in error"}
		}
	}
	i := w.lie(l, line.Port, w.moment(l))
	i.Network = pickOne(r, liarNetworks...)
	l.sent = append(l.sent, i)
	return i
}

// lyingFile returns a snapshot of the liar: its lines as they are, as it likes, or not at
// all, and lines of others.
func (w *liarWorld) lyingFile(asOf time.Time) (rows []string) {
	r := w.random
	for _, l := range w.lines {
		row, _ := line.Fold(l.history(), w.terms, line.InstantOf(asOf))
		mine := row.Network == w.network(w.liar) && row.State != line.StateNone
		chance := 2
		switch {
		case mine && row.State != line.StateEnded:
			chance = 90
		case l.served:
			chance = 25
		}
		if r.IntN(100) >= chance {
			continue
		}
		if !mine || r.IntN(100) < 15 {
			w.invent(&row, asOf)
		}
		rows = append(rows, rowOf(l.number, &row))
	}
	return rows
}

// invent changes a row of the liar's file.
func (w *liarWorld) invent(row *line.Row, asOf time.Time) {
	r := w.random
	some := func() line.Instant {
		return line.InstantOf(asOf.Add(-time.Duration(r.Int64N(int64(40 * 24 * time.Hour)))))
	}
	old := line.InstantOf(asOf.AddDate(-2, 0, 0))
	row.PortAt = line.Never
	switch r.IntN(4) {
	case 0:
		row.Tenure = some()
	case 1:
		row.Tenure = old
	case 2:
		row.Tenure = line.Never
	}
	switch r.IntN(3) {
	case 0:
		row.SIM = line.Never
	case 1:
		row.SIM = max(some(), row.Tenure)
	}
	row.State, row.BarAt = line.State(1+r.IntN(5)), line.Never
	row.StateSince, row.Until = max(some(), row.Tenure), line.Never
	if row.State == line.StateNoticed {
		row.Until = line.InstantOf(asOf.Add(w.policy.Notice()))
	}
	if r.IntN(4) == 0 {
		row.State, row.BarAt = line.StateActive, max(some(), row.Tenure)
	}
}

// sendFile imports a snapshot in some worlds. Staff confirm it if it is held, or not.
func (w *liarWorld) sendFile(network string, asOf time.Time, rows []string, confirm bool, to ...*env) {
	slices.Sort(rows)
	content := "number,tenureStart,simChangedAt,state,stateSince,churnAt\n" + strings.Join(rows, "\n") + "\n"
	if network == w.liar {
		for _, l := range w.lines {
			i := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, l.number) })
			row := "without the number"
			if i >= 0 {
				row = rows[i]
			}
			l.told = append(l.told, liarMessage{w.now, network, supply.Item{Type: "snapshot as of", EffectiveAt: asOf.Format(time.RFC3339)}, row})
		}
	}
	for _, e := range to {
		k := &importEnv{env: e}
		ctx := w.t.Context()
		im, err := e.Begin(ctx, operator(network), supply.ImportForm{Kind: linefile.Snapshot, AsOf: asOf}, "cli")
		if err != nil {
			w.t.Fatal(err)
		}
		source := k.source(content)
		if im, err = e.Run(ctx, im.ID, source, nil); err == nil && im.State == supply.Held {
			if confirm {
				if im, err = e.Confirm(ctx, im.ID, console); err == nil {
					im, err = e.Run(ctx, im.ID, source, nil)
				}
			} else {
				im, err = e.Cancel(ctx, im.ID, console)
			}
		}
		if err != nil || im.Open() {
			w.t.Fatalf("the import of %s is %s (%s), %v", network, im.State, im.Reason, err)
		}
		if network != w.liar && im.State != supply.Finished {
			w.t.Fatalf("the honest import of %s is %s (%s)", network, im.State, im.Reason)
		}
		if e == w.with {
			w.files[im.State]++
		}
	}
}
