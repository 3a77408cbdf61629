package sandbox_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nyaruka/phonenumbers"

	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// ranges.txt has a range for each region that has mobile numbers, and verify
// accepts every test number of a region as a mobile number. Existing ranges never
// change: -update only adds those of new regions.
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
				t.Errorf("%s has no range; run go test ./internal/line/sandbox -run Reference -update", code)
			}
			continue
		}
		if !allMobile(t, code, known[code]) {
			t.Errorf("verify does not accept the test numbers of %s as mobile numbers", code)
		}
	}
	if !slices.IsSorted(strings.Split(strings.TrimSpace(string(text)), "\n")) {
		t.Error("the file is not sorted")
	}
}

// exampleRange returns a range around the library's example of a mobile number of
// the region, or "" if there is none that fits.
func exampleRange(t *testing.T, code string) string {
	t.Helper()
	for _, kind := range []phonenumbers.PhoneNumberType{phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE} {
		example := phonenumbers.GetExampleNumberForType(code, kind)
		if example == nil {
			continue
		}
		digits := strings.TrimPrefix(phonenumbers.Format(example, phonenumbers.E164), "+")
		if prefix := digits[:len(digits)-2]; allMobile(t, code, prefix) {
			return prefix
		}
	}
	return ""
}

// allMobile reports whether every test number in a range is a mobile number of
// the region.
func allMobile(t *testing.T, code, prefix string) bool {
	t.Helper()
	region, err := phone.NewRegion(code)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range simulator.TestNumbers() {
		n, err := region.ParseMobile(fmt.Sprintf("+%s%02d", prefix, r.Number.Int()%100))
		if err != nil || n.E164() != fmt.Sprintf("+%s%02d", prefix, r.Number.Int()%100) {
			return false
		}
	}
	return true
}

// In Nigeria the range is not allocated: the plan that ships with the program
// gives it to no network, and the library's carrier data has none for it. So a
// live key gets UNALLOCATED for a test number.
func TestRangeIsNotAllocated(t *testing.T) {
	t.Parallel()

	rows, _, _ := numbering.Shipped("NG")
	plan, err := numbering.New(rows, 13)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range simulator.TestNumbers() {
		if held, ok := plan.RangeOf(r.Number, time.Now()); ok {
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

// Every region has the same test numbers in its own range, and a test number of
// one region is not one of another.
func TestOtherRegionsHaveTheSameTestNumbers(t *testing.T) {
	t.Parallel()

	ghana := sandbox.NewSimulator("gh")
	if len(ghana.TestNumbers()) != len(simulator.TestNumbers()) {
		t.Fatalf("Ghana has %d test numbers, Nigeria %d", len(ghana.TestNumbers()), len(simulator.TestNumbers()))
	}
	for i, r := range ghana.TestNumbers() {
		home := simulator.TestNumbers()[i]
		one, ok := ghana.Simulate(r.Number, sandbox.Clock{}, now, defaults())
		two, _ := simulator.Simulate(home.Number, sandbox.Clock{}, now, defaults())
		if !ok || answerOf(one) != answerOf(two) {
			t.Errorf("%s: %s in Ghana, %s in Nigeria", r.Title, answerOf(one), answerOf(two))
		}
		if _, ok := ghana.Simulate(home.Number, sandbox.Clock{}, now, defaults()); ok {
			t.Errorf("%s is a test number in Ghana", home.Number.E164())
		}
	}
	if none := sandbox.NewSimulator("XX").TestNumbers(); none != nil {
		t.Errorf("a region that does not exist has test numbers: %v", none)
	}
}
