package portal_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
)

// After the sign-in everybody comes to a home of their own.
func TestEverybodyHasAHome(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for role, to := range map[string]string{"admin": "/portal/home", "member": "/portal/home", "telco": "/portal/home", "administrator": "/portal/desk/home", "reviewer": "/portal/desk/home", "auditor": "/portal/desk/home"} {
		v := s.as(t, role)
		wantGo(t, s.get(t, "/portal/", v.session), to)
		if got := s.get(t, to, v.session).Code; got != http.StatusOK {
			t.Errorf("the home of the %s is answered with %d", role, got)
		}
	}
}

// The home of a bank shows first what needs attention: keys that expire and no key at all;
// then how much it used, and its messages.
func TestHomeOfABankShowsWhatNeedsAttention(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	wantPage(t, s.get(t, "/portal/home", admin.session), http.StatusOK, "Harbour Bank", "Generate an API key to send a first request", "Answers today", "No messages.")
	must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "<i>shop", Mode: access.Live, Expires: access.Days(5)}, access.Operator, uuid.Nil))(t)
	s.notify(t, people.WebhookFailing, message.Content{Path: "/portal/webhooks"})
	page := s.get(t, "/portal/home", admin.session)
	wantPage(t, page, http.StatusOK, "Needs attention", "Key &lt;i&gt;shop expires in", "A webhook endpoint is failing", "1 active")
	body := page.Body.String()
	if attention, usage := strings.Index(body, "Needs attention"), strings.Index(body, "Answers today"); attention > usage {
		t.Error("what needs attention does not come first")
	}
	for range 4 {
		must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "many", Mode: access.Live, Expires: access.Days(5)}, access.Operator, uuid.Nil))(t)
	}
	page = s.get(t, "/portal/home", admin.session)
	wantPage(t, page, http.StatusOK, "5 keys expire within 30 days")
	if strings.Contains(page.Body.String(), "Key many") {
		t.Error("so many keys are named one by one")
	}
}

// The home of a telco shows the state of its supply, its last file, conflicts and its
// client.
func TestHomeOfATelcoShowsItsSupply(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	telco := s.as(t, "telco")
	wantPage(t, s.get(t, "/portal/home", telco.session), http.StatusOK,
		"Needs attention", "You have not supplied any lines yet", "Supply of MTN", "Never supplied", "Conflicts about your numbers", "None yet.", "API client", "entity:onboard, line:supply")
}

// The home of staff counts what waits for the visitor, in the page and in the menu. Nobody
// is asked to confirm what they requested, and who decides nothing has nothing to do.
func TestHomeOfStaffShowsWhatWaits(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	requester, second, auditor, reviewer := s.asAdministrator(t), s.asAdministrator(t), s.as(t, "auditor"), s.as(t, "reviewer")
	bank := newBank(t, s)
	must(s.Registry.Revoke(t.Context(), bank, "No licence", access.Operator, uuid.Nil))(t)
	must(s.Registry.Restore(t.Context(), bank, "Renewed", actorOf(requester), uuid.Nil))(t)
	const count = `1<span class="visually-hidden"> waiting</span>`
	wantPage(t, s.get(t, "/portal/desk/home", second.session), http.StatusOK, "Waiting for you", "Approvals and orders to confirm", count, "Answers today", "Recent activity", "Approval requested", "MTN", "Last checkpoint")
	if body := s.get(t, "/portal/desk/home", requester.session).Body.String(); strings.Contains(body, "Approvals and orders to confirm") || !strings.Contains(body, "You are up to date") {
		t.Error("the requester is asked to confirm the own request")
	}
	wantPage(t, s.get(t, "/portal/desk/home", auditor.session), http.StatusOK, "Your role reads everything and decides nothing.")
	if body := s.get(t, "/portal/desk/entities", auditor.session).Body.String(); strings.Contains(body, count) {
		t.Error("the menu of an auditor counts work")
	}
	if body := s.get(t, "/portal/desk/home", reviewer.session).Body.String(); strings.Contains(body, "Approvals and orders to confirm") {
		t.Error("a reviewer is asked to confirm what administrators confirm")
	}
}

// Usage by key shows what each key got, by status and error, and exports a row for each
// day; another organisation sees nothing of it.
func TestUsageByKeyIsShownAndExported(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, stranger := s.as(t, "member"), s.as(t, "stranger")
	key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "=shop", Mode: access.Live}, access.Operator, uuid.Nil))(t)
	m := tally.NewMeter(s.pool, "one", time.Now, slog.New(slog.DiscardHandler))
	m.RecordKey(s.bank.ID, key.ID, "live", "SWAPPED", 1234)
	m.RecordKey(s.bank.ID, key.ID, "live", "QUOTA_EXCEEDED", 7)
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantPage(t, s.get(t, "/portal/overview/keys", member.session), http.StatusOK, "=shop", "SWAPPED", "1,234", "/portal/requests?code=QUOTA_EXCEEDED")
	wantPage(t, s.get(t, "/portal/overview/keys?mode=test&days=365", member.session), http.StatusOK, "No requests in this period")
	wantPage(t, s.get(t, "/portal/overview/keys", stranger.session), http.StatusOK, "No requests in this period")
	wantPage(t, s.get(t, "/portal/export/usage.csv", member.session), http.StatusOK, "day,mode,keyId,keyName,outcome,count", key.ID.String()+",'=shop,SWAPPED,1234")
	if body := s.get(t, "/portal/export/usage.csv", stranger.session).Body.String(); strings.Contains(body, key.ID.String()) {
		t.Error("another organisation exports the usage")
	}
}

// The home of staff leads straight to each thing that waits: a held file, the request of
// somebody else, an alert, a document. Nobody is led to confirm what they requested.
func TestHomeOfStaffLeadsToWhatWaits(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	reviewer, second, boss := s.as(t, "reviewer"), s.as(t, "reviewer"), s.asAdministrator(t)
	_, id := s.held(t, s.as(t, "telco"))
	s.found(t, s.bank, "density", "stopped", nil)
	file := "/portal/desk/supply/imports/" + id.String()
	wantPage(t, s.get(t, "/portal/desk/home", reviewer.session), http.StatusOK, `href="`+file+`"`, "Snapshot of ")
	wantGo(t, s.post(t, file+"/confirm", reviewer.session, url.Values{"reason": {"A merger"}}), file)
	confirm := `href="` + approvalsPath + "/" + must(s.Approvals.List(t.Context(), false, 10))(t)[0].ID.String() + `/confirm"`
	wantPage(t, s.get(t, "/portal/desk/home", second.session), http.StatusOK, confirm, "Apply a held file: A merger")
	if strings.Contains(s.get(t, "/portal/desk/home", reviewer.session).Body.String(), confirm) {
		t.Error("the person who requested it is led to confirm it")
	}
	release := `href="/portal/desk/limits/` + s.bank.ID.String() + `/release"`
	wantPage(t, s.get(t, "/portal/desk/home", boss.session), http.StatusOK, release, "Harbour Bank: Stopped")
	if strings.Contains(s.get(t, "/portal/desk/home", second.session).Body.String(), release) {
		t.Error("a reviewer is led to a release, which is for administrators")
	}
}
