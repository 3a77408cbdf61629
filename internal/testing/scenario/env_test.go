package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// operators are the networks that supply in the standard environment.
var operators = []*party{mtn, airtel, glo}

// otherLines is how many other lines each of them has, so that one line is less than
// the share above which a file is held.
const otherLines = 40

// env is a service with a database, Nigeria's numbering plan, and a clock that each
// message sets. Between two scenarios it returns to what was saved.
type env struct {
	*supply.Service

	ctx    context.Context
	admin  *pgxpool.Pool
	region *phone.Region
	plan   []numbering.Row
	clock  time.Time

	row        *row
	ids        map[string]string // by the names of messages
	count      int               // of messages
	lastImport supply.Import
	lastFile   string
	failures   []string
}

// errStop ends a scenario that cannot go on.
var errStop = errors.New("the scenario cannot go on")

// failf notes something that differs from what the scenario says.
func (e *env) failf(format string, args ...any) {
	e.failures = append(e.failures, fmt.Sprintf(format, args...))
}

// must ends the scenario if the service fails in a way that no scenario expects.
func (e *env) must(err error) {
	if err != nil {
		e.failf("%v", err)
		panic(errStop)
	}
}

// newEnv creates the environment in which nobody has supplied anything.
func newEnv(t *testing.T) *env {
	t.Helper()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	pool := pgtest.NewAnyTime(t)
	e := &env{ctx: t.Context(), region: region, admin: pgtest.Open(t, pool.Config().ConnString(), ""), row: &row{number: theLine}}
	e.Service = &supply.Service{Pool: pool, Region: region, Lines: &linestore.Resolver{}, Now: func() time.Time { return e.clock }}
	e.plan, _, _ = numbering.Shipped("NG")
	if _, err := e.numbering().Set(e.ctx, e.plan, "for the scenarios", time.Time{}); err != nil {
		t.Fatal(err)
	}
	e.setClock(d(-200))
	return e
}

// supplied adds the standard environment: each operator has sent a snapshot.
func (e *env) supplied() {
	for _, by := range operators {
		f := snapshot(by, d(-200))
		if by == mtn {
			f = snapshot(by, d(-200), had(year(2018), "NEVER", "ACTIVE"))
		}
		f.run(e)
	}
}

func (e *env) numbering() *numbering.Service {
	return &numbering.Service{Pool: e.Pool, Now: func() time.Time { return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) }}
}

func (e *env) setClock(w when) { e.clock = w.at.UTC() }

// savedTables are those that scenarios change and that the standard environment has
// rows in; clearedTables are empty in it.
var (
	savedTables   = []string{"line_now", "supply_coverage", "supply_coverage_history", "network_lines", "supply_import", "supply_day"}
	clearedTables = []string{"line_event", "line_open", "supply_refused", "line_order"}
)

// save keeps the present content of the tables.
func (e *env) save() error {
	var sql strings.Builder
	sql.WriteString("CREATE SCHEMA saved;")
	for _, table := range savedTables {
		fmt.Fprintf(&sql, "CREATE TABLE saved.%s AS TABLE %[1]s;", table)
	}
	_, err := e.admin.Exec(e.ctx, sql.String())
	return err
}

// restore returns to what was saved, and prepares the environment for a scenario.
func (e *env) restore(r *row) {
	var sql strings.Builder
	for _, table := range clearedTables {
		fmt.Fprintf(&sql, "DELETE FROM %s;", table)
	}
	for _, table := range savedTables {
		fmt.Fprintf(&sql, "DELETE FROM %s; INSERT INTO %[1]s OVERRIDING SYSTEM VALUE TABLE saved.%[1]s;", table)
	}
	for _, table := range []string{"policy", "numbering_range", "numbering_network", "numbering_plan"} {
		fmt.Fprintf(&sql, "DELETE FROM %s WHERE version > 1;", table)
	}
	e.row, e.ids, e.failures = r, map[string]string{}, nil
	_, err := e.admin.Exec(e.ctx, sql.String())
	e.must(err)
	e.Lines = &linestore.Resolver{} // it caches versions by their number
	e.setClock(d(-1000))
	if len(r.policy) > 0 {
		p := policy.Defaults()
		p.Note = "for a scenario"
		for _, change := range r.policy {
			change(&p)
		}
		p.Version = 0
		_, err := (&policy.Service{Pool: e.Pool, Now: func() time.Time { return e.clock }}).Set(e.ctx, p)
		e.must(err)
	}
	if len(r.ranges) > 0 {
		e.changePlan(r.ranges)
	}
}

// changePlan stores a plan with other ranges.
func (e *env) changePlan(changes []planChange) {
	rows := slices.Clone(e.plan)
	for _, c := range changes {
		i := slices.IndexFunc(rows, func(r numbering.Row) bool { return r.Prefix == c.prefix })
		switch {
		case i >= 0:
			rows[i].Withdrawn = c.withdrawn.at.Truncate(24 * time.Hour)
		default:
			j := slices.IndexFunc(rows, func(r numbering.Row) bool { return r.Network == c.network })
			rows = append(rows, numbering.Row{
				Prefix: c.prefix, Network: c.network, Name: rows[j].Name, Allocated: c.allocated.at.Truncate(24 * time.Hour),
			})
		}
	}
	later := *e.numbering()
	later.Now = func() time.Time { return d(-900).at }
	_, err := later.Set(e.ctx, rows, "for a scenario", time.Time{})
	e.must(err)
}

func (e *env) number(written string) phone.Number {
	n, err := e.region.ParseMobile(written)
	e.must(err)
	return n
}

// otherNumber returns one of the other lines of a network.
func otherNumber(network string, i int) string {
	if network == "MTN" && i == 0 {
		return another
	}
	prefix := map[string]string{"MTN": "803", "AIRTEL": "802", "GLO": "805"}[network]
	return fmt.Sprintf("+234%s0001%03d", prefix, i)
}

// entry is the row of the number in a snapshot.
type entry struct {
	tenure, sim any // a when or a word
	state       string
	since       any
	churn       when
}

// had is the row of the number in a snapshot: since when the holder has it, when the
// SIM changed, and the state.
func had(tenure, sim any, state string) entry { return entry{tenure: tenure, sim: sim, state: state} }

// from says since when the line has its state.
func (n entry) from(at when) entry {
	n.since = at
	return n
}

func (n entry) churning(at when) entry {
	n.churn = at
	return n
}

func cell(of any) string {
	switch v := of.(type) {
	case when:
		return v.written()
	case string:
		return v
	}
	return ""
}

// file is a snapshot of a network. All of its other lines are in it, unchanged.
type file struct {
	by       *party
	asOf     when
	reported when
	entry    *entry // nil if the number is missing from the file
	restated int    // how many of the other lines have another start of their tenure
	missing  int    // how many of the other lines are missing
	refused  string // why the row of the number is refused; empty if it is not
	want     string
}

// snapshot is a file of a network with its lines as of a time. Without an entry, the
// number is missing from it.
func snapshot(by *party, asOf when, row ...entry) file {
	f := file{by: by, asOf: asOf, reported: asOf, want: supply.Finished}
	if len(row) > 0 {
		f.entry = &row[0]
	}
	return f
}

func (f file) sent(at when) file {
	f.reported = at
	return f
}

func (f file) restating(lines int) file {
	f.restated = lines
	return f
}

func (f file) rejecting(reason string) file {
	f.refused = reason
	return f
}

func (f file) lacking(lines int) file {
	f.missing = lines
	return f
}

func (f file) is(state string) file {
	f.want = state
	return f
}

func (f file) addTo(r *row) { r.steps = append(r.steps, f) }

// content returns the file.
func (f file) content(number string) string {
	var b strings.Builder
	b.WriteString("number,tenureStart,simChangedAt,state,stateSince,churnAt\n")
	if n := f.entry; n != nil {
		churn := ""
		if n.churn != (when{}) {
			churn = n.churn.written()
		}
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s\n", number, cell(n.tenure), cell(n.sim), n.state, cell(n.since), churn)
	}
	for i := range otherLines - f.missing {
		tenure := "2018-01-01"
		if i < f.restated {
			tenure = "2016-01-01"
		}
		fmt.Fprintf(&b, "%s,%s,NEVER,ACTIVE,,\n", otherNumber(f.by.name, i), tenure)
	}
	return b.String()
}

func (f file) run(e *env) {
	e.setClock(f.reported)
	im, err := e.Begin(e.ctx, f.by.Supplier, supply.ImportForm{Kind: linefile.Snapshot, AsOf: f.asOf.at}, "api")
	if err != nil {
		e.lastImport = supply.Import{}
		if f.want != supply.Rejected {
			e.failf("%s: %v", f.told(), err)
		}
		return
	}
	e.lastFile = f.content(e.row.number)
	e.runImport(im.ID, f.want, f.refused)
}

func (e *env) runImport(id uuid.UUID, want, rejected string) {
	content := e.lastFile
	im, err := e.Run(e.ctx, id, supply.Source{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}, nil)
	e.must(err)
	e.lastImport = im
	if im.State != want {
		e.failf("the file is %s (%s), want %s", im.State, im.Reason, want)
	}
	if im.State != supply.Finished {
		return
	}
	refused, err := filerows.FindRejected(e.ctx, e.Pool, filerows.Filter{Import: im.Key(), Limit: 3})
	e.must(err)
	switch {
	case rejected == "" && im.Counts.Refused > im.Counts.PortedOut:
		e.failf("rows of the file were rejected: %v", refused)
	case rejected != "" && (len(refused) != 1 || refused[0].Reason != rejected):
		e.failf("rows of the file were rejected: %v, want one for %s", refused, rejected)
	}
}

func (f file) told() string {
	text := fmt.Sprintf("%s: %s sends a snapshot", f.reported, f.by.name)
	if f.asOf != f.reported {
		text += " as of " + f.asOf.String()
	}
	if f.entry == nil {
		text += " without the number"
	} else {
		text += f.entry.String()
	}
	if f.restated > 0 {
		text += fmt.Sprintf(", and with another start of the tenure for %d of its %d other lines", f.restated, otherLines)
	}
	if f.missing > 0 {
		text += fmt.Sprintf(", and without %d of its %d other lines", f.missing, otherLines)
	}
	if f.want != supply.Finished {
		text += " → file " + f.want
	}
	if f.refused != "" {
		text += " → row refused (`" + f.refused + "`)"
	}
	return text
}

// String writes the row for the page.
func (n entry) String() string {
	text := fmt.Sprintf(" with the number: holder since %s, SIM changed %s, `%s`", cellWords(n.tenure), cellWords(n.sim), n.state)
	if n.since != nil {
		text += " since " + cellWords(n.since)
	}
	if n.churn != (when{}) {
		text += " for " + n.churn.String()
	}
	return text
}

func cellWords(of any) string {
	if w, ok := of.(when); ok {
		return w.String()
	}
	if cell(of) == "" {
		return "(empty)"
	}
	return "`" + cell(of) + "`"
}
