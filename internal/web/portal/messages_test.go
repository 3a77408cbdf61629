package portal_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// notify notifies the admins of the bank.
func (s *stack) notify(t testing.TB, kind people.EmailKind, c message.Content) {
	t.Helper()
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		return s.People.NotifyAdmins(t.Context(), tx, people.Notice{Kind: kind, Content: c}, s.bank.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A person finds the own messages, each with a link that marks it as read and leads to
// its page. The menu counts the unread ones. A message of somebody else does not exist.
func TestPeopleReadTheirMessages(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, stranger := s.as(t, "admin"), s.as(t, "stranger")
	wantPage(t, s.get(t, "/portal/messages", admin.session), http.StatusOK, "No messages")
	s.notify(t, people.DocumentRejected, message.Content{About: "<i>Licence", Detail: "It has <b>expired</b>.", Path: "/portal/documents"})
	s.notify(t, people.ScanSlowed, message.Content{Path: "/portal/overview"})
	page := s.get(t, "/portal/messages", admin.session)
	wantPage(t, page, http.StatusOK, "A document was rejected", "&lt;i&gt;Licence", "It has &lt;b&gt;expired&lt;/b&gt;.", "Your organisation is slowed", `2<span class="visually-hidden"> waiting</span>`)
	var id uuid.UUID
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM message WHERE account_id = $1 AND kind = 'document_rejected'`, admin.id).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if got := s.get(t, "/portal/messages/"+id.String(), stranger.session).Code; got != http.StatusNotFound {
		t.Errorf("a message of somebody else is answered with %d", got)
	}
	wantGo(t, s.get(t, "/portal/messages/"+id.String(), admin.session), "/portal/documents")
	wantPage(t, s.get(t, "/portal/messages", admin.session), http.StatusOK, `1<span class="visually-hidden"> waiting</span>`)
	wantGo(t, s.post(t, "/portal/read-messages", admin.session, url.Values{}), "/portal/messages")
	if body := s.get(t, "/portal/messages", admin.session).Body.String(); strings.Contains(body, "visually-hidden\"> waiting") {
		t.Error("messages that are read still count")
	}
}

// A person who turns the e-mails of a kind off gets its messages in the portal only.
// The gravest kinds cannot be turned off.
func TestPeopleChooseTheirEmails(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	wantGo(t, s.post(t, "/portal/message-settings", admin.session, url.Values{"email": {"webhook_failing", "unknown"}}), "/portal/messages")
	for kind, emailed := range map[people.EmailKind]bool{people.DocumentRejected: false, people.WebhookFailing: true, people.ScanStopped: true} { //nolint:exhaustive // one of each choice
		s.emails.Delete(admin.id)
		s.notify(t, kind, message.Content{Path: "/portal/overview"})
		if _, sent := s.emails.Load(admin.id); sent != emailed {
			t.Errorf("%s: e-mail %v, want %v", kind, sent, emailed)
		}
	}
	if n := must(message.Unread(t.Context(), s.pool, admin.id))(t); n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
}

// The people of a slowed or stopped organisation see on every page what happened, why
// and what to do, and in the profile the rates that apply now. Others see nothing of it.
func TestRestrictedOrganisationIsTold(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Access.Limits.KeyRate, s.Access.Limits.EntityRate = 50, 500
	member, stranger := s.as(t, "member"), s.as(t, "stranger")
	alert := func(level string) {
		t.Helper()
		_, err := s.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget)
			VALUES ($1, $2, 'density', $3, now(), 'one', 2500, 0, 2100, 1000, 0)`, uuid.New(), s.bank.ID, level)
		if err != nil {
			t.Fatal(err)
		}
	}
	alert("slowed")
	wantPage(t, s.get(t, "/portal/keys", member.session), http.StatusOK, "Your organisation is slowed to a tenth", "2,100 of 2,500 different numbers are in dense blocks of 1,000", "ask the regulator for a release", "SCAN_SUSPECTED")
	wantPage(t, s.get(t, "/portal/profile", member.session), http.StatusOK, "5, slowed now", "50, slowed now", "500 after a release")
	alert("stopped")
	wantPage(t, s.get(t, "/portal/overview", member.session), http.StatusOK, "Your organisation is stopped: no request is answered")
	wantPage(t, s.get(t, "/portal/profile", member.session), http.StatusOK, "0, stopped now", "50 after a release")
	if body := s.get(t, "/portal/profile", stranger.session).Body.String(); strings.Contains(body, "SCAN_SUSPECTED") || strings.Contains(body, "slowed now") || strings.Contains(body, "stopped now") {
		t.Error("another organisation sees the restriction")
	}
}

// A stolen session of an administrator does not turn off the e-mail that says that its
// look-ups are used up.
func TestEmailAboutSpentLookUpsCannotBeTurnedOff(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	boss := s.asAdministrator(t)
	wantGo(t, s.post(t, "/portal/message-settings", boss.session, url.Values{}), "/portal/messages")
	if muted := must(message.Muted(t.Context(), s.pool, boss.id))(t); slices.Contains(muted, string(people.LookupsSpent)) {
		t.Errorf("muted: %v", muted)
	}
}
