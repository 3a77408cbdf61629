package portal_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/requestlog"
)

// refusedRequest stores a refused request of an organisation.
func (s *stack) refusedRequest(t testing.TB, entity, key uuid.UUID) uuid.UUID {
	t.Helper()
	log := requestlog.New(s.pool, s.People.Peppers, time.Now, slog.New(slog.DiscardHandler), nil)
	id := uuid.Must(uuid.NewV7())
	log.Add(requestlog.Refused{
		ID: id, Entity: entity, Key: key, Mode: "live", Route: "POST /api/v1/phone/api/phone-numbers/verify", Status: 400, Code: "INVALID_ARGUMENT", Correlator: "order<7>", Violations: []string{"since: INVALID_FORMAT"}, Number: "+2348031234567",
	})
	if err := log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return id
}

// The people of an organisation find its refused requests by error, key, number and
// correlator, read what each error means, and see none of another organisation.
func TestRequestsShowWhyTheyWereRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member, stranger := s.as(t, "member"), s.as(t, "stranger")
	wantPage(t, s.get(t, "/portal/requests", member.session), http.StatusOK, "No refused requests")
	key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "<b>app", Mode: access.Live}, access.Operator, uuid.Nil))(t)
	id := s.refusedRequest(t, s.bank.ID, key.ID)
	for _, query := range []string{"", "?code=INVALID_ARGUMENT", "?status=400", "?status=400&code=INVALID_ARGUMENT", "?key=" + key.ID.String(), "?correlator=" + url.QueryEscape("order<7>")} {
		wantPage(t, s.get(t, "/portal/requests"+query, member.session), http.StatusOK, "400 INVALID_ARGUMENT", "since: INVALID_FORMAT", "&lt;b&gt;app", id.String())
	}
	wantPage(t, s.post(t, "/portal/requests", member.session, url.Values{"phoneNumber": {"0803 123 4567"}}), http.StatusOK, id.String())
	wantPage(t, s.post(t, "/portal/requests", member.session, url.Values{"phoneNumber": {"0803 123 4568"}}), http.StatusOK, "No requests found")
	wantPage(t, s.post(t, "/portal/requests", member.session, url.Values{"phoneNumber": {"0803"}}), http.StatusUnprocessableEntity, "Write a phone number")
	wantPage(t, s.get(t, "/portal/requests?code=QUOTA_EXCEEDED", member.session), http.StatusOK, "No requests found")
	wantPage(t, s.get(t, "/portal/requests?status=429", member.session), http.StatusOK, "No requests found")
	wantPage(t, s.get(t, "/portal/requests?status=200", member.session), http.StatusUnprocessableEntity, "Choose one of the statuses")
	wantPage(t, s.get(t, "/portal/requests?code=NONSENSE", member.session), http.StatusUnprocessableEntity, "Choose one of the errors")
	wantGo(t, s.get(t, "/portal/requests?requestId="+id.String(), member.session), "/portal/requests/"+id.String())
	wantPage(t, s.get(t, "/portal/requests/"+id.String(), member.session), http.StatusOK, "What to do:", "order&lt;7&gt;", "Sending the same request again does not help")
	if got := s.get(t, "/portal/requests/"+id.String(), stranger.session).Code; got != http.StatusNotFound {
		t.Errorf("a request of another organisation is answered with %d", got)
	}
	if body := s.get(t, "/portal/requests", stranger.session).Body.String(); strings.Contains(body, id.String()) {
		t.Error("another organisation lists the request")
	}
}

// A search by number has pages, too: the next one is posted, so that no number is in an
// address, and every request is on one page.
func TestRequestsFoundByNumberArePaged(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member := s.as(t, "member")
	want := map[string]bool{}
	for range 55 {
		want[s.refusedRequest(t, s.bank.ID, uuid.New()).String()] = true
	}
	form := url.Values{"phoneNumber": {"0803 123 4567"}}
	for page := range 2 {
		body := s.post(t, "/portal/requests", member.session, form).Body.String()
		for id := range want {
			if strings.Contains(body, id) {
				delete(want, id)
			}
		}
		after := regexp.MustCompile(`name="after" value="([^"]+)"`).FindStringSubmatch(body)
		if (after != nil) != (page == 0) || strings.Contains(body, "?after=") {
			t.Fatalf("page %d has the next page %v", page+1, after)
		}
		if after != nil {
			form.Set("after", after[1])
		}
	}
	if len(want) != 0 {
		t.Errorf("%d requests are on no page", len(want))
	}
}
