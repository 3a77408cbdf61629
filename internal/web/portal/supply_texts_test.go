package portal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line/supply"
)

// The supply page of an operator whose snapshot was applied but for a few rows says so: it
// counts the applied rows beside the rejected ones, and says nowhere that nothing was
// accepted. How far the operator is behind agrees with the time through which it supplied,
// also before the first measurement.
func TestSupplyPageSaysWhatWasApplied(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	file := lines(40) + "+2348030009991,never,NEVER,ACTIVE,\n"
	s.worked(t, s.sent(t, telco, snapshotForm, formTime(1), file), supply.Finished)
	page := s.get(t, "/portal/supply", telco.session)
	wantPage(t, page, http.StatusOK, "No events, only rows of snapshots", "40 rows of snapshots were applied. Rejected events and rows: 1.",
		"Applied: 40", "Rejected: 1", "Known: 40", "Up to 7 days: 24")
	untrue := func(when string) {
		t.Helper()
		for _, text := range []string{"Nothing was accepted", "No events accepted", "Never behind", "Less than an hour behind"} {
			if strings.Contains(s.get(t, "/portal/supply", s.openFor(t, telco)).Body.String(), text) {
				t.Errorf("%s the page says %q", when, text)
			}
		}
	}
	untrue("before a measurement")

	if err := s.Lines.RecordCoverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Lines.Now = func() time.Time { return time.Now().Add(20 * time.Minute) } // before the next measurement
	s.Now = s.Lines.Now
	untrue("after a measurement")
}

// An operator whose supply reaches up to now is not behind, and one whose rows were all
// rejected has nothing accepted.
func TestSupplyPageSaysWhenNothingIsBehind(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	s.worked(t, s.sent(t, telco, eventsForm, "", "id,number,type,effectiveAt\nb,+2348030000002,ASSIGNED,never\n"), supply.Finished)
	wantPage(t, s.get(t, "/portal/supply", telco.session), http.StatusOK, "No events accepted", "Rejected events and rows: 1.", "No measurements yet.")
	s.worked(t, s.sent(t, telco, snapshotForm, formTime(0), lines(40)), supply.Finished)
	wantPage(t, s.get(t, "/portal/supply", telco.session), http.StatusOK, "Less than an hour behind on every day that was measured.")
}
