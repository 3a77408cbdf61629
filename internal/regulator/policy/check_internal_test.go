package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// violations returns what is wrong with a policy, each as its field and message.
func violations(t *testing.T, p Policy) (list []string) {
	t.Helper()
	err := p.check()
	if f, ok := errors.AsType[*fault.Error](err); ok {
		for _, v := range f.Violations {
			list = append(list, v.Field+": "+v.Message)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	return list
}

// A freshness may be half of the window of its topic and not an hour more. That of
// PORT counts only while a clearing house is named. All violations come at once.
func TestFreshnessIsAtMostHalfOfTheWindow(t *testing.T) {
	t.Parallel()
	const (
		lifecycle = "lifecycleFreshnessHours: Use at most 120 hours, which is half of recycledDays, or make recycledDays longer."
		sim       = "simFreshnessHours: Use at most 36 hours, which is half of swappedHours, or make swappedHours longer."
		port      = "portFreshnessHours: Use at most 60 hours, which is half of portedHours, or make portedHours longer."
	)
	for name, tc := range map[string]struct {
		change func(p *Policy)
		want   []string
	}{
		"the defaults":         {func(*Policy) {}, nil},
		"half":                 {func(p *Policy) { p.LifecycleFreshnessHours, p.SIMFreshnessHours, p.PortFreshnessHours = 120, 36, 60 }, nil},
		"an hour more":         {func(p *Policy) { p.LifecycleFreshnessHours, p.SIMFreshnessHours, p.PortFreshnessHours = 121, 37, 61 }, []string{lifecycle, sim, port}},
		"only one":             {func(p *Policy) { p.SIMFreshnessHours = 37 }, []string{sim}},
		"SIM not required":     {func(p *Policy) { p.SIMFreshnessHours, p.SwappedHours = 0, 1 }, nil},
		"no LIFECYCLE":         {func(p *Policy) { p.LifecycleFreshnessHours = 0 }, []string{"lifecycleFreshnessHours: Use a whole number from 1 to 4320."}},
		"no clearing house":    {func(p *Policy) { p.PortFreshnessHours, p.ClearingHouse = 61, "" }, []string{port}},
		"window out of bounds": {func(p *Policy) { p.SwappedHours = 0 }, []string{"swappedHours: Use a whole number from 1 to 2400."}},
		"out of bounds":        {func(p *Policy) { p.SIMFreshnessHours = 2401 }, []string{"simFreshnessHours: Use a whole number from 0 to 2400."}},
	} {
		p := Defaults()
		p.RecycledDays, p.SwappedHours, p.PortedHours, p.ClearingHouse = 10, 73, 120, "A house"
		p.LifecycleFreshnessHours, p.SIMFreshnessHours, p.PortFreshnessHours = 1, 1, 1
		if name == "the defaults" {
			p = Defaults()
			p.ClearingHouse = "A house"
		}
		tc.change(&p)
		if diff := cmp.Diff(tc.want, violations(t, p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A time zone is a name of the IANA database. What only some machines know is
// refused, because every node must know it.
func TestTimeZoneMustBeKnown(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{
		"Africa/Lagos": true, "America/Port-au-Prince": true, "America/Argentina/ComodRivadavia": true, "Etc/GMT+1": true, "UTC": true,
		"": false, "Local": false, "localtime": false, "posixrules": false, "right/Africa/Lagos": false, "posix/Africa/Lagos": false,
		"Africa/./Lagos": false, "Africa//Lagos": false, "../zoneinfo/UTC": false, "/usr/share/zoneinfo/UTC": false, "Africa": false,
		"Africa/Atlantis": false, "africa/lagos": false, "Africa/Lagos\n": false, "Africa/" + strings.Repeat("L", 60): false,
	} {
		p := Defaults()
		p.TimeZone = name
		var want []string
		if !known {
			want = []string{"timeZone: Use the name of a time zone in the IANA database, such as Africa/Lagos, or UTC."}
		}
		if diff := cmp.Diff(want, violations(t, p)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}
