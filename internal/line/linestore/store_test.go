package linestore_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// home and other are the networks of these tests.
const home, other numbering.Network = 1, 2

// number returns the i-th number of these tests.
func number(i int) phone.Number {
	n, _ := phone.FromInt(2348030000000 + int64(i))
	return n
}

// inTx runs fn in a transaction and fails the test when that fails.
func inTx(t *testing.T, pool *pgxpool.Pool, fn func(tx pg.Tx) error) {
	t.Helper()
	if err := pg.InTx(t.Context(), pool, fn); err != nil {
		t.Fatal(err)
	}
}

// expectRows fails the test unless the table has exactly these rows for their numbers,
// by every way to read them.
func expectRows(t *testing.T, pool *pgxpool.Pool, want map[phone.Number]line.Row) {
	t.Helper()
	var numbers []phone.Number
	for n := range want {
		numbers = append(numbers, n)
	}
	got, err := linestore.Rows(t.Context(), pool, numbers)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(phone.Number{})); err != nil || diff != "" {
		t.Fatalf("the rows (-saved +read), %v:\n%s", err, diff)
	}
	var r linestore.Resolver
	found, err := r.LookupAll(t.Context(), pool, numbers, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	records, err := linestore.RowsAfter(t.Context(), pool, number(-1), len(want)+1)
	if err != nil || len(records) != len(want) {
		t.Fatalf("%d rows, and not %d: %v", len(records), len(want), err)
	}
	for _, record := range records {
		if found.Get(record.Number).Row != want[record.Number] || record.Row != want[record.Number] {
			t.Fatalf("%s: looked up %+v, read %+v, want %+v", record.Number, found.Get(record.Number).Row, record.Row, want[record.Number])
		}
	}
}

// SaveRows writes every column, in new rows and in changed ones, and each way to read a
// row reads every column. A field without a column fails here.
func TestSavedRowsAreReadWithEveryColumn(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	rows := append(randomRows(400), line.NoRow(), filledRow(1), filledRow(2))
	save := func(shift int) map[phone.Number]line.Row {
		saved, changed := map[phone.Number]line.Row{}, make([]linestore.ChangedRow, len(rows))
		for i := range rows {
			row := rows[(i+shift)%len(rows)]
			row.Version = int32(100 + shift)
			changed[i] = linestore.ChangedRow{Record: linestore.Record{Number: number(i), Row: row}}
			if saved[number(i)] = row; shift > 0 {
				changed[i].From = 100
			}
		}
		inTx(t, pool, func(tx pg.Tx) error { return linestore.SaveRows(t.Context(), tx, changed) })
		return saved
	}
	expectRows(t, pool, save(0)) // inserted
	expectRows(t, pool, save(1)) // updated, each with the next row
}

// A row that another transaction has changed, or inserted, is not overwritten.
func TestSaveRowsReportsConcurrentUpdates(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	save := func(from, version int32) error {
		row := filledRow(1)
		row.Version = version
		return pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
			return linestore.SaveRows(t.Context(), tx, []linestore.ChangedRow{{Record: linestore.Record{Number: number(1), Row: row}, From: from}})
		})
	}
	if err := save(0, 5); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int32{0, 4, 6} {
		if err := save(from, 7); !errors.Is(err, linestore.ErrConcurrentUpdate) {
			t.Errorf("from version %d: %v", from, err)
		}
	}
	if err := save(5, 7); err != nil {
		t.Errorf("from version 5: %v", err)
	}
}

// InsertBaselines leaves out the columns that a baseline never sets, and nothing else.
func TestInsertedBaselinesAreReadWithEveryColumn(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	want := map[phone.Number]line.Row{}
	var records []linestore.Record
	states := []line.State{line.StateActive, line.StateInactive, line.StateParked, line.StateNoticed, line.StateEnded, line.StateBarred}
	for i := range 2 * 2 * 3 * len(states) * 8 {
		b := line.Baseline{Import: 7, Network: home, Tenure: 10, SIM: 20, State: states[i/12%len(states)], StateSince: 15, Until: line.Never}
		if i%2 == 1 {
			b.Tenure = line.Never
		}
		if i/2%2 == 1 {
			b.StateSince = 25
		}
		b.SIM = []line.Instant{line.Never, 10, 20}[i/4%3]
		if b.State == line.StateNoticed {
			b.Until = 500
		}
		bits := line.Bits(i / 72)
		for bit, to := range []line.Bits{line.SIMUnknown, line.TenureDay | line.SIMDay, line.EndDay} {
			if bits&(1<<bit) != 0 {
				b.Bits |= to
			}
		}
		row := line.FromBaseline(&b)
		want[number(i)], records = row, append(records, linestore.Record{Number: number(i), Row: row})
	}
	inTx(t, pool, func(tx pg.Tx) error { return linestore.InsertBaselines(t.Context(), tx, records) })
	expectRows(t, pool, want)
}

// Events are read as they were written, with every field, and so are the baselines that
// they carry.
func TestStoredEventsAreReadWithEveryColumn(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	base := filled[line.Baseline](20)
	full := filled[line.Event](40)
	full.ReportedAt, full.Base = time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC), &base
	full.Kind, full.Authority, full.Code, full.Hold = line.ChangeSIM, line.Operator, line.ReasonDebt, line.HoldMass
	restated := full
	other := filled[line.Baseline](60)
	base.State, other.State = line.StateParked, line.StateEnded
	restated.Seq, restated.ID, restated.Kind, restated.Base, restated.Import = full.Seq+1, "another", line.Restate, &other, other.Import
	bare := line.Event{
		Seq: full.Seq + 2, ID: "bare", Kind: line.Use, Effective: 5, ReportedAt: line.Instant(5).Time(), Authority: line.Operator, Network: home,
		Until: line.Never, EndedAfter: line.Never,
	}
	events := []line.Event{full, restated, bare}
	inTx(t, pool, func(tx pg.Tx) error {
		var rows []linestore.EventRow
		for _, e := range events {
			rows = append(rows, linestore.EventRow{Number: number(1), Event: e})
		}
		return linestore.AppendEvents(t.Context(), tx, rows)
	})
	h, err := linestore.Histories(t.Context(), pool, []phone.Number{number(1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&line.History{Base: &base, Events: events}, h[number(1)]); diff != "" {
		t.Errorf("the history (-written +read):\n%s", diff)
	}
}

// filled returns a value in every field of which there is something, other than in
// every other field.
func filled[T any](from int64) (all T) {
	v := reflect.ValueOf(&all).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.CanInt():
			f.SetInt(from + int64(i))
		case f.CanUint():
			f.SetUint(1)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Kind() == reflect.String:
			f.SetString(v.Type().Field(i).Name)
		}
	}
	return all
}

// What was covered at a past time can be read again. Coverage never shrinks, and the
// look-up sees the newest.
func TestCoverageIsKeptByTopicWithItsHistory(t *testing.T) {
	t.Parallel()

	pool := pgtest.New(t)
	at := func(days int) time.Time { return time.Date(2026, 6, days, 0, 0, 0, 0, time.UTC) }
	extend := func(now time.Time, extensions ...linestore.Extension) {
		inTx(t, pool, func(tx pg.Tx) error { return linestore.ExtendCoverage(t.Context(), tx, now, extensions...) })
	}
	extend(at(2), linestore.Extension{Network: home, Topic: line.TopicLifecycle, CompleteSince: at(1), Through: at(1)})
	extend(at(4), linestore.Extension{Network: home, Topic: line.TopicLifecycle, Through: at(3)}, linestore.Extension{Network: home, Topic: line.TopicSIM, Through: at(4)})
	extend(at(6), linestore.Extension{Network: line.Nation, Topic: line.TopicPort, Through: at(6)}, linestore.Extension{Network: home, Topic: line.TopicLifecycle, Through: at(2)})
	inTx(t, pool, func(tx pg.Tx) error { return linestore.MarkDoubtful(t.Context(), tx, home, line.TopicSIM, true, at(8)) })

	lifecycle := line.Span{KnownSince: at(1), CompleteSince: at(1), Through: at(3)}
	sim, ports := line.Span{KnownSince: at(4), Through: at(4)}, line.Span{KnownSince: at(6), Through: at(6)}
	doubtful := sim
	doubtful.Doubtful = true
	first := line.Coverage{Lifecycle: line.Span{KnownSince: at(1), CompleteSince: at(1), Through: at(1)}}
	for _, test := range []struct {
		at   time.Time
		of   numbering.Network
		want line.Coverage
	}{
		{at(1), home, line.Coverage{}},
		{at(2), home, first},
		{at(3), home, first},
		{at(4), home, line.Coverage{Lifecycle: lifecycle, SIM: sim}},
		{at(6), home, line.Coverage{Lifecycle: lifecycle, SIM: sim, Ports: ports}},
		{at(8), home, line.Coverage{Lifecycle: lifecycle, SIM: doubtful, Ports: ports}},
		{at(8), other, line.Coverage{Ports: ports}},
	} {
		covered, err := linestore.CoverageAt(t.Context(), pool, test.at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, covered(test.of)); diff != "" {
			t.Errorf("on %s (-want +got):\n%s", test.at, diff)
		}
	}
	var r linestore.Resolver
	found, err := r.Lookup(t.Context(), pool, number(1), at(9))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(line.Coverage{Lifecycle: lifecycle, SIM: doubtful, Ports: ports}, found.Coverage(home)); diff != "" {
		t.Errorf("looked up (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		from, to time.Time
		want     [3][]line.Span
	}{
		{at(1), at(1), [3][]line.Span{{{}}, {{}}, {{}}}},
		{at(1), at(4), [3][]line.Span{{first.Lifecycle, lifecycle, {}}, {sim, {}}, {{}}}},
		{at(3), at(5), [3][]line.Span{{first.Lifecycle, lifecycle}, {sim, {}}, {{}}}},
		{at(5), at(5), [3][]line.Span{{lifecycle}, {sim}, {{}}}},
		{at(7), at(9), [3][]line.Span{{lifecycle}, {sim, doubtful}, {ports}}},
	} {
		got, err := linestore.CoverageDuring(t.Context(), pool, home, test.from, test.to)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("from %s to %s: %v\n%s", test.from, test.to, err, diff)
		}
	}
}
