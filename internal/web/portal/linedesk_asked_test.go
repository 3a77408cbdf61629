package portal_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/privacy/whoasked"
)

const whoAsked = "/portal/desk/who-asked"

// newSearch requests a search for who asked about lifeNumber, and has it confirmed.
func newSearch(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	asker, other := s.asAdministrator(t), s.asAdministrator(t)
	s.independent(t)
	service := &whoasked.Service{Pool: s.pool, Files: s.Lines.Files, Registry: s.Registry, Now: time.Now}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	id := must(service.Request(t.Context(), whoasked.Request{Number: must(s.Region.ParseMobile(lifeNumber))(t), First: today.AddDate(0, 0, -1), Last: today, Reason: "Request 12 of 2026", By: actorOf(asker)}))(t)
	must(s.Approvals.Confirm(t.Context(), id, actorOf(other), uuid.Nil))(t)
	return id
}

// From a number's page an administrator requests the search for who asked; nobody runs it
// before another administrator confirms it, and the report then has the organisation and
// what it was told, with an entry in the trail.
func TestWhoAskedTakesTwoAdministrators(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, reviewer := s.asAdministrator(t), s.as(t, "reviewer")
	look := url.Values{"phoneNumber": {lifeNumber}, "reason": {lifeReason}}
	wantPage(t, s.post(t, numbersPath, admin.session, look), http.StatusOK, "Asked by", `action="`+whoAsked+`"`, `name="number" value="`+lifeNumber+`"`)
	if strings.Contains(s.post(t, numbersPath, reviewer.session, look).Body.String(), "Asked by") {
		t.Error("a reviewer is offered the search")
	}
	wantPage(t, s.get(t, whoAsked, reviewer.session), http.StatusNotFound)
	wantPage(t, s.get(t, whoAsked, admin.session), http.StatusOK, "No searches")
	today := time.Now().UTC().Format(time.DateOnly)
	form := url.Values{"number": {lifeNumber}, "from": {today}, "to": {today}, "askedReason": {"Request 12 of 2026"}}
	for field, value := range map[string]string{"number": "nonsense", "from": "", "to": "2020-01-01", "askedReason": "why"} {
		wrong := url.Values{}
		for name := range form {
			wrong.Set(name, form.Get(name))
		}
		wrong.Set(field, value)
		wantPage(t, s.post(t, whoAsked, admin.session, wrong), http.StatusUnprocessableEntity, `id="error-`+field+`"`)
	}
	wantGo(t, s.post(t, whoAsked, admin.session, form), whoAsked)
	id := must(s.Approvals.List(t.Context(), false, 1))(t)[0].ID.String()
	wantPage(t, s.get(t, whoAsked, admin.session), http.StatusOK, "Waiting for a second person", "Ending in 01")
	wantPage(t, s.post(t, whoAsked+"/"+id, admin.session, url.Values{}), http.StatusConflict)
	key, _ := s.madeKey(t, s.as(t, "admin"), "app", "live")
	s.asked(t, key, "", lifeNumber)
	s.confirmed(t, whoasked.Kind, "Number ending in 01")
	wantPage(t, s.get(t, whoAsked, admin.session), http.StatusOK, "Can be run until", "Run search")
	wantPage(t, s.post(t, whoAsked+"/"+id, reviewer.session, url.Values{}), http.StatusNotFound)
	wantPage(t, s.post(t, whoAsked+"/"+id, admin.session, url.Values{}), http.StatusOK, lifeNumber, "Harbour Bank", "#answer-")
	if n := s.rows(t, "journal.who_asked"); n != 1 {
		t.Errorf("%d runs are in the trail", n)
	}
	wantPage(t, s.post(t, whoAsked+"/"+uuid.NewString(), admin.session, url.Values{}), http.StatusNotFound)
}
