package portal_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/policy"
)

const (
	policyPage = "/portal/desk/policy"
	newPolicy  = "/portal/desk/new-policy"
)

// All staff read every value of the policy in words. An administrator proposes a change,
// sees what changes before it is requested, and it counts when another one confirms it;
// the two versions can be compared.
func TestPolicyIsChangedInThePortal(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, auditor := s.asAdministrator(t), s.as(t, "auditor")
	page := s.get(t, policyPage, auditor.session)
	wantPage(t, page, http.StatusOK, "Version 1, in effect since", "SWAPPED after a new SIM", "10 days (240 hours)", "First version")
	for _, f := range policy.Fields {
		if !strings.Contains(page.Body.String(), html.EscapeString(f.Meaning)) {
			t.Errorf("the page lacks %s", f.Name)
		}
	}
	wantPage(t, s.get(t, newPolicy, auditor.session), http.StatusNotFound)
	wantPage(t, s.get(t, newPolicy, admin.session), http.StatusOK, `name="swappedHours"`, `value="240"`, `name="purposes"`)
	for field, form := range map[string]url.Values{
		"note": {"swappedHours": {"120"}}, "swappedHours": {"swappedHours": {"9999"}, "note": {"why"}}, "recycledDays": {"recycledDays": {"many"}, "note": {"why"}},
		"effectiveAt": {"swappedHours": {"120"}, "note": {"why"}, "effectiveAt": {"2001-01-01T00:00"}},
	} {
		for _, path := range []string{newPolicy, policyPage} {
			wantPage(t, s.post(t, path, admin.session, form), http.StatusUnprocessableEntity, `id="error-`+field+`"`)
		}
	}
	wantPage(t, s.post(t, newPolicy, admin.session, url.Values{"recycledDays": {""}, "swappedHours": {"9999"}, "note": {""}, "effectiveAt": {"soon"}}), http.StatusUnprocessableEntity,
		`id="error-recycledDays"`, `id="error-swappedHours"`, `id="error-note"`, `id="error-effectiveAt"`)
	if body := s.post(t, newPolicy, admin.session, url.Values{"recycledDays": {""}, "note": {""}}).Body.String(); strings.Index(body, `href="#field-note"`) > strings.Index(body, `href="#field-recycledDays"`) {
		t.Error("the note, which is the first field, is not the first of what is wrong")
	}
	wantPage(t, s.post(t, newPolicy, admin.session, url.Values{"note": {"why"}}), http.StatusUnprocessableEntity, "Nothing changes")
	change := url.Values{"swappedHours": {"120"}, "note": {"Direction of June"}, "base": {"1"}}
	wantPage(t, s.post(t, newPolicy, admin.session, change), http.StatusOK, "<del dir=\"auto\">10 days (240 hours)</del>", "<ins dir=\"auto\">5 days (120 hours)</ins>", "When another administrator confirms it", `name="swappedHours" value="120"`)
	if n := s.rows(t, "approval.asked"); n != 0 {
		t.Fatalf("the preview requested %d changes", n)
	}
	wantGo(t, s.post(t, policyPage, admin.session, change), policyPage)
	wantPage(t, s.get(t, policyPage, auditor.session), http.StatusOK, "A change waits for a second person", "swappedHours: 240 → 120", "Version 1, in effect")
	s.confirmed(t, policy.SetKind, "swappedHours: 240 → 120")
	wantPage(t, s.get(t, policyPage, auditor.session), http.StatusOK, "Version 2, in effect", "Direction of June", "5 days (120 hours)", policyPage+"/compare?from=1&amp;to=2")
	wantPage(t, s.get(t, policyPage+"/compare?from=1&to=2", auditor.session), http.StatusOK, "From version 1 to version 2", "<del dir=\"auto\">10 days (240 hours)</del>")
	wantPage(t, s.get(t, policyPage+"/compare?from=2&to=2", auditor.session), http.StatusOK, "No differences")
	wantPage(t, s.get(t, policyPage+"/compare?from=x&to=99", auditor.session), http.StatusOK, "From version 1 to version 2")
	change.Set("swappedHours", "100")
	wantPage(t, s.post(t, policyPage, admin.session, change), http.StatusConflict, "in the meantime")

	later := time.Now().UTC().AddDate(0, 1, 0).Format("2006-01-02T15:04")
	wantPage(t, s.post(t, newPolicy, admin.session, url.Values{"holdPercent": {"5"}, "note": {"Stricter"}, "effectiveAt": {later}}), http.StatusOK, "if another administrator has confirmed it by then")
}
