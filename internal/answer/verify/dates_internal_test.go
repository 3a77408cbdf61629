package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// The times of these tests. The supply of every topic began with the year 2026.
var (
	datesNow    = time.Date(2026, 11, 14, 9, 30, 0, 0, time.UTC)
	supplyBegan = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func instant(text string) line.Instant {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return line.InstantOf(t)
}

// lineOf2019 is a line that has one holder since 2019, by the snapshot of its network,
// and whose SIM has never changed.
func lineOf2019() *linestore.Lookup {
	p := policy.Defaults()
	p.Purposes = "payment=exact,credit=month,other=absent"
	span := line.Span{KnownSince: supplyBegan, CompleteSince: supplyBegan, Through: datesNow.Add(-time.Hour)}
	l := &linestore.Lookup{Policy: &p}
	l.Row = line.NoRow()
	l.Row.Version, l.Row.Network, l.Row.State, l.Row.Bits = 1, 1, line.StateActive, line.OwnSnapshot
	l.Row.Tenure = instant("2019-05-01T08:00:00Z")
	l.Planned, l.Allocated, l.Holder = true, true, 1
	l.Coverage = func(numbering.Network) line.Coverage { return line.Coverage{Lifecycle: span, SIM: span} }
	return l
}

// supplied changes the coverage of the look-up's network.
func supplied(l *linestore.Lookup, change func(c *line.Coverage)) {
	c := l.Coverage(1)
	change(&c)
	l.Coverage = func(numbering.Network) line.Coverage { return c }
}

func dateText(d Date) string {
	value, known := "null", "null"
	if d.Value != nil {
		value = *d.Value
	}
	if !d.KnownSince.IsZero() {
		known = d.KnownSince.Format(time.DateOnly)
	}
	return value + " " + string(d.Precision) + " " + known
}

func datesText(l *linestore.Lookup, purpose string) string {
	d := datesOf(l, l.View(datesNow), purpose, datesNow)
	return strings.Join([]string{dateText(d.TenureStart), dateText(d.LastSIMChange), dateText(d.LastPort)}, "; ")
}

// Each date has its value, its precision, and since when such changes are known.
func TestDatesOfALine(t *testing.T) {
	t.Parallel()
	const (
		tenure = "2019-05-01T08:00:00.000Z second 2026-01-01; "
		noPort = "; null unknown 2026-01-01"
		simGap = tenure + "null unknown 2026-01-01" + noPort
	)
	for name, tc := range map[string]struct {
		change func(l *linestore.Lookup)
		want   string
	}{
		"nothing changed, so that there was no port, either": {func(*linestore.Lookup) {}, tenure + "2019-05-01T08:00:00.000Z second 2026-01-01; null unknown 2019-05-08"},
		"a tenure that began on a day": {func(l *linestore.Lookup) {
			l.Row.Tenure, l.Row.Bits = instant("2019-05-01T22:59:59Z"), l.Row.Bits|line.TenureDay
		}, "2019-05-01 day 2026-01-01; 2019-05-01 day 2026-01-01; null unknown 2019-05-08"},
		"a swap": {func(l *linestore.Lookup) { l.Row.SIM = instant("2026-03-01T10:00:00Z") }, tenure + "2026-03-01T10:00:00.000Z second 2026-01-01" + noPort},
		"a swap on a day": {func(l *linestore.Lookup) {
			l.Row.SIM, l.Row.Bits = instant("2026-03-01T22:59:59Z"), l.Row.Bits|line.SIMDay
		}, tenure + "2026-03-01 day 2026-01-01" + noPort},
		"a swap that only the snapshot has": {func(l *linestore.Lookup) { l.Row.SIM = instant("2023-03-01T10:00:00Z") }, tenure + "2023-03-01T10:00:00.000Z second 2026-01-01; null unknown 2023-03-08"},
		"a snapshot without the SIM":        {func(l *linestore.Lookup) { l.Row.Bits |= line.SIMUnknown }, simGap},
		"a snapshot without the SIM, and a swap since": {func(l *linestore.Lookup) {
			l.Row.SIM, l.Row.Bits = instant("2026-03-01T10:00:00Z"), l.Row.Bits|line.SIMUnknown
		}, tenure + "2026-03-01T10:00:00.000Z second 2026-01-01" + noPort},
		"a swap from before the supply, and no snapshot": {func(l *linestore.Lookup) { l.Row.SIM, l.Row.Bits = instant("2025-12-01T10:00:00Z"), 0 }, simGap},
		"a port, which brings a SIM": {func(l *linestore.Lookup) {
			l.Row.SIM, l.Row.PortAt, l.Row.Bits = instant("2026-03-01T10:00:00Z"), instant("2026-06-01T10:00:00Z"), 0
		}, tenure + "2026-06-01T10:00:00.000Z second 2026-01-01; 2026-06-01T10:00:00.000Z second 2026-01-01"},
		"a swap after a port on a day": {func(l *linestore.Lookup) {
			l.Row.SIM, l.Row.PortAt, l.Row.Bits = instant("2026-07-01T10:00:00Z"), instant("2026-06-01T22:59:59Z"), line.PortDay
		}, tenure + "2026-07-01T10:00:00.000Z second 2026-01-01; 2026-06-01 day 2026-01-01"},
		"a tenure that began under the supply": {
			func(l *linestore.Lookup) { l.Row.Tenure, l.Row.Bits = instant("2026-02-01T08:00:00Z"), 0 },
			"2026-02-01T08:00:00.000Z second 2026-01-01; 2026-02-01T08:00:00.000Z second 2026-01-01; null never 2026-01-01",
		},
		"a tenure that began on the day of the first supply": {func(l *linestore.Lookup) {
			l.Row.Tenure, l.Row.Bits = instant("2026-01-01T22:59:59Z"), line.TenureDay
		}, "2026-01-01 day 2026-01-01; 2026-01-01 day 2026-01-01" + noPort},
		"an unknown tenure":                 {func(l *linestore.Lookup) { l.Row.Tenure = line.Never }, "null unknown 2026-01-01; null unknown 2026-01-01" + noPort},
		"a swap that its operator withdrew": {func(l *linestore.Lookup) { l.Row.ContestedSIM = instant("2026-03-01T10:00:00Z") }, tenure + "null unknown null" + noPort},
		"a port that was withdrawn":         {func(l *linestore.Lookup) { l.Row.ContestedPort = instant("2026-03-01T10:00:00Z") }, tenure + "null unknown null; null unknown null"},
		"a new holder that was withdrawn":   {func(l *linestore.Lookup) { l.Row.ContestedTenure = instant("2026-03-01T10:00:00Z") }, "null unknown null; null unknown null" + noPort},
		"SIM changes are not required":      {func(l *linestore.Lookup) { l.Policy.SIMFreshnessHours = 0 }, tenure + "null unknown null" + noPort},
		"SIM changes are supplied later than the rest": {func(l *linestore.Lookup) {
			l.Row.Bits |= line.SIMUnknown
			supplied(l, func(c *line.Coverage) { c.SIM.KnownSince = supplyBegan.AddDate(0, 1, 0) })
		}, tenure + "null unknown 2026-02-01" + noPort},
		"a clearing house": {func(l *linestore.Lookup) {
			l.Policy.ClearingHouse = "House"
			supplied(l, func(c *line.Coverage) {
				c.Ports = line.Span{KnownSince: supplyBegan.AddDate(0, 2, 0), Through: datesNow}
			})
		}, tenure + "2019-05-01T08:00:00.000Z second 2026-01-01; null unknown 2026-03-01"},
		"a bar does not hide dates": {func(l *linestore.Lookup) { l.Row.BarAt = instant("2026-11-01T00:00:00Z") }, tenure + "2019-05-01T08:00:00.000Z second 2026-01-01; null unknown 2019-05-08"},
	} {
		l := lineOf2019()
		tc.change(l)
		if got := datesText(l, "payment"); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

// Where the service does not know the line, or knows it only from an old supply, it
// gives no date, also if another condition hides that in the status.
func TestDatesOfAnUncertainLineAreUnknown(t *testing.T) {
	t.Parallel()
	const unknown = "null unknown null; null unknown null; null unknown null"
	for name, change := range map[string]func(l *linestore.Lookup){
		"no row": func(l *linestore.Lookup) { l.Row = line.NoRow() },
		"an ended tenure": func(l *linestore.Lookup) {
			l.Row.State, l.Row.StateSince = line.StateEnded, instant("2026-05-01T00:00:00Z")
		},
		"a churn date that came": func(l *linestore.Lookup) {
			l.Row.State, l.Row.Until = line.StateNoticed, instant("2026-05-01T00:00:00Z")
		},
		"a doubt":                func(l *linestore.Lookup) { l.Row.DoubtAt = instant("2026-05-01T00:00:00Z") },
		"a withdrawn range":      func(l *linestore.Lookup) { l.Allocated = false },
		"no supply":              func(l *linestore.Lookup) { supplied(l, func(c *line.Coverage) { *c = line.Coverage{} }) },
		"an old LIFECYCLE":       func(l *linestore.Lookup) { supplied(l, func(c *line.Coverage) { c.Lifecycle.Through = supplyBegan }) },
		"an old SIM":             func(l *linestore.Lookup) { supplied(l, func(c *line.Coverage) { c.SIM.Through = supplyBegan }) },
		"a doubtful SIM":         func(l *linestore.Lookup) { supplied(l, func(c *line.Coverage) { c.SIM.Doubtful = true }) },
		"no PORT, but it is due": func(l *linestore.Lookup) { l.Policy.ClearingHouse = "House" },
	} {
		for _, hidden := range []bool{false, true} {
			l := lineOf2019()
			if hidden {
				l.Row.BlackAt = instant("2026-11-01T00:00:00Z")
			}
			change(l)
			if hidden {
				l.Row.BlackAt = instant("2026-11-01T00:00:00Z")
			}
			if got := datesText(l, "payment"); got != unknown {
				t.Errorf("%s, hidden %v: %s", name, hidden, got)
			}
		}
	}
	l := lineOf2019()
	if l.Row.DoubtAt = line.InstantOf(datesNow) + 1; datesText(l, "payment") == unknown {
		t.Error("a doubt of the future counts")
	}
}

// The policy gives dates exactly, by the month in its time zone, or not at all, by the
// purpose of the key. It does not give a purpose that it does not have any.
func TestPolicyDecidesTheFormOfDatesByPurpose(t *testing.T) {
	t.Parallel()
	const withheld = "null withheld null; null withheld null; null withheld null"
	l := lineOf2019()
	l.Row.SIM, l.Row.PortAt, l.Row.Bits = instant("2026-03-31T23:30:00Z"), instant("2026-02-28T22:59:59Z"), line.PortDay // in Lagos it is April
	for purpose, want := range map[string]string{
		"payment":   "2019-05-01T08:00:00.000Z second 2026-01-01; 2026-03-31T23:30:00.000Z second 2026-01-01; 2026-02-28 day 2026-01-01",
		"credit":    "2019-05 month 2026-01-01; 2026-04 month 2026-01-01; 2026-02 month 2026-01-01",
		"other":     withheld,
		"marketing": withheld,
		"":          withheld,
	} {
		if got := datesText(l, purpose); got != want {
			t.Errorf("%s:\n got %s\nwant %s", purpose, got, want)
		}
	}
	l = lineOf2019()
	l.Row.Tenure = instant("2025-12-30T10:00:00Z") // its month ends after the supply began
	if got := datesText(l, "credit"); !strings.HasSuffix(got, "; null unknown 2026-01-01") {
		t.Errorf("shortly before the supply: %s", got)
	}
	if l.Row.Tenure = instant("2019-05-11T10:00:00Z"); !strings.HasSuffix(datesText(l, "credit"), "; null unknown 2019-05-31") { // in Lagos June begins then
		t.Errorf("by the month: %s", datesText(l, "credit"))
	}
	l.Row = line.NoRow()
	if got := datesText(l, "other"); got != withheld {
		t.Errorf("of no line: %s", got)
	}
}
