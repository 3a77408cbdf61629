package numbering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nyaruka/phonenumbers"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// nigeria returns the built-in plan of Nigeria.
func nigeria(tb testing.TB) *numbering.Plan {
	tb.Helper()
	rows, source, ok := numbering.Shipped("NG")
	if !ok || !strings.Contains(source, "Nigerian Communications Commission") || !strings.Contains(source, "2001-08-01, when") {
		tb.Fatalf("built in: %v; its source is %q", ok, source)
	}
	plan, err := numbering.New(rows, 13)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// The built-in plan of Nigeria agrees with the carrier data of the phone number
// library, range by range, except for operators that no longer exist.
func TestShippedPlanAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	plan, at := nigeria(t), date("2026-01-01")
	differ := map[string]string{}
	for _, block := range []string{"70", "80", "81", "90", "91"} {
		for i := range 100 {
			prefix := fmt.Sprintf("234%s%02d", block, i) // of four national digits, as long as the longest range
			n := number(t, prefix+"123456")
			parsed, err := phonenumbers.Parse(n.E164(), "NG")
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := phonenumbers.GetCarrierForNumber(parsed, "en")
			if err != nil {
				t.Fatal(err)
			}
			ours := ""
			if r, ok := plan.RangeOf(n, at); ok {
				ours = plan.Name(r.Network)
			}
			if theirs != ours {
				differ[theirs] = ours
			}
		}
	}
	want := map[string]string{"9mobile": "T2", "Multilinks": "", "Starcomms": "", "Prestel": ""}
	if diff := cmp.Diff(want, differ); diff != "" {
		t.Errorf("carriers that differ from the library (-want +got):\n%s", diff)
	}
}

// Each block of three national digits has ten million numbers.
func TestShippedPlanHasTheKnownNetworks(t *testing.T) {
	t.Parallel()
	plan, got := nigeria(t), map[string]int64{}
	for _, n := range plan.Networks() {
		got[plan.Code(n)+": "+plan.Name(n)] = plan.Capacity(n, date("2026-01-01"))
	}
	want := map[string]int64{
		"MTN: MTN": 142_000_000, "AIRTEL: Airtel": 110_000_000, "GLO: Glo": 70_000_000, "T2: T2": 50_000_000,
		"NTEL: Ntel": 12_000_000, "MAFAB: MAFAB": 10_000_000, "SMILE: Smile": 1_000_000,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// There is no plan for other regions, nor for a name with a path such as "../".
func TestRegionsWithoutAPlan(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"GH", "", "../plans/ng"} {
		if _, _, ok := numbering.Shipped(region); ok {
			t.Errorf("there is a plan for %q", region)
		}
	}
	if _, _, ok := numbering.Shipped("ng"); !ok {
		t.Error("the case of the region's code matters")
	}
}
