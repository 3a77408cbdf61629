package portal_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// The person who requested a change can announce that they will act alone. All staff get
// an e-mail, everybody sees it under Approvals, and nobody can confirm it earlier.
func TestBreakGlassIsAnnouncedToAllStaff(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	asker, other, auditor := s.asAdministrator(t), s.asAdministrator(t), s.as(t, "auditor")
	at := approvalsPath + "/" + s.restoring(t, asker, "The licence is renewed.")
	wantPage(t, s.get(t, approvalsPath, asker.session), http.StatusOK, at+"/break-glass")
	wantNone(t, s.get(t, approvalsPath, other.session).Body.String(), "break-glass")
	wantPage(t, s.get(t, at+"/break-glass", other.session), http.StatusNotFound)
	wantPage(t, s.post(t, at+"/break-glass", auditor.session, nil), http.StatusNotFound)
	wantPage(t, s.get(t, at+"/break-glass", asker.session), http.StatusOK, "all staff get an e-mail", "Harbour Bank", `name="reason"`)
	wantPage(t, s.post(t, at+"/break-glass", asker.session, url.Values{}), http.StatusUnprocessableEntity, `id="error-reason"`)
	wantGo(t, s.post(t, at+"/break-glass", asker.session, url.Values{"reason": {"Nobody is there"}}), approvalsPath)
	for _, who := range []visitor{asker, other, auditor} {
		if kind, _ := s.emails.Load(who.id); kind != people.BreakGlass {
			t.Errorf("%s got %v", who.email, kind)
		}
		wantPage(t, s.get(t, approvalsPath, who.session), http.StatusOK, "can confirm it alone from")
	}
	wantPage(t, s.post(t, at+"/confirm", asker.session, url.Values{}), http.StatusConflict, "24 hours after its notice")
	if list := s.trail(t, audit.BreakGlassUsed); len(list) != 1 || list[0].Actor.ID != asker.id || list[0].After["reason"] != "Nobody is there" {
		t.Errorf("the trail has %+v", list)
	}
	wantGo(t, s.post(t, at+"/refuse", other.session, because("I am here.")), approvalsPath)
}
