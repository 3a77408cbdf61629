package linefile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
)

// instantOf is the instant of a time in RFC 3339; an empty one is Never.
func instantOf(tb testing.TB, text string) line.Instant {
	tb.Helper()
	if text == "" {
		return line.Never
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		tb.Fatal(err)
	}
	return line.InstantOf(at)
}

// readRow reads a file with one row, which may be refused.
func readRow(tb testing.TB, o linefile.Options, header, row string) (linefile.Row, linefile.Refusal) {
	tb.Helper()
	got := readAll(tb, strings.NewReader(header+"\n"+row+"\n"), o, 10)
	if got.err != nil || len(got.rows)+len(got.refused) != 1 {
		tb.Fatalf("%s: %d rows, refused %v, %v", row, len(got.rows), got.refused, got.err)
	}
	if len(got.refused) == 1 {
		return linefile.Row{}, got.refused[0]
	}
	return got.rows[0], linefile.Refusal{}
}

// snapCase is a row of a snapshot, in Lagos as of 2026-10-31T09:30:00Z, without its
// number; and what is read, or the column and the reason of the refusal.
type snapCase struct {
	name, row                  string
	tenure, sim, since, churns string // in UTC; empty is Never
	bits                       line.Bits
	refused                    string
}

func (c *snapCase) check(t *testing.T) {
	t.Helper()
	o := options(t, linefile.Snapshot)
	o.Zone, o.AsOf = zone(t, "Africa/Lagos"), time.Date(2026, 10, 31, 9, 30, 0, 0, time.UTC)
	row, refusal := readRow(t, o, "number,state,tenureStart,simChangedAt,stateSince,churnAt", "+2348031000001,"+c.row)
	if got := strings.TrimSpace(refusal.Field + " " + refusal.Reason); got != c.refused {
		t.Errorf("%s: refused %q, want %q", c.name, got, c.refused)
	}
	if c.refused != "" {
		return
	}
	state, _, _ := strings.Cut(c.row, ",")
	want := line.Baseline{
		Tenure: instantOf(t, c.tenure), SIM: instantOf(t, c.sim), StateSince: instantOf(t, c.since), Until: instantOf(t, c.churns), Bits: c.bits,
	}
	want.State, _ = line.ParseState(state)
	if diff := cmp.Diff(want, row.Snap); diff != "" {
		t.Errorf("%s (-want +got):\n%s", c.name, diff)
	}
}

// A bare date is the last second of its day in the zone, and the row says so. The end
// of a tenure is at the first second of its day. A day that contains asOf is cut there.
func TestBareDatesOfASnapshot(t *testing.T) {
	t.Parallel()
	const known, day, last = "2019-03-04T08:00:00Z", "2019-03-04", "2019-03-04T22:59:59Z"
	for _, c := range []snapCase{
		{name: "times", row: "ACTIVE," + known + ",2020-01-01T00:00:00Z,2021-01-01T00:00:00Z,", tenure: known, sim: "2020-01-01T00:00:00Z", since: "2021-01-01T00:00:00Z"},
		{name: "tenure", row: "ACTIVE," + day + ",NEVER,,", tenure: last, since: last, bits: line.TenureDay},
		{name: "SIM", row: "ACTIVE," + known + ",2020-01-01,,", tenure: known, sim: "2020-01-01T22:59:59Z", since: known, bits: line.SIMDay},
		{name: "both", row: "ACTIVE," + day + ",2020-01-01,,", tenure: last, sim: "2020-01-01T22:59:59Z", since: last, bits: line.TenureDay | line.SIMDay},
		{name: "state", row: "PARKED," + known + ",NEVER,2020-01-01,", tenure: known, since: "2020-01-01T22:59:59Z"},
		{name: "bar", row: "BARRED," + known + ",NEVER,2020-01-01,", tenure: known, since: "2020-01-01T22:59:59Z"},
		{name: "state of a line in use", row: "ACTIVE," + known + ",NEVER,2020-01-01,", tenure: known, since: "2020-01-01T22:59:59Z"},
		{name: "end", row: "QUARANTINED," + known + ",NEVER,2020-01-01,", tenure: known, since: "2019-12-31T23:00:00Z", bits: line.EndDay},
		{name: "end at a time", row: "QUARANTINED," + known + ",NEVER,2020-01-01T00:00:00Z,", tenure: known, since: "2020-01-01T00:00:00Z"},

		{name: "tenure on the day of asOf", row: "ACTIVE,2026-10-31,NEVER,,", tenure: "2026-10-31T09:30:00Z", since: "2026-10-31T09:30:00Z", bits: line.TenureDay},
		{name: "SIM on the day of asOf", row: "ACTIVE," + known + ",2026-10-31,,", tenure: known, sim: "2026-10-31T09:30:00Z", since: known, bits: line.SIMDay},
		{name: "state on the day of asOf", row: "PARKED," + known + ",NEVER,2026-10-31,", tenure: known, since: "2026-10-31T09:30:00Z"},
		{name: "end on the day of asOf", row: "QUARANTINED," + known + ",NEVER,2026-10-31,", tenure: known, since: "2026-10-30T23:00:00Z", bits: line.EndDay},
		{name: "the day before asOf", row: "ACTIVE,2026-10-30,NEVER,,", tenure: "2026-10-30T22:59:59Z", since: "2026-10-30T22:59:59Z", bits: line.TenureDay},
		{name: "at asOf", row: "ACTIVE,2026-10-31T09:30:00Z,NEVER,,", tenure: "2026-10-31T09:30:00Z", since: "2026-10-31T09:30:00Z"},
		{name: "the second after asOf", row: "ACTIVE,2026-10-31T09:30:01Z,NEVER,,", refused: "tenureStart FUTURE"},
		{name: "the day after asOf", row: "ACTIVE,2026-11-01,NEVER,,", refused: "tenureStart FUTURE"},
		{name: "SIM on the day after asOf", row: "ACTIVE," + known + ",2026-11-01,,", refused: "simChangedAt FUTURE"},
		{name: "end on the day after asOf", row: "QUARANTINED," + known + ",NEVER,2026-11-01,", refused: "stateSince FUTURE"},
	} {
		c.check(t)
	}
}

// The start of a tenure, and the last change of the SIM, may be unknown; the SIM may
// never have changed. An empty cell means unknown.
func TestUnknownTimesOfASnapshot(t *testing.T) {
	t.Parallel()
	const known = "2019-03-04T08:00:00Z"
	for _, c := range []snapCase{
		{name: "tenure unknown", row: "ACTIVE,UNKNOWN,NEVER,,"},
		{name: "tenure empty", row: "ACTIVE,,NEVER,,"},
		{name: "tenure in quotes", row: `ACTIVE,"UNKNOWN",NEVER,,`},
		{name: "tenure unknown, with other times", row: "PARKED,UNKNOWN,1990-01-01T00:00:00Z,1990-01-01T00:00:00Z,", sim: "1990-01-01T00:00:00Z", since: "1990-01-01T00:00:00Z"},
		{name: "tenure unknown, state since", row: "ACTIVE,,NEVER," + known + ",", since: known},
		{name: "SIM unknown", row: "ACTIVE," + known + ",UNKNOWN,,", tenure: known, since: known, bits: line.SIMUnknown},
		{name: "SIM empty", row: "ACTIVE," + known + ",,,", tenure: known, since: known, bits: line.SIMUnknown},
		{name: "SIM never", row: "ACTIVE," + known + ",NEVER,,", tenure: known, since: known},
		{name: "nothing known", row: "ACTIVE,,,,", bits: line.SIMUnknown},
		{name: "state since unknown", row: "ACTIVE," + known + ",NEVER,UNKNOWN,", refused: "stateSince BAD_FORMAT"},
		{name: "state of an unknown tenure needs its time", row: "PARKED,UNKNOWN,NEVER,,", refused: "stateSince MISSING"},
		{name: "tenure never", row: "ACTIVE,NEVER,NEVER,,", refused: "tenureStart BAD_FORMAT"},
		{name: "tenure in small letters", row: "ACTIVE,unknown,NEVER,,", refused: "tenureStart BAD_FORMAT"},
		{name: "SIM in small letters", row: "ACTIVE,UNKNOWN,never,,", refused: "simChangedAt BAD_FORMAT"},
	} {
		c.check(t)
	}
	for header, row := range map[string]string{
		"number,state,stateSince":              "+2348031000001,ACTIVE,",
		"number,state,stateSince,tenureStart":  "+2348031000001,ACTIVE,,UNKNOWN",
		"number,state,stateSince,simChangedAt": "+2348031000001,ACTIVE,,UNKNOWN",
		"number,state,stateSince,churnAt":      "+2348031000001,ACTIVE,,",
	} {
		got, refusal := readRow(t, options(t, linefile.Snapshot), header, row)
		want := line.Baseline{Tenure: line.Never, SIM: line.Never, State: line.StateActive, StateSince: line.Never, Until: line.Never, Bits: line.SIMUnknown}
		if diff := cmp.Diff(want, got.Snap); diff != "" || refusal.Reason != "" {
			t.Errorf("%s: %v (-want +got):\n%s", header, refusal, diff)
		}
	}
}

// A SIM change, or a state, is before the tenure only if all of its day is before all
// of the tenure's first day: a date and a time on that date agree.
func TestTimesBeforeTheTenure(t *testing.T) {
	t.Parallel()
	const day, first, last = "2019-03-04", "2019-03-03T23:00:00Z", "2019-03-04T22:59:59Z"
	for _, c := range []snapCase{
		{name: "all dates the same", row: "QUARANTINED," + day + "," + day + "," + day + ",", tenure: last, sim: last, since: first, bits: line.TenureDay | line.SIMDay | line.EndDay},
		{name: "first second of that date", row: "PARKED," + day + "," + first + "," + first + ",", tenure: last, sim: first, since: first, bits: line.TenureDay},
		{
			name: "dates of a time", row: "QUARANTINED,2019-03-04T08:00:00Z," + day + "," + day + ",", tenure: "2019-03-04T08:00:00Z", sim: last, since: first,
			bits: line.SIMDay | line.EndDay,
		},
		{name: "SIM a second too early", row: "ACTIVE," + day + ",2019-03-03T22:59:59Z,,", refused: "simChangedAt BEFORE_TENURE"},
		{name: "SIM a day too early", row: "ACTIVE," + day + ",2019-03-03,,", refused: "simChangedAt BEFORE_TENURE"},
		{name: "SIM a second before a time", row: "ACTIVE,2019-03-04T08:00:00Z,2019-03-04T07:59:59Z,,", refused: "simChangedAt BEFORE_TENURE"},
		{name: "SIM on the day before a time", row: "ACTIVE,2019-03-04T08:00:00Z,2019-03-03,,", refused: "simChangedAt BEFORE_TENURE"},
		{name: "state a second too early", row: "ACTIVE," + day + ",NEVER,2019-03-03T22:59:59Z,", refused: "stateSince BEFORE_TENURE"},
		{name: "state a day too early", row: "PARKED," + day + ",NEVER,2019-03-03,", refused: "stateSince BEFORE_TENURE"},
		{name: "end on the day before a time", row: "QUARANTINED,2019-03-04T08:00:00Z,NEVER,2019-03-03,", refused: "stateSince BEFORE_TENURE"},
		{
			name: "on the day of asOf", row: "PARKED,2026-10-31,2026-10-30T23:00:00Z,2026-10-31T00:00:00Z,", tenure: "2026-10-31T09:30:00Z",
			sim: "2026-10-30T23:00:00Z", since: "2026-10-31T00:00:00Z", bits: line.TenureDay,
		},
		{name: "before the day of asOf", row: "PARKED,2026-10-31,NEVER,2026-10-30T22:59:59Z,", refused: "stateSince BEFORE_TENURE"},
	} {
		c.check(t)
	}
}

// Only a line in the state PENDING_CHURN has a churn date, and it need not. It may be
// in the future, and a bare date is the first second of its day.
func TestChurnDateOfASnapshot(t *testing.T) {
	t.Parallel()
	const known, since = "2019-03-04T08:00:00Z", "2026-10-20T00:00:00Z"
	for _, c := range []snapCase{
		{name: "none", row: "PENDING_CHURN," + known + ",NEVER," + since + ",", tenure: known, since: since},
		{name: "time", row: "PENDING_CHURN," + known + ",NEVER," + since + ",2026-11-20T08:00:00Z", tenure: known, since: since, churns: "2026-11-20T08:00:00Z"},
		{name: "date", row: "PENDING_CHURN," + known + ",NEVER," + since + ",2026-11-20", tenure: known, since: since, churns: "2026-11-19T23:00:00Z"},
		{name: "of another state", row: "ACTIVE," + known + ",NEVER,,2026-11-20", refused: "churnAt NOT_ALLOWED"},
		{name: "of an ended tenure", row: "QUARANTINED," + known + ",NEVER," + since + ",2026-11-20", refused: "churnAt NOT_ALLOWED"},
		{name: "unknown", row: "PENDING_CHURN," + known + ",NEVER," + since + ",UNKNOWN", refused: "churnAt BAD_FORMAT"},
	} {
		c.check(t)
	}
}

// An event on a bare date says so and has the last second of that day, whatever its
// type. It is in the future if its day begins more than a minute from now.
func TestTimesOfEvents(t *testing.T) {
	t.Parallel()
	o := options(t, linefile.Events)
	o.Zone = zone(t, "Africa/Lagos")
	for _, c := range []struct {
		now, text, want string
		day             bool
	}{
		{"2026-10-31T12:00:00Z", "2026-10-30T10:00:00Z", "2026-10-30T10:00:00Z", false},
		{"2026-10-31T12:00:00Z", "2026-10-30", "2026-10-30T22:59:59Z", true},
		{"2026-10-31T12:00:00Z", "2026-10-31", "2026-10-31T22:59:59Z", true},
		{"2026-10-31T12:00:00Z", "2026-11-01", "", false},
		{"2026-10-31T22:59:00Z", "2026-11-01", "2026-11-01T22:59:59Z", true},
		{"2026-10-31T22:58:59Z", "2026-11-01", "", false},
		{"2026-10-31T12:00:00Z", "2026-10-31T12:01:00Z", "2026-10-31T12:01:00Z", false},
		{"2026-10-31T12:00:00Z", "2026-10-31T12:01:01Z", "", false},
	} {
		o.Now = instantOf(t, c.now).Time()
		for _, kind := range []string{"USED", "ENDED"} {
			row, refusal := readRow(t, o, "id,number,type,effectiveAt", "e-1,+2348031000001,"+kind+","+c.text)
			if (c.want == "") != (refusal.Field == "effectiveAt" && refusal.Reason == linefile.Future) {
				t.Errorf("%s of %s at %s: %v", kind, c.text, c.now, refusal)
			}
			if c.want != "" && (row.Event.Effective != instantOf(t, c.want) || row.Event.Day != c.day) {
				t.Errorf("%s of %s at %s: %v, bare %v", kind, c.text, c.now, row.Event.Effective.Time(), row.Event.Day)
			}
		}
	}
	row, _ := readRow(t, o, "id,number,type,effectiveAt,churnAt", "e-1,+2348031000001,CHURN_NOTICE,2026-10-30,2026-11-20")
	if row.Event.ChurnAt != instantOf(t, "2026-11-20T22:59:59Z") {
		t.Errorf("a churn on a bare date is at %v", row.Event.ChurnAt.Time())
	}
}

// An events file needs four columns. Every supplier adds those that its types of
// event have.
func TestColumnsOfEvents(t *testing.T) {
	t.Parallel()
	effective := instantOf(t, "2026-10-30T09:00:00Z")
	for _, c := range []struct {
		columns, kind, cells string
		want                 linefile.Event
	}{
		{"", "USED", "", linefile.Event{Kind: line.Use}},
		{",network", "PORTED", ",GLO", linefile.Event{Kind: line.Port, Network: "GLO"}},
		{",level", "FLAGGED", ",HIGH", linefile.Event{Kind: line.Flag, Level: "HIGH"}},
		{"", "UNFLAGGED", "", linefile.Event{Kind: line.Unflag}},
		{",scope,reason", "BARRED", ",NUMBER,NIN", linefile.Event{Kind: line.Bar, Scope: "NUMBER", Reason: "NIN"}},
		{",firstHolder", "ASSIGNED", ",true", linefile.Event{Kind: line.Assign, FirstHolder: true}},
		{",firstHolder", "ASSIGNED", ",false", linefile.Event{Kind: line.Assign}},
		{",firstHolder", "ASSIGNED", ",", linefile.Event{Kind: line.Assign}},
		{"", "TRANSFERRED", "", linefile.Event{Kind: line.Transfer}},
	} {
		c.want.ID, c.want.Effective, c.want.ChurnAt = "e-1", effective, line.Never
		row, refusal := readRow(t, options(t, linefile.Events), "number,type,effectiveAt,id"+c.columns, "+2348031000001,"+c.kind+",2026-10-30T09:00:00Z,e-1"+c.cells)
		if diff := cmp.Diff(c.want, row.Event); diff != "" || refusal.Reason != "" {
			t.Errorf("%s%s: %v (-want +got):\n%s", c.kind, c.columns, refusal, diff)
		}
	}
	for _, cell := range []string{"TRUE", "yes", "1", " ", "first"} {
		_, refusal := readRow(t, options(t, linefile.Events), "number,type,effectiveAt,id,firstHolder", "+2348031000001,ASSIGNED,2026-10-30,e-1,"+cell)
		if refusal.Field != "firstHolder" || refusal.Reason != linefile.NotAllowed || !strings.Contains(refusal.Message, "true or false") {
			t.Errorf("firstHolder %q: %v", cell, refusal)
		}
	}
	for _, kind := range []string{"CONFIRMED", "RESTATED", "NAMED", "MISSING"} {
		_, refusal := readRow(t, options(t, linefile.Events), "number,type,effectiveAt,id", "+2348031000001,"+kind+",2026-10-30,e-1")
		if refusal.Field != "type" || refusal.Reason != linefile.NotAllowed || strings.Contains(refusal.Message, kind) {
			t.Errorf("%s, which no supplier reports: %v", kind, refusal)
		}
	}
}

// A since within the second of a change counts that change, as in a single answer; the second itself does not.
func TestSinceWithAFractionCountsTheChangesOfItsSecond(t *testing.T) {
	t.Parallel()

	for since, want := range map[string]string{
		"2026-10-30T09:00:00Z": "2026-10-30T09:00:00Z", "2026-10-30T09:00:00.000Z": "2026-10-30T09:00:00Z", "2026-10-30T09:00:00.001Z": "2026-10-30T08:59:59Z",
		"2026-10-30T10:00:00.900+01:00": "2026-10-30T08:59:59Z", "2026-10-30T10:00:00.000+01:00": "2026-10-30T09:00:00Z",
	} {
		row, refusal := readRow(t, options(t, linefile.Questions), "number,since", "+2348031000001,"+since)
		if got := row.Asked.Since.Format(time.RFC3339); refusal.Reason != "" || got != want {
			t.Errorf("%s is read as %s, want %s (%v)", since, got, want, refusal)
		}
	}
}
