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
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/supply"
)

const (
	snapshotHeader = "number,tenureStart,simChangedAt,state,stateSince\n"
	eventsHeader   = "id,number,type,effectiveAt,network,level,reason,churnAt,voids,note\n"
)

// console is the regulator's staff at the command line.
var console = audit.Actor{Kind: audit.Operator}

// intake is a stage for whole files, with a door through which a test can look
// at everything and begin anew.
type intake struct {
	*stage

	admin *pgxpool.Pool
	chunk int // rows of one transaction; 0 leaves it to the desk
}

func newIntake(t *testing.T) *intake {
	t.Helper()
	s := newStage(t)
	return &intake{stage: s, admin: pgtest.Open(t, s.Pool.Config().ConnString(), "")}
}

// at returns the time so many days before the present one.
func (k *intake) at(days int) time.Time { return k.clock.AddDate(0, 0, -days) }

// of makes a snapshot of rows, each written as in the file.
func of(rows ...string) string { return snapshotHeader + strings.Join(rows, "\n") + "\n" }

// told makes a file of events.
func told(rows ...string) string { return eventsHeader + strings.Join(rows, "\n") + "\n" }

// active is a row of a line in use since a date.
func active(i int, since string) string { return number(i) + "," + since + ",,ACTIVE," }

// actives are the rows of so many lines in use, beginning with the number of an
// index.
func actives(from, count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = active(from+i, "2024-02-03")
	}
	return rows
}

// source is a file with this content.
func (k *intake) source(content string) supply.Source {
	return supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}.InChunks(k.chunk)
}

// begin begins an import of MTN's, which must be possible.
func (k *intake) begin(f supply.ImportForm) supply.Import {
	k.t.Helper()
	im, err := k.Begin(k.t.Context(), operator("MTN"), f, "cli")
	if err != nil {
		k.t.Fatal(err)
	}
	return im
}

// run goes on with an import, which must end in a state.
func (k *intake) run(im supply.Import, content, want string) supply.Import {
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

// take begins an import and runs it until it is applied. Staff confirms it if
// it is held.
func (k *intake) take(f supply.ImportForm, content string) supply.Import {
	k.t.Helper()
	im, err := k.Run(k.t.Context(), k.begin(f).ID, k.source(content), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if im.State == supply.Held {
		if im, err = k.Confirm(k.t.Context(), im.ID, console); err != nil {
			k.t.Fatal(err)
		}
	}
	return k.run(im, content, supply.Finished)
}

// cancel ends an import that is held or stopped.
func (k *intake) cancel(im supply.Import) {
	k.t.Helper()
	im, err := k.Cancel(k.t.Context(), im.ID, console)
	if err != nil || im.State != supply.Cancelled || im.Finished.IsZero() {
		k.t.Fatalf("cancel: %s, %v", im.State, err)
	}
}

// counts compares what became of the rows.
func (k *intake) counts(im supply.Import, want supply.Counts) {
	k.t.Helper()
	if diff := cmp.Diff(want, im.Counts); diff != "" {
		k.t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// refused returns the report of refused rows, one string for each.
func (k *intake) refused(im supply.Import) []string {
	k.t.Helper()
	var b bytes.Buffer
	if err := k.RefusedRows(k.t.Context(), im, &b); err != nil {
		k.t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) == 0 || strings.Join(rows[0], ",") != "line,column,reason" {
		k.t.Fatalf("the report is no CSV with its header: %v, %v", rows, err)
	}
	list := []string{}
	for _, r := range rows[1:] {
		list = append(list, strings.Join(r, " "))
	}
	return list
}

// refuses compares the report of refused rows.
func (k *intake) refuses(im supply.Import, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.refused(im)); diff != "" {
		k.t.Errorf("refused rows (-want +got):\n%s", diff)
	}
}

// events returns what was told about a number, in the order of telling: the
// kind, the time, the code, and for an inferred end the time before which it
// was still there.
func (k *intake) events(written string) []string {
	k.t.Helper()
	list := []string{}
	for _, e := range k.history(written).Events {
		words := e.Kind.String() + " " + e.Effective.Time().Format(time.RFC3339)
		if e.Code != 0 {
			words += " " + e.Code.String()
		}
		if e.After != line.Never {
			words += " after " + e.After.Time().Format(time.RFC3339)
		}
		list = append(list, words)
	}
	return list
}

func (k *intake) history(written string) *line.History {
	k.t.Helper()
	n := k.parse(written)
	h, err := line.Histories(k.t.Context(), k.Pool, []phone.Number{n}, map[phone.Number]line.Row{n: k.row(written)})
	if err != nil {
		k.t.Fatal(err)
	}
	return h[n]
}

// tells compares what was told about a number.
func (k *intake) tells(written string, want ...string) {
	k.t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), k.events(written)); diff != "" {
		k.t.Errorf("events of %s (-want +got):\n%s", written, diff)
	}
}

// tables are everything that supplies change. What differs from run to run is
// left out: the order of telling shows within each number.
var tables = map[string]string{
	"line_now": `SELECT * FROM line_now ORDER BY number`,
	"line_event": `SELECT number, row_number() OVER (PARTITION BY number ORDER BY seq) AS n, effective, supplier, import, kind, authority, network, peer,
		code, base_network, base_state, until, after, base_import, base_tenure, base_sim, base_since, voids IS NULL, event_id, note
		FROM line_event ORDER BY number, n`,
	"supply_coverage": `SELECT network, known_since, complete_since, supplied_through, lines FROM supply_coverage ORDER BY network`,
	"supply_day":      `SELECT * FROM supply_day ORDER BY network, day, kind`,
}

// accounts are what is kept about imports.
var accounts = map[string]string{
	"supply_import": `SELECT id, network, supplier, kind, as_of, state, phase, reason, rows, file_digest, added, changed, unchanged, ended, duplicates,
		no_effect, ported_out, refused FROM supply_import ORDER BY id`,
	"supply_refused": `SELECT * FROM supply_refused ORDER BY import, place, field`,
}

// dump returns everything that supplies have changed so far.
func (k *intake) dump(of map[string]string) map[string][]string {
	k.t.Helper()
	all := map[string][]string{}
	for name, statement := range of {
		rows, err := k.admin.Query(k.t.Context(), statement)
		if err != nil {
			k.t.Fatal(err)
		}
		all[name], err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return fmt.Sprint(values...), err
		})
		if err != nil {
			k.t.Fatal(err)
		}
	}
	return all
}

// unchanged runs fn, which must change nothing of what is known.
func (k *intake) unchanged(what string, fn func()) {
	k.t.Helper()
	before := k.dump(tables)
	fn()
	if diff := cmp.Diff(before, k.dump(tables)); diff != "" {
		k.t.Errorf("%s changed something (-before +after):\n%s", what, diff)
	}
}

// sound replays every line, and counts the lines of every network.
func (k *intake) sound() {
	k.t.Helper()
	if wrong := k.unsound(); wrong != "" {
		k.t.Error(wrong)
	}
}

// unsound says what a replay of every line and a count of all lines find wrong.
func (k *intake) unsound() string {
	k.t.Helper()
	audit, err := line.Replay(k.t.Context(), k.Pool, func(line.Audit) {})
	if err != nil || !audit.OK() {
		return fmt.Sprintf("the replay finds %+v, %v", audit, err)
	}
	wrong := k.count(`SELECT count(*) FROM (SELECT network, count(*) AS lines FROM line_now WHERE state BETWEEN 1 AND 4 GROUP BY network) l
		FULL JOIN (SELECT network, lines FROM supply_coverage WHERE lines <> 0) c USING (network) WHERE l.lines IS DISTINCT FROM c.lines`)
	if wrong > 0 {
		return fmt.Sprintf("of %d networks the lines are not counted right", wrong)
	}
	return ""
}

// reset forgets everything that was supplied.
func (k *intake) reset() {
	k.t.Helper()
	// There is little in the tables: to empty them is quicker than to make them anew.
	_, err := k.admin.Exec(k.t.Context(), `DELETE FROM line_now; DELETE FROM line_event; DELETE FROM supplier; DELETE FROM supply_coverage; DELETE FROM supply_day;
		DELETE FROM supply_import; DELETE FROM supply_refused; ALTER TABLE supplier ALTER id RESTART; ALTER TABLE supply_import ALTER id RESTART`)
	if err != nil {
		k.t.Fatal(err)
	}
}

// lenient lets snapshots change up to half of the lines before they are held.
func (k *intake) lenient() {
	k.t.Helper()
	p := policy.Defaults()
	p.HoldPercent, p.Note = 49, "for a test"
	book := &policy.Book{Pool: k.Pool, Now: func() time.Time { return k.clock }}
	if _, err := book.Set(k.t.Context(), p); err != nil {
		k.t.Fatal(err)
	}
}

// coverage returns since when MTN's lines are known and complete, and through
// when.
func (k *intake) coverage() line.Coverage {
	k.t.Helper()
	n, _ := k.plan.Network("MTN")
	look, err := k.Lines.Look(k.t.Context(), k.Pool, k.parse(number(0)), k.clock)
	if err != nil {
		k.t.Fatal(err)
	}
	return look.Coverage(n)
}

// clocked returns the desk with a clock that calls fn whenever it is looked at.
func (k *intake) clocked(fn func()) *supply.Desk {
	d := *k.Desk
	d.Now = func() time.Time { fn(); return k.clock }
	return &d
}

// stoppedAt runs an import on until the clock was looked at so many times, and
// reports whether it was stopped before it was over.
func (k *intake) stoppedAt(im supply.Import, src supply.Source, looks int) (supply.Import, bool) {
	k.t.Helper()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	d := k.clocked(func() {
		if looks--; looks == 0 {
			stop()
		}
	})
	got, err := d.Run(ctx, im.ID, src, nil)
	if err != nil && ctx.Err() == nil {
		k.t.Fatal(err)
	}
	return got, err != nil
}

// written is an event as these tests write it: type, date, reason.
func (k *intake) written(number, words string) supply.Item {
	k.told++
	i := supply.Item{ID: fmt.Sprint("w", k.told), PhoneNumber: number}
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
