package supply_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

const (
	snapshotHeader = "number,tenureStart,simChangedAt,state,stateSince\n"
	eventsHeader   = "id,number,type,effectiveAt,network,level,reason,churnAt,voids,note\n"
)

// console is the regulator's staff at the command line.
var console = audit.Actor{Kind: audit.Operator}

// importEnv is an env for imports of files. Admin may read and delete everything.
type importEnv struct {
	*env

	admin *pgxpool.Pool
	chunk int // rows in one transaction; 0 leaves it to the service
}

func newImportEnv(t *testing.T) *importEnv {
	t.Helper()
	s := newEnv(t)
	return &importEnv{env: s, admin: pgtest.Open(t, s.Pool.Config().ConnString(), "")}
}

// at returns the time some days before now.
func (k *importEnv) at(days int) time.Time { return k.clock.AddDate(0, 0, -days) }

// snapshotOf returns a snapshot file with these rows.
func snapshotOf(rows ...string) string { return snapshotHeader + strings.Join(rows, "\n") + "\n" }

// eventsOf returns an events file with these rows.
func eventsOf(rows ...string) string { return eventsHeader + strings.Join(rows, "\n") + "\n" }

// active is the row of an ACTIVE line whose tenure began on a date.
func active(i int, since string) string { return number(i) + "," + since + ",,ACTIVE," }

// actives are the rows of count ACTIVE lines, starting with the number of index
// from.
func actives(from, count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = active(from+i, "2024-02-03")
	}
	return rows
}

// source is a file with this content.
func (k *importEnv) source(content string) supply.Source {
	return supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}.InChunks(k.chunk)
}

// create creates an import of MTN, which must succeed.
func (k *importEnv) create(f supply.ImportForm) supply.Import {
	k.t.Helper()
	im, err := k.Begin(k.t.Context(), operator("MTN"), f, "cli")
	if err != nil {
		k.t.Fatal(err)
	}
	return im
}

// run runs an import, which must then be in a state.
func (k *importEnv) run(im supply.Import, content, want string) supply.Import {
	k.t.Helper()
	im, err := k.Run(k.t.Context(), im.ID, k.source(content), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if im.State != want {
		k.t.Fatalf("the import is %s (%s), want %s: %+v", im.State, im.Reason, want, im.Counts)
	}
	return im
}

// importFile creates an import of MTN and runs it until it is applied. Staff confirms
// it if it is held. A snapshot is imported an hour after its asOf.
func (k *importEnv) importFile(f supply.ImportForm, content string) supply.Import {
	k.t.Helper()
	return k.importFrom("MTN", f, content)
}

// importFrom is importFile for any network.
func (k *importEnv) importFrom(network string, f supply.ImportForm, content string) (im supply.Import) {
	k.t.Helper()
	at := k.clock
	if sent := f.AsOf.Add(time.Hour); f.Kind == linefile.Snapshot && sent.Before(at) {
		at = sent
	}
	k.atTime(at, func() {
		var err error
		if im, err = k.Begin(k.t.Context(), operator(network), f, "cli"); err != nil {
			k.t.Fatal(err)
		}
		if im, err = k.Run(k.t.Context(), im.ID, k.source(content), nil); err != nil {
			k.t.Fatal(err)
		}
		if im.State == supply.Held {
			if im, err = k.Confirm(k.t.Context(), im.ID, console); err != nil {
				k.t.Fatal(err)
			}
		}
		if im.State == supply.Applying {
			im = k.run(im, content, supply.Finished)
		}
		if want := map[bool]string{false: supply.Finished, true: supply.Checked}[f.DryRun]; im.State != want {
			k.t.Fatalf("the import is %s (%s), want %s: %+v", im.State, im.Reason, want, im.Counts)
		}
	})
	return im
}

// importAIRTEL is importFile for a file of AIRTEL.
func (k *importEnv) importAIRTEL(f supply.ImportForm, content string) {
	k.t.Helper()
	k.importFrom("AIRTEL", f, content)
}

// cancel cancels an import that is held or stopped.
func (k *importEnv) cancel(im supply.Import) {
	k.t.Helper()
	im, err := k.Cancel(k.t.Context(), im.ID, console)
	if err != nil || im.State != supply.Cancelled || im.Finished.IsZero() {
		k.t.Fatalf("cancel: %s, %v", im.State, err)
	}
}

// wantCounts compares the counts of an import.
func (k *importEnv) wantCounts(im supply.Import, want supply.Counts) {
	k.t.Helper()
	if diff := cmp.Diff(want, im.Counts); diff != "" {
		k.t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// refused returns the report of rejected rows, one string for each.
func (k *importEnv) refused(im supply.Import) []string {
	k.t.Helper()
	var b bytes.Buffer
	if err := k.RefusedRows(k.t.Context(), im, &b); err != nil {
		k.t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) == 0 || strings.Join(rows[0], ",") != "line,column,reason" {
		k.t.Fatalf("the report is not CSV with a header: %v, %v", rows, err)
	}
	list := []string{}
	for _, r := range rows[1:] {
		list = append(list, strings.Join(r, " "))
	}
	return list
}

// wantRefused compares the report of rejected rows of an import.
func (k *importEnv) wantRefused(im supply.Import, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.refused(im)); diff != "" {
		k.t.Errorf("rejected rows (-want +got):\n%s", diff)
	}
}

// lagos is the time zone of the policy.
var lagos = time.FixedZone("WAT", 3600)

// written returns an instant as the tests write it: the date for the last second of a
// day, which is how a bare date is stored.
func written(i line.Instant) string {
	switch t := i.Time().In(lagos); t.Format(time.TimeOnly) {
	case "23:59:59":
		return t.Format(time.DateOnly)
	case "00:00:00":
		return "the start of " + t.Format(time.DateOnly)
	}
	return i.Time().Format(time.RFC3339)
}

// events returns the stored events of a number, in the order in which they were
// reported: the kind, the time, the code, why it is held, for an inferred end the
// time after which it was, and for a restatement what it says.
func (k *importEnv) events(number string) []string {
	k.t.Helper()
	list := []string{}
	for _, e := range k.history(number).Events {
		words := []string{e.Kind.String(), written(e.Effective)}
		if e.Code != 0 {
			words = append(words, e.Code.String())
		}
		if e.EndedAfter != line.Never {
			words = append(words, "after", written(e.EndedAfter))
		}
		if e.Until != line.Never {
			words = append(words, "until", written(e.Until))
		}
		if e.Hold != 0 {
			words = append(words, "held", e.Hold.String())
		}
		if e.Outside {
			words = append(words, "outside")
		}
		if e.Kind == line.Restate {
			words = append(words, baseWords(e.Base))
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// baseWords returns a baseline as a row of a file has it.
func baseWords(b *line.Baseline) string {
	tenure, sim, since := "UNKNOWN", "NEVER", ""
	if b.Tenure != line.Never {
		tenure = written(b.Tenure)
	}
	switch {
	case b.SIM != line.Never:
		sim = written(b.SIM)
	case b.Bits&line.SIMUnknown != 0:
		sim = "UNKNOWN"
	}
	if b.StateSince != line.Never {
		since = written(b.StateSince)
	}
	return "(" + strings.Join([]string{tenure, sim, b.State.String(), since}, ",") + ")"
}

func (k *importEnv) history(number string) *line.History {
	k.t.Helper()
	n := k.parse(number)
	h, err := linestore.Histories(k.t.Context(), k.Pool, []phone.Number{n}, map[phone.Number]line.Row{n: k.row(number)})
	if err != nil {
		k.t.Fatal(err)
	}
	return h[n]
}

// wantEvents compares the stored events of a number.
func (k *importEnv) wantEvents(number string, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.events(number)); diff != "" {
		k.t.Errorf("events of %s (-want +got):\n%s", number, diff)
	}
}

// setPolicy changes the policy, from a time before all events on.
func (k *importEnv) setPolicy(change func(p *policy.Policy)) {
	k.t.Helper()
	policies := &policy.Service{Pool: k.Pool, Now: func() time.Time { return time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC) }}
	p := policy.Defaults()
	p.Note = "for a test"
	change(&p)
	if _, err := policies.Set(k.t.Context(), p); err != nil {
		k.t.Fatal(err)
	}
}

// raiseHoldLimit lets a snapshot change almost half of the lines before it is held.
func (k *importEnv) raiseHoldLimit() {
	k.t.Helper()
	k.setPolicy(func(p *policy.Policy) { p.HoldPercent = 49 })
}

// coverage returns the coverage of MTN.
func (k *importEnv) coverage() line.Coverage {
	k.t.Helper()
	n, _ := k.plan.Network("MTN")
	lookup, err := k.Lines.Lookup(k.t.Context(), k.Pool, k.parse(number(0)), k.clock)
	if err != nil {
		k.t.Fatal(err)
	}
	return lookup.Coverage(n)
}

// withClock returns the service with a clock that calls fn whenever it is read.
func (k *importEnv) withClock(fn func()) *supply.Service {
	d := *k.Service
	d.Now = func() time.Time { fn(); return k.clock }
	return &d
}

// stopAfter runs an import until the clock has been read reads times, and reports
// whether the run was stopped before it ended.
func (k *importEnv) stopAfter(im supply.Import, src supply.Source, reads int) (supply.Import, bool) {
	k.t.Helper()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	d := k.withClock(func() {
		if reads--; reads == 0 {
			stop()
		}
	})
	got, err := d.Run(ctx, im.ID, src, nil)
	if err != nil && ctx.Err() == nil {
		k.t.Fatal(err)
	}
	return got, err != nil
}

// item returns an event from "TYPE date REASON".
func (k *importEnv) item(number, words string) supply.Item {
	k.eventCount++
	i := supply.Item{ID: fmt.Sprint("w", k.eventCount), PhoneNumber: number}
	for n, word := range strings.Fields(words) {
		switch n {
		case 0:
			i.Type = word
		case 1:
			i.EffectiveAt = word
		case 2:
			i.Reason = word
		}
	}
	return i
}

// compareRuns imports a snapshot of a network as a dry run and then for real. Both must
// count and refuse the same.
func (k *importEnv) compareRuns(network string, at time.Time, content string) supply.Import {
	k.t.Helper()
	dry := k.importFrom(network, supply.ImportForm{Kind: linefile.Snapshot, AsOf: at, DryRun: true}, content)
	im := k.importFrom(network, asOf(at), content)
	if diff := cmp.Diff(im.Counts, dry.Counts); diff != "" {
		k.t.Errorf("the dry run counts something else (-applied +dry run):\n%s", diff)
	}
	if diff := cmp.Diff(k.refused(im), k.refused(dry)); diff != "" {
		k.t.Errorf("the dry run refuses something else (-applied +dry run):\n%s", diff)
	}
	return im
}

// decide lets the regulator confirm or void the newest event of a kind about a number.
func (k *importEnv) decide(number, action string, kind line.Kind) {
	k.t.Helper()
	form := order.Form{PhoneNumber: number, Action: action, Event: k.seq(number, kind), Note: "for a test"}
	if _, err := giveOrder(k.t.Context(), k.Service, newSupplier(line.Regulator, ""), form); err != nil {
		k.t.Fatal(err)
	}
}

// open returns the open events of a number, as staff see them.
func (k *importEnv) open(number string) []string {
	k.t.Helper()
	all, err := k.OpenEvents(k.t.Context(), supply.OpenQuery{Limit: 1000})
	if err != nil {
		k.t.Fatal(err)
	}
	list := []string{}
	for _, o := range all {
		if o.Number == k.parse(number) {
			list = append(list, strings.Join([]string{o.Type, o.Outcome, o.Reason, o.Network}, " "))
		}
	}
	return list
}

// wantOpen compares the open events of a number.
func (k *importEnv) wantOpen(number string, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.open(number)); diff != "" {
		k.t.Errorf("open events of %s (-want +got):\n%s", number, diff)
	}
}

// wantDoubt checks since when a line is in doubt; the zero time means that it is not.
func (k *importEnv) wantDoubt(number string, since time.Time) {
	k.t.Helper()
	want := line.Never
	if !since.IsZero() {
		want = line.InstantOf(since)
	}
	if got := k.row(number).DoubtAt; got != want {
		k.t.Errorf("%s is in doubt since %s, want %s", number, got.Time(), want.Time())
	}
}
