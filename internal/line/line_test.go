package line_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
)

func region(t *testing.T) *phone.Region {
	t.Helper()
	r, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func load(t *testing.T, d *line.Directory, file string) (changed int64, err error) {
	t.Helper()
	err = line.ReadCSV(strings.NewReader(file), region(t), func(records []line.Record) error {
		n, err := d.Store(t.Context(), records)
		changed += n
		return err
	})
	return changed, err
}

// A file that is loaded twice changes nothing the second time, and a row that
// changes counts its versions.
func TestLoadChangesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	d := &line.Directory{Pool: pgtest.New(t)}
	const file = "\ufeffnumber,network,status\r\n08031234567,MTN,NORMAL\n+2348051234567,Glo,BARRED\n08031234567,MTN,SWAPPED\n"
	for i, want := range []int64{2, 0} {
		if changed, err := load(t, d, file); err != nil || changed != want {
			t.Errorf("load %d changed %d, %v; want %d", i+1, changed, err, want)
		}
	}
	if changed, err := load(t, d, "number,network,status\n08031234567,Airtel,NORMAL\n"); err != nil || changed != 1 {
		t.Errorf("a changed row: %d, %v", changed, err)
	}
	number, err := region(t).ParseMobile("08031234567")
	if err != nil {
		t.Fatal(err)
	}
	got, err := line.Lookup(t.Context(), d.Pool, number)
	if want := (line.Line{Status: line.Normal, Network: "Airtel", Version: 2}); err != nil || got != want {
		t.Errorf("Lookup = %+v, %v; want %+v", got, err, want)
	}
}

// A number that nobody supplied is UNKNOWN, never NORMAL.
func TestUnsuppliedNumberIsUnknown(t *testing.T) {
	t.Parallel()
	d := &line.Directory{Pool: pgtest.New(t)}
	number, err := region(t).ParseMobile("08031234567")
	if err != nil {
		t.Fatal(err)
	}
	got, err := line.Lookup(t.Context(), d.Pool, number)
	if want := (line.Line{Status: line.Unknown, Network: line.UnknownNetwork}); err != nil || got != want {
		t.Errorf("Lookup = %+v, %v; want %+v", got, err, want)
	}
}

// A wrong row is named by its place, and what it says is not repeated.
func TestWrongRowsAreNamedByTheirPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, want string }{
		"no header": {"08031234567,MTN,NORMAL\n", "first row"},
		"empty":     {"", "first row"},
		"semicolon": {"number;network;status\n", "commas"},
		"number":    {"number,network,status\n08031234567,MTN,NORMAL\n0803,MTN,NORMAL\n", "row 3: column number"},
		"landline":  {"number,network,status\n+2342012345678,MTN,NORMAL\n", "row 2: column number"},
		"network":   {"number,network,status\n08031234567, ,NORMAL\n", "row 2: column network"},
		"status":    {"number,network,status\n08031234567,MTN,FINE\n", "row 2: column status"},
		"columns":   {"number,network,status\n08031234567,MTN\n", "row 2 is not"},
	} {
		err := line.ReadCSV(strings.NewReader(tc.file), region(t), func([]line.Record) error { return nil })
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "0803") || strings.Contains(err.Error(), "FINE") {
			t.Errorf("%s: %v, want it to say %q and to repeat nothing", name, err, tc.want)
		}
	}
}
