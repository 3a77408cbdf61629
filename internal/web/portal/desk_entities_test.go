package portal_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// deskPage returns the address of a staff page about an organisation.
func deskPage(e registry.Entity, rest string) string {
	return "/portal/desk/entities/" + e.ID.String() + rest
}

// wantNone fails if a page contains one of the texts.
func wantNone(t testing.TB, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(body, text) {
			t.Errorf("the page holds %q", text)
		}
	}
}

// Staff find an organisation by name, number, state and activity, in the requested
// order.
func TestStaffFindOrganisations(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	look := func(query string) string {
		res := s.get(t, "/portal/desk/entities"+query, auditor.session)
		wantPage(t, res, http.StatusOK)
		return res.Body.String()
	}
	all := look("")
	harbour, harmattan, lagoon := strings.Index(all, "Harbour Bank"), strings.Index(all, "Harmattan Telecom"), strings.Index(all, "Lagoon Bank")
	if harbour < 0 || harmattan < harbour || lagoon < harmattan || !strings.Contains(all, `aria-sort="ascending"`) {
		t.Errorf("the list is not sorted by name:\n%s", all)
	}
	wantNone(t, all, "/portal/desk/new-entity")
	down := look("?sort=name&dir=desc&q=bank")
	if a, b := strings.Index(down, "Lagoon Bank"), strings.Index(down, "Harbour Bank"); a < 0 || b < a {
		t.Error("the list is not sorted by name from the end")
	}
	wantNone(t, down, "Harmattan")
	for query, want := range map[string]string{"?q=rc-0009": "Harmattan", "?kind=supplies": "Harmattan", "?q=LAGOON": "Lagoon", "?kind=asks&q=8": "Lagoon"} {
		body := look(query)
		if !strings.Contains(body, want) || strings.Contains(body, "Harbour Bank") {
			t.Errorf("%s does not find %s alone", query, want)
		}
	}
	for _, query := range []string{"?state=Suspended", "?q=%00%25", "?q=" + strings.Repeat("x", 5000)} {
		if body := look(query); !strings.Contains(body, "No organisations found") {
			t.Errorf("%s finds something", query)
		}
	}
	for _, query := range []string{"?sort=nonsense", "?state=nonsense&kind=nonsense", "?after=nonsense", "?after=" + uuid.NewString(), "?client=nonsense"} {
		if body := look(query); !strings.Contains(body, "Harbour Bank") {
			t.Errorf("%s does not mean all", query)
		}
	}
}

// The pages of the list show each organisation once.
func TestTheListOfOrganisationsIsPaged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	for i := range 60 {
		must(s.Registry.CreateRelyingParty(t.Context(), fmt.Sprintf("Mast %02d", i%30), "RC 1", access.Operator, uuid.Nil))(t)
	}
	seen, next := map[string]int{}, "/portal/desk/entities?q=mast&sort=created&dir=desc"
	links, onward := regexp.MustCompile(`href="/portal/desk/entities/([0-9a-f-]{36})"`), regexp.MustCompile(`href="([^"]+)" rel="next"`)
	for pages := 0; next != "" && pages < 5; pages++ {
		res := s.get(t, next, auditor.session)
		wantPage(t, res, http.StatusOK)
		for _, m := range links.FindAllStringSubmatch(res.Body.String(), -1) {
			seen[m[1]]++
		}
		next = ""
		if m := onward.FindStringSubmatch(res.Body.String()); m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(seen) != 60 {
		t.Errorf("%d organisations were shown, want 60", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was shown %d times", id, n)
		}
	}
}

// An administrator adds an organisation with its admin, who gets an e-mail. If
// anything is invalid, neither is created, and the form shows the errors.
func TestAdministratorAddsOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.promoted(t, s.as(t, "administrator"))
	wantPage(t, s.get(t, "/portal/desk/entities", boss.session), http.StatusOK, "/portal/desk/new-entity")
	wantPage(t, s.get(t, "/portal/desk/new-entity", boss.session), http.StatusOK, "field-cac", "field-email")
	wantPage(t, s.post(t, "/portal/desk/new-entity", boss.session, url.Values{"name": {" "}, "cac": {"?"}, "email": {"nobody"}}), http.StatusUnprocessableEntity,
		`id="error-name"`, `id="error-cac"`, `id="error-email"`)
	name := "港口银行 " + strings.Repeat("ب", 190)
	wantPage(t, s.post(t, "/portal/desk/new-entity", boss.session, url.Values{"name": {name}, "cac": {"RC-007"}, "another": {"yes"}, "email": {"bola"}}), http.StatusUnprocessableEntity, `id="error-email"`)
	if found := must(s.Registry.Search(t.Context(), registry.EntityFilter{Text: "港口"}))(t); len(found.Entities) != 0 {
		t.Fatal("the organisation was made without its admin")
	}
	res := s.post(t, "/portal/desk/new-entity", boss.session, url.Values{"name": {name}, "cac": {"RC-007"}, "another": {"yes"}, "email": {"bola@delta.example"}})
	found := must(s.Registry.Search(t.Context(), registry.EntityFilter{Text: "港口"}))(t)
	if len(found.Entities) != 1 {
		t.Fatalf("answered %d, and %d organisations are there", res.Code, len(found.Entities))
	}
	e := found.Entities[0].Entity
	wantGo(t, res, deskPage(e, ""))
	a := s.invitedAs(t, "bola@delta.example")
	if kind, _ := s.emails.Load(a.ID); kind != people.Invitation || a.Entity != e.ID || a.Kind != registry.AdminAccount {
		t.Errorf("the letter is %v, for %+v", kind, a)
	}
	// It has the number of the bank of the stack, and each page says so of the other.
	wantPage(t, s.get(t, deskPage(e, ""), boss.session), http.StatusOK, "has the same CAC number", deskPage(s.bank, ""), "Harbour Bank")
	wantPage(t, s.get(t, deskPage(s.bank, ""), boss.session), http.StatusOK, "has the same CAC number", deskPage(e, ""))
	wantNone(t, s.get(t, deskPage(s.other, ""), boss.session).Body.String(), "has the same CAC number")
}

// Every tab shows data of this organisation only.
func TestStaffSeeAnOrganisation(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, stranger, auditor := s.as(t, "admin"), s.as(t, "stranger"), s.as(t, "auditor")
	live, _ := s.madeKey(t, admin, "mobile app", "live")
	s.madeKey(t, stranger, "not theirs", "live")
	s.asked(t, live, "", "+2348031234567")
	must(s.Tally.Count(t.Context()))(t)
	wantPage(t, s.get(t, deskPage(s.bank, ""), auditor.session), http.StatusOK, "RC 7", "Approved", "UNKNOWN", "/portal/guide/answers#answer-UNKNOWN", "Requests per second, all keys")
	wantPage(t, s.get(t, deskPage(s.bank, "?mode=test"), auditor.session), http.StatusOK, "No answers in this period")
	wantPage(t, s.get(t, deskPage(s.telco, ""), auditor.session), http.StatusOK, "Client MTN", "/portal/desk/clients/", "supplies lines")
	peoplePage := s.get(t, deskPage(s.bank, "/people"), auditor.session)
	wantPage(t, peoplePage, http.StatusOK, admin.email)
	wantNone(t, peoplePage.Body.String(), stranger.email, "Send invitation", "/remove")
	keys := s.get(t, deskPage(s.bank, "/keys"), auditor.session)
	wantPage(t, keys, http.StatusOK, "mobile app", "lp_live_", "Active")
	wantNone(t, keys.Body.String(), "not theirs", live, "/revoke")
	wantPage(t, s.get(t, deskPage(s.bank, "/documents"), auditor.session), http.StatusOK, "No documents submitted yet")
	trail := s.get(t, deskPage(s.bank, "/audit"), auditor.session)
	wantPage(t, trail, http.StatusOK, "key.created", "entity.created", "Zainab Sule", "Service operator", "mobile app")
	wantNone(t, trail.Body.String(), "not theirs", live)
	wantPage(t, s.get(t, deskPage(s.bank, "/audit?after="+uuid.NewString()), auditor.session), http.StatusOK, "key.created")
	wantPage(t, s.get(t, deskPage(registry.Entity{ID: uuid.New()}, ""), auditor.session), http.StatusNotFound)
}

// The audit trail of an organisation is paged.
func TestTheTrailOfAnOrganisationIsPaged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	auditor := s.as(t, "auditor")
	for i := range 60 {
		must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.other.ID, Name: fmt.Sprintf("key %02d.", i), Mode: "test"}, access.Operator, uuid.Nil))(t)
	}
	first := s.get(t, deskPage(s.other, "/audit"), auditor.session)
	wantPage(t, first, http.StatusOK, "key 59.", "key 10.")
	wantNone(t, first.Body.String(), "key 09.", "First page")
	m := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(first.Body.String())
	if m == nil {
		t.Fatal("there is no next page")
	}
	second := s.get(t, m[1], auditor.session)
	wantPage(t, second, http.StatusOK, "key 09.", "key 00.", "entity.created", "First page")
	wantNone(t, second.Body.String(), "key 10.", "Next page")
}
