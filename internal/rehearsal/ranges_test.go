package rehearsal_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nyaruka/phonenumbers"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

// The file of ranges has one for each region that has mobile numbers, and
// verify takes every test number of a region for a mobile number of it. A range
// that is there stays: -update adds those of new regions only.
func TestReferenceOfRangesIsComplete(t *testing.T) {
	t.Parallel()

	const file = "ranges.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for entry := range strings.Lines(string(text)) {
		code, digits, _ := strings.Cut(strings.TrimSpace(entry), " ")
		known[code] = digits
	}
	regions := slices.Sorted(maps.Keys(phonenumbers.GetSupportedRegions()))
	if *update {
		var b strings.Builder
		for _, code := range regions {
			if known[code] == "" {
				known[code] = exampleRange(t, code)
			}
			if known[code] != "" {
				fmt.Fprintf(&b, "%s %s\n", code, known[code])
			}
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		text = []byte(b.String())
	}
	for _, code := range regions {
		if known[code] == "" {
			if exampleRange(t, code) != "" {
				t.Errorf("%s has no range; run go test ./internal/rehearsal -run Reference -update", code)
			}
			continue
		}
		if !playable(t, code, known[code]) {
			t.Errorf("verify does not take the test numbers of %s for mobile numbers", code)
		}
	}
	if !slices.IsSorted(strings.Split(strings.TrimSpace(string(text)), "\n")) {
		t.Error("the file is not sorted")
	}
}

// exampleRange makes a range around the example that the library of phone
// numbers has of a region's mobile numbers, or "" where that cannot be.
func exampleRange(t *testing.T, code string) string {
	t.Helper()
	for _, kind := range []phonenumbers.PhoneNumberType{phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE} {
		example := phonenumbers.GetExampleNumberForType(code, kind)
		if example == nil {
			continue
		}
		digits := strings.TrimPrefix(phonenumbers.Format(example, phonenumbers.E164), "+")
		if prefix := digits[:len(digits)-2]; playable(t, code, prefix) {
			return prefix
		}
	}
	return ""
}

// playable reports whether every number that is played is a mobile number of the
// region.
func playable(t *testing.T, code, prefix string) bool {
	t.Helper()
	region, err := phone.NewRegion(code)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range stage.Roles() {
		n, err := region.ParseMobile(fmt.Sprintf("+%s%02d", prefix, r.Number.Int()%100))
		if err != nil || n.E164() != fmt.Sprintf("+%s%02d", prefix, r.Number.Int()%100) {
			return false
		}
	}
	return true
}

// In Nigeria nobody holds the range: the plan that ships gives it to no network,
// and the carrier data of the library knows none for it. So a live key is told
// that a test number is UNALLOCATED.
func TestNobodyHoldsTheRange(t *testing.T) {
	t.Parallel()

	rows, _, _ := numbering.Shipped("NG")
	plan, err := numbering.New(rows, 13)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range stage.Roles() {
		if held, ok := plan.Holder(r.Number, time.Now()); ok {
			t.Errorf("%s is held by %s", r.Number.E164(), plan.Name(held.Network))
		}
		parsed, err := phonenumbers.Parse(r.Number.E164(), "NG")
		if err != nil {
			t.Fatal(err)
		}
		if carrier, err := phonenumbers.GetCarrierForNumber(parsed, "en"); err != nil || carrier != "" {
			t.Errorf("%s is of the carrier %q, %v", r.Number.E164(), carrier, err)
		}
	}
}

// A region with a range of its own plays the same roles there, and a number of
// one region is none of another.
func TestOtherRegionsPlayTheSame(t *testing.T) {
	t.Parallel()

	ghana := rehearsal.NewStage("gh")
	if len(ghana.Roles()) != len(stage.Roles()) {
		t.Fatalf("Ghana has %d test numbers, Nigeria %d", len(ghana.Roles()), len(stage.Roles()))
	}
	for i, r := range ghana.Roles() {
		home := stage.Roles()[i]
		one, ok := ghana.Play(r.Number, rehearsal.Clock{}, now, defaults())
		two, _ := stage.Play(home.Number, rehearsal.Clock{}, now, defaults())
		if !ok || said(one) != said(two) {
			t.Errorf("%s: %s in Ghana, %s in Nigeria", r.Title, said(one), said(two))
		}
		if _, ok := ghana.Play(home.Number, rehearsal.Clock{}, now, defaults()); ok {
			t.Errorf("%s is played in Ghana", home.Number.E164())
		}
	}
	if none := rehearsal.NewStage("XX").Roles(); none != nil {
		t.Errorf("a region that does not exist has test numbers: %v", none)
	}
}
