package httpapi_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/requestlog"
)

// Every request with an API key that gets no answer is reported with its error, what was
// wrong, its key and its correlator, and with the number if that is valid. An answer, a
// request without a valid key, and one with another credential are not.
func TestRefusedRequestsAreReported(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 1})
	var got []requestlog.Refused
	s.Refused = func(r requestlog.Refused) { got = append(got, r) }
	wrong := post(verifyPath, s.key, `{"phoneNumber":"0803","since":"soon"}`)
	wrong.Header.Set("X-Correlator", "order-7")
	over := asking(s.key, swappedNumber)
	over.Header.Set("X-Correlator", "+2348031234567"[1:])
	for _, r := range []*http.Request{asking(s.key, knownNumber), wrong, over, asking("lp_live_wrong", knownNumber), post(batchPath, s.key, `{}`)} {
		s.do(t, r)
	}
	if len(got) != 3 {
		t.Fatalf("%d are reported: %+v", len(got), got)
	}
	for i, want := range []requestlog.Refused{
		{Status: 400, Code: "INVALID_ARGUMENT", Correlator: "order-7", Violations: []string{"phoneNumber: INVALID_FORMAT", "since: INVALID_FORMAT"}},
		{Status: 429, Code: "QUOTA_EXCEEDED", Correlator: "[withheld]", Number: swappedNumber},
		{Status: 400, Code: "INVALID_ARGUMENT", Violations: []string{"phoneNumbers: REQUIRED"}},
	} {
		r := got[i]
		if r.Status != want.Status || r.Code != want.Code || r.Correlator != want.Correlator || r.Number != want.Number || !slices.Equal(r.Violations, want.Violations) || r.Entity != s.bank.ID || r.Mode != "live" || r.ID.Version() != 7 {
			t.Errorf("%d is %+v, want %+v", i, r, want)
		}
	}
}

// A caller chooses the names of the fields that it sends: one that looks like a phone
// number, in any spelling, or like a key is not stored.
func TestRefusedRequestsKeepNoNumberThatIsAFieldName(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	var got []requestlog.Refused
	s.Refused = func(r requestlog.Refused) { got = append(got, r) }
	s.do(t, post(verifyPath, s.key, `{"08031234567":true,"٠٨٠٣١٢٣٤٥٦٧":1,"+234 803 123 4567":1,"(0803) 1234567":1,"lp_live_abc":1,"0803[123]4567":1,"phone_number":1,"phoneNumber":"0803"}`))
	want := []string{"[withheld]: UNKNOWN_FIELD", "[withheld]: UNKNOWN_FIELD", "[withheld]: UNKNOWN_FIELD", "[withheld]: UNKNOWN_FIELD", "[withheld]: UNKNOWN_FIELD", "[withheld]: UNKNOWN_FIELD", "phone_number: UNKNOWN_FIELD", "phoneNumber: INVALID_FORMAT"}
	if len(got) != 1 || !slices.Equal(got[0].Violations, want) {
		t.Errorf("stored is %+v, want %q", got, want)
	}
}
