package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The first policy has a code for each purpose that banks have, and gives dates by the
// month where the purpose needs them.
func TestDefaultPurposes(t *testing.T) {
	t.Parallel()
	p := Defaults()
	if diff := cmp.Diff([]string{"payment", "account-opening", "credential-reset", "collection", "credit", "other"}, p.PurposeCodes()); diff != "" {
		t.Error(diff)
	}
	for code, want := range map[string]DateForm{
		"payment": MonthDates, "account-opening": MonthDates, "credential-reset": MonthDates, "credit": MonthDates,
		"collection": AbsentDates, "other": AbsentDates, "marketing": AbsentDates, "": AbsentDates, "pay": AbsentDates,
	} {
		if got := p.DatesFor(code); got != want {
			t.Errorf("dates for %q are %s, want %s", code, got, want)
		}
	}
}

// Every purpose gets notices, also one that the policy no longer has, unless it is quiet.
func TestQuietPurposes(t *testing.T) {
	t.Parallel()
	p := Policy{Purposes: "payment=month/quiet,other=absent"}
	for code, want := range map[string]bool{"payment": false, "other": true, "collection": true} {
		if got := p.NoticesFor(code); got != want {
			t.Errorf("notices for %q: %v, want %v", code, got, want)
		}
	}
	if got := p.DatesFor("payment"); got != MonthDates {
		t.Errorf("dates for a quiet purpose are %s", got)
	}
}

// Purposes are codes with a form of dates; each is named once, and other stays.
func TestPurposesAreChecked(t *testing.T) {
	t.Parallel()
	const form = "Write each purpose as code=exact"
	for text, want := range map[string]string{
		"other=exact":                "",
		"payment=exact,other=absent": "",
		"p" + strings.Repeat("2", 39) + "=month,other=month": "",
		"payment=exact/quiet,other=absent":                   "",
		"other=month/":                                       form,
		"other=month/,pay=month":                             form,
		"other=month/loud":                                   form,
		"other=/quiet":                                       form,
		"":                                                   form,
		"other":                                              form,
		"other=":                                             form,
		"other=day":                                          form,
		"other=exact,":                                       form,
		"Payment=month,other=month":                          form,
		"2pay=month,other=month":                             form,
		"a b=month,other=month":                              form,
		"p" + strings.Repeat("2", 40) + "=month,other=month": form,
		"payment=month,payment=month,other=month":            "Name each purpose once.",
		"payment=month,credit=month":                         "Keep the purpose other",
		"other=month" + strings.Repeat(",other=month", 83):   "Use at most 1000 characters.",
	} {
		p := Defaults()
		p.Purposes = text
		got := violations(t, p)
		if (len(got) == 0) != (want == "") || len(got) > 1 || (want != "" && !strings.HasPrefix(got[0], "purposes: "+want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
