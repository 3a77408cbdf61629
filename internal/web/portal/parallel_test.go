package portal_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/together"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const once, each, ended = together.Once, together.Each, together.Ended

// submission is a form with what it leaves in the audit trail.
type submission struct {
	at      together.Times
	action  string
	prepare func(t *testing.T, s *stack) *http.Request
}

// form prepares a form for a visitor and a path.
func form(who func(*testing.T, *stack) visitor, path func(*testing.T, *stack) string, fields ...string) func(*testing.T, *stack) *http.Request {
	return func(t *testing.T, s *stack) *http.Request {
		t.Helper()
		values := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			value := strings.ReplaceAll(fields[i+1], "NEW", uuid.NewString())
			values.Set(fields[i], value)
		}
		visitor, target := who(t, s), path(t, s)
		s.independent(t)
		return newRequest(http.MethodPost, target, visitor.session, values)
	}
}

func role(name string) func(*testing.T, *stack) visitor {
	return func(t *testing.T, s *stack) visitor { t.Helper(); return s.as(t, name) }
}

func boss(t *testing.T, s *stack) visitor { t.Helper(); return s.asAdministrator(t) }

func fixed(path string) func(*testing.T, *stack) string {
	return func(*testing.T, *stack) string { return path }
}

// ofNew creates something and returns a path with its id.
func ofNew(prefix, suffix string, create func(*testing.T, *stack) uuid.UUID) func(*testing.T, *stack) string {
	return func(t *testing.T, s *stack) string { t.Helper(); return prefix + create(t, s).String() + suffix }
}

func newMember(t *testing.T, s *stack) uuid.UUID { t.Helper(); return s.as(t, "member").id }

func newTelcoMember(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	return s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID}).id
}

func newReviewer(t *testing.T, s *stack) uuid.UUID { t.Helper(); return s.as(t, "reviewer").id }

func newGuest(g people.InviteForm) func(*testing.T, *stack) uuid.UUID {
	return func(t *testing.T, s *stack) uuid.UUID {
		t.Helper()
		g.Email = "guest-" + uuid.NewString() + "@people.example"
		if g.Kind == registry.MemberAccount {
			g.Entity = s.bank.ID
		}
		i := must(s.People.CreateInvited(t.Context(), g, access.Operator, uuid.Nil))(t)
		s.confirmInvited(t, i, g.Role)
		return i.ID
	}
}

func newBankKey(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	return must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "app", Mode: access.Live}, access.Operator, uuid.Nil))(t).ID
}

func newTestClient(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	return must(s.Access.CreateClient(t.Context(), access.ClientForm{Name: "T", Scopes: []string{"document:upload"}}, access.Operator, uuid.Nil))(t).ID
}

func newBank(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	return must(s.Registry.CreateRelyingParty(t.Context(), "Creek Bank", "RC 70", access.Operator, uuid.Nil))(t).ID
}

func newBlacklisting(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	number := fmt.Sprintf("+23480355%05d", rand.IntN(100_000))
	stranger := audit.Actor{Kind: audit.Account, ID: uuid.New()} // independent of the reviewer who confirms it
	return must((&order.Service{Supply: s.Lines}).Create(t.Context(), supply.Supplier{Actor: stranger}, order.Form{PhoneNumber: number, Action: "BLACKLIST", Note: "Case 12"}))(t).ID
}

func newRestoration(t *testing.T, s *stack) uuid.UUID {
	t.Helper()
	bank := newBank(t, s)
	must(s.Registry.Revoke(t.Context(), bank, "No licence", access.Operator, uuid.Nil))(t)
	return must(s.Registry.Restore(t.Context(), bank, "Renewed", actorOf(s.asAdministrator(t)), uuid.Nil))(t).Pending
}

// submissions has every form that changes something other than the visitor's own
// session.
func submissions() map[string]submission {
	admin, reviewer := role("admin"), role("reviewer")
	complete := func(t *testing.T, s *stack) visitor { t.Helper(); return s.enrolled(t, s.as(t, "admin")) } // as a live key needs it
	const bankPath = "/portal/desk/entities/"
	client := func(rest string) func(*testing.T, *stack) string {
		return ofNew("/portal/desk/clients/", rest, newTestClient)
	}
	entityOf := func(rest string, create func(*testing.T, *stack) uuid.UUID) func(*testing.T, *stack) string {
		return func(t *testing.T, s *stack) string {
			t.Helper()
			return strings.Replace(bankPath+s.bank.ID.String()+rest, "ID", create(t, s).String(), 1)
		}
	}
	member := newGuest(people.InviteForm{Kind: registry.MemberAccount})
	operator := func(t *testing.T, s *stack) visitor { t.Helper(); return s.enrolled(t, s.as(t, "telco")) }
	return map[string]submission{
		"/portal/new-key":                    {each, "key.created", form(admin, fixed("/portal/new-key"), "name", "app", "mode", "test")},
		"/portal/keys/{key}/roll":            {once, "key.rolled", form(complete, ofNew("/portal/keys/", "/roll", newBankKey), "overlap", "1")},
		"/portal/keys/{key}/revoke":          {once, "key.revoked", form(admin, ofNew("/portal/keys/", "/revoke", newBankKey), "confirm", "app")},
		"/portal/keys/{key}/report-leaked":   {each, "key.reported_leaked", form(admin, ofNew("/portal/keys/", "/report-leaked", newBankKey))},
		"/portal/new-webhook":                {each, "webhook.created", form(admin, fixed("/portal/new-webhook"), "name", "app", "url", "https://hooks.bank.example/", "mode", "live", "form", "batch", "algorithm", "hmac")},
		"/portal/webhooks/{webhook}/confirm": {once, "webhook.confirmed", form(admin, ofNew("/portal/webhooks/", "/confirm", newHook("unconfirmed")))},
		"/portal/webhooks/{webhook}/pause":   {once, "webhook.paused", form(admin, ofNew("/portal/webhooks/", "/pause", newHook("active")))},
		"/portal/webhooks/{webhook}/resume":  {once, "webhook.resumed", form(admin, ofNew("/portal/webhooks/", "/resume", newHook("paused")))},
		"/portal/webhooks/{webhook}/roll":    {once, "webhook.rolled", form(admin, ofNew("/portal/webhooks/", "/roll", newHook("active")))},
		"/portal/webhooks/{webhook}/replay":  {each, "webhook.replayed", form(admin, ofNew("/portal/webhooks/", "/replay", newHook("active")))},
		"/portal/webhooks/{webhook}/delete":  {once, "webhook.deleted", form(admin, ofNew("/portal/webhooks/", "/delete", newHook("active")))},
		"/portal/files/{job}/cancel":         {ended, "job.cancelled", form(admin, ofNew("/portal/files/", "/cancel", newFile))},
		"/portal/team":                       {each, "invitation.sent", form(admin, fixed("/portal/team"), "email", "NEW@people.example", "kind", "member")},
		"/portal/team/{account}/invite":      {each, "invitation.sent", form(admin, ofNew("/portal/team/", "/invite", member))},
		"/portal/team/{account}/role":        {once, "account.kind_given", form(admin, ofNew("/portal/team/", "/role", newMember), "kind", "admin")},
		"/portal/team/{account}/keys":        {once, "account.key_right", form(admin, ofNew("/portal/team/", "/keys", newMember), "makesKeys", "yes")},
		"/portal/team/{account}/supply":      {once, "account.supply_right", form(operator, ofNew("/portal/team/", "/supply", newTelcoMember), "supplies", "yes")},
		"/portal/team/{account}/remove":      {once, "account.disabled", form(admin, ofNew("/portal/team/", "/remove", newMember))},
		"/portal/desk/new-client":            {each, "client.created", form(boss, fixed("/portal/desk/new-client"), "name", "T", "scope", "document:upload")},
		"/portal/desk/new-entity":            {once, "entity.created", form(boss, fixed("/portal/desk/new-entity"), "name", "Creek Bank", "cac", "RC-700", "email", "NEW@creek.example")},
		"/portal/desk/limits/{entity}":       {each, "entity.limits_set", form(boss, ofNew("/portal/desk/limits/", "", newBank), "rate", "0.5")},
		"/portal/desk/staff":                 {each, "invitation.sent", form(boss, fixed("/portal/desk/staff"), "email", "NEW@regulator.example", "role", "reviewer")},
		"/portal/desk/staff/{account}/invite": {each, "invitation.sent", form(boss, ofNew("/portal/desk/staff/", "/invite",
			newGuest(people.InviteForm{Kind: registry.StaffAccount, Role: "reviewer"})))},
		"/portal/desk/staff/{account}/role":   {once, "approval.asked", form(boss, ofNew("/portal/desk/staff/", "/role", newReviewer), "role", "administrator", "reason", "Moves up")},
		"/portal/desk/staff/{account}/remove": {once, "account.disabled", form(boss, ofNew("/portal/desk/staff/", "/remove", newReviewer))},
		"/portal/desk/staff/{account}/factor": {once, "approval.asked", form(boss, ofNew("/portal/desk/staff/", "/factor", func(t *testing.T, s *stack) uuid.UUID {
			t.Helper()
			who := s.as(t, "reviewer")
			s.enrol(t, who)
			return who.id
		}), "reason", "Lost the phone")},
		"/portal/desk/staff/{account}/unlock":   {once, "factor.unlocked", form(boss, ofNew("/portal/desk/staff/", "/unlock", newLocked("reviewer")))},
		"/portal/team/{account}/unlock":         {once, "factor.unlocked", form(admin, ofNew("/portal/team/", "/unlock", newLocked("member")))},
		"/portal/desk/clients/{client}/secrets": {once, "client.secret_added", form(boss, client("/secrets"))},
		"/portal/desk/clients/{client}/suspend": {once, "client.suspended", form(boss, client("/suspend"))},
		"/portal/desk/clients/{client}/revoke":  {once, "client.revoked", form(boss, client("/revoke"), "confirm", "T")},
		"/portal/desk/clients/{client}/resume": {once, "client.resumed", form(boss, func(t *testing.T, s *stack) string {
			t.Helper()
			id := newTestClient(t, s)
			if err := s.Access.SuspendClient(t.Context(), id, access.Operator, uuid.Nil); err != nil {
				t.Fatal(err)
			}
			return "/portal/desk/clients/" + id.String() + "/resume"
		})},
		"/portal/desk/clients/{client}/secrets/{secret}/revoke": {once, "client.secret_revoked", form(boss, func(t *testing.T, s *stack) string {
			t.Helper()
			id := newTestClient(t, s)
			return "/portal/desk/clients/" + id.String() + "/secrets/" + must(s.Access.Secrets(t.Context(), id))(t)[0].ID.String() + "/revoke"
		})},
		"/portal/desk/entities/{entity}/suspend": {once, "entity.suspended", form(boss, ofNew(bankPath, "/suspend", newBank), "reason", "Late")},
		"/portal/desk/entities/{entity}/revoke":  {once, "entity.revoked", form(boss, ofNew(bankPath, "/revoke", newBank), "reason", "No licence", "confirm", "Creek Bank")},
		"/portal/desk/entities/{entity}/restore": {once, "approval.asked", form(boss, ofNew(bankPath, "/restore", func(t *testing.T, s *stack) uuid.UUID {
			t.Helper()
			bank := newBank(t, s)
			must(s.Registry.Revoke(t.Context(), bank, "No licence", access.Operator, uuid.Nil))(t)
			return bank
		}), "reason", "Renewed")},
		"/portal/desk/entities/{entity}/people":                  {once, "approval.asked", form(boss, entityOf("/people", newMember), "email", "NEW@bank.example", "kind", "member")},
		"/portal/desk/entities/{entity}/people/{account}/invite": {once, "approval.asked", form(boss, entityOf("/people/ID/invite", member))},
		"/portal/desk/entities/{entity}/people/{account}/remove": {once, "account.disabled", form(boss, entityOf("/people/ID/remove", newMember))},
		"/portal/desk/entities/{entity}/keys/{key}/revoke":       {once, "key.revoked", form(boss, entityOf("/keys/ID/revoke", newBankKey), "confirm", "app")},
		"/portal/desk/approvals/{approval}/confirm":              {once, "approval.given", form(boss, ofNew("/portal/desk/approvals/", "/confirm", newRestoration))},
		"/portal/desk/approvals/{approval}/refuse":               {once, "approval.refused", form(boss, ofNew("/portal/desk/approvals/", "/refuse", newRestoration), "reason", "It is not needed")},
		"/portal/desk/approvals/{approval}/break-glass": {once, "approval.break_glass", func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			asker, bank := boss(t, s), newBank(t, s)
			must(s.Registry.Revoke(t.Context(), bank, "No licence", access.Operator, uuid.Nil))(t)
			id := must(s.Registry.Restore(t.Context(), bank, "Renewed", actorOf(asker), uuid.Nil))(t).Pending
			return newRequest(http.MethodPost, "/portal/desk/approvals/"+id.String()+"/break-glass", asker.session, url.Values{"reason": {"Nobody is there"}})
		}},
		"/portal/desk/entities/{entity}/mandates": {each, "mandate.added", form(boss, ofNew(bankPath, "/mandates", newBank), "principal", "Shop", "document", "letter 1", "until", "2099-01-01T00:00")},
		"/portal/desk/entities/{entity}/mandates/{mandate}/end": {once, "mandate.ended", form(boss, func(t *testing.T, s *stack) string {
			t.Helper()
			id := must(s.Access.AddMandate(t.Context(), access.MandateForm{Entity: s.bank.ID, Principal: "Shop", Document: "letter 1", Until: time.Now().Add(time.Hour)}, access.Operator, uuid.Nil))(t)
			return bankPath + s.bank.ID.String() + "/mandates/" + id.String() + "/end"
		})},
		"/portal/desk/entities/{entity}/documents/require": {once, "entity.documents_required", form(boss, ofNew(bankPath, "/documents/require", newBank), "reason", "A new licence", "required", "yes")},
		"/portal/desk/look-ups":                            {once, "approval.asked", form(reviewer, fixed("/portal/desk/look-ups"), "reason", "Case 12")},
		"/portal/desk/who-asked":                           {each, "approval.asked", form(boss, fixed("/portal/desk/who-asked"), "number", "+2348035550001", "from", "2026-01-01", "to", "2026-02-01", "askedReason", "Request 12 of 2026")},
		"/portal/desk/who-asked/{approval}":                {each, "journal.who_asked", form(boss, ofNew("/portal/desk/who-asked/", "", newSearch))},
		"/portal/desk/policy":                              {each, "approval.asked", form(boss, fixed("/portal/desk/policy"), "swappedHours", "120", "note", "Case 12")},
		"/portal/desk/orders":                              {each, "order.given", form(reviewer, fixed("/portal/desk/orders"), "phoneNumber", "+2348035550001", "action", "BLACKLIST", "note", "Case 12")},
		"/portal/desk/orders/{order}/confirm":              {once, "order.confirmed", form(reviewer, ofNew("/portal/desk/orders/", "/confirm", newBlacklisting))},
		"/portal/desk/orders/{order}/refuse":               {once, "order.refused", form(reviewer, ofNew("/portal/desk/orders/", "/refuse", newBlacklisting), "reason", "It is not needed")},
		"/portal/desk/documents/{document}/review": {once, "document.accepted", form(reviewer, func(t *testing.T, s *stack) string {
			t.Helper()
			return "/portal/desk/documents/" + s.uploadedAs(t, s.as(t, "admin"), "cac.pdf", pdf) + "/review"
		}, "decision", "accepted")},
		"/portal/desk/documents/{document}/original": {once, "approval.asked", form(boss, func(t *testing.T, s *stack) string {
			t.Helper()
			return "/portal/desk/documents/" + s.uploadedAs(t, s.as(t, "admin"), "cac.pdf", pdf) + "/original"
		}, "recipient", recipient, "originalReason", "Case 12")},
		"/portal/desk/documents/{document}/original/{approval}": {each, "document.original", func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			asker := boss(t, s)
			take := s.newOriginal(t, asker, s.uploadedAs(t, s.as(t, "admin"), "cac.pdf", pdf))
			s.independent(t)
			must(s.Approvals.Confirm(t.Context(), uuid.MustParse(take[len(take)-36:]), actorOf(s.asAdministrator(t)), uuid.Nil))(t)
			return newRequest(http.MethodPost, take, asker.session, url.Values{})
		}},
		"/portal/desk/limits/{entity}/release": {once, "approval.asked", form(boss, func(t *testing.T, s *stack) string {
			t.Helper()
			bank := must(s.Registry.CreateRelyingParty(t.Context(), "Lagoon Bank", "RC 71", access.Operator, uuid.Nil))(t)
			s.found(t, bank, "density", "slowed", nil)
			return "/portal/desk/limits/" + bank.ID.String() + "/release"
		}, "reason", "Payroll", "quiet", "24")},
		"/portal/desk/watch/files/{job}/release":       {once, "approval.asked", form(boss, heldFilePath("/release"), "reason", "Old customers")},
		"/portal/desk/watch/files/{job}/reject":        {once, "job.rejected", form(boss, heldFilePath("/reject"), "reason", "A scan")},
		"/portal/desk/watch/{list}/release":            {once, "approval.asked", form(boss, heldListPath("/release"), "reason", "Old customers")},
		"/portal/desk/watch/{list}/reject":             {once, "watch.rejected", form(boss, heldListPath("/reject"), "reason", "Numbers at random")},
		"/portal/desk/supply/imports/{import}/confirm": {once, "approval.asked", form(reviewer, heldImport("/portal/desk/supply/imports/", "/confirm"), "reason", "A merger")},
		"/portal/desk/supply/imports/{import}/cancel":  {once, "import.cancelled", form(reviewer, heldImport("/portal/desk/supply/imports/", "/cancel"))},
		"/portal/desk/accept-topic/{network}/{topic}": {once, "approval.asked", form(reviewer, func(t *testing.T, s *stack) string {
			t.Helper()
			s.disbelieve(t)
			return "/portal/desk/accept-topic/MTN/SIM"
		}, "reason", "The clock is corrected")},
		"/portal/supply/imports/{import}/mean":     {each, "import.meant", form(role("telco"), heldImport("/portal/supply/imports/", "/mean"))},
		"/portal/supply/imports/{import}/withdraw": {once, "import.cancelled", form(role("telco"), heldImport("/portal/supply/imports/", "/withdraw"))},
		"/portal/client/secrets":                   {once, "client.secret_added", form(operator, ownSecret("/portal/client/secrets"))},
		"/portal/client/secrets/{secret}/revoke":   {once, "client.secret_revoked", form(operator, ownSecret("/portal/client/secrets/ID/revoke"))},
		"/portal/security/factor":                  {each, "factor.begun", form(func(t *testing.T, s *stack) visitor { t.Helper(); return s.newcomer(t, "admin") }, fixed("/portal/security/factor"))},
		"/portal/security/password":                {once, "password.changed", form(admin, fixed("/portal/security/password"), "password", password, "newPassword", freshPassword)},
		"/portal/security/sessions/end":            {ended, "session.all_ended", form(admin, fixed("/portal/security/sessions/end"))},
		"/portal/sign-out":                         {ended, "session.ended", form(admin, fixed("/portal/sign-out"))},
	}
}

// heldListPath creates a watch-list that waits for staff, and returns the address of a decision.
func heldListPath(decision string) func(*testing.T, *stack) string {
	return func(t *testing.T, s *stack) string {
		t.Helper()
		return "/portal/desk/watch/" + s.heldList(t, s.bank, "customers").String() + decision
	}
}

// heldFilePath creates a file that waits for staff, and returns the address of a decision.
func heldFilePath(decision string) func(*testing.T, *stack) string {
	return func(t *testing.T, s *stack) string {
		t.Helper()
		return "/portal/desk/watch/files/" + s.heldFile(t).String() + decision
	}
}

// ownSecret leaves the telco's client one secret, and returns a path with its id.
func ownSecret(path string) func(*testing.T, *stack) string {
	return func(t *testing.T, s *stack) string {
		t.Helper()
		id, list := s.telcoClient(t), must(s.Access.Secrets(t.Context(), s.telcoClient(t)))(t)
		if len(list) == 0 {
			owner := s.enrolled(t, s.as(t, "telco"))
			must(s.Access.AddOwnSecret(t.Context(), id, s.telco.ID, actorOf(owner), uuid.Nil))(t)
			list = must(s.Access.Secrets(t.Context(), id))(t)
		}
		for _, more := range list[1:] {
			must(0, s.Access.RevokeSecret(t.Context(), id, more.ID, access.Operator, uuid.Nil))(t)
		}
		return strings.Replace(path, "ID", list[0].ID.String(), 1)
	}
}

// newLocked creates an account whose two-factor authentication is locked.
func newLocked(role string) func(*testing.T, *stack) uuid.UUID {
	return func(t *testing.T, s *stack) uuid.UUID {
		t.Helper()
		who := s.as(t, role)
		s.enrol(t, who)
		must(s.pool.Exec(t.Context(), `UPDATE second_factor SET wrong_codes = 100, locked_at = now() WHERE account_id = $1`, who.id))(t)
		return who.id
	}
}

// heldImport creates an import that waits for a decision.
func heldImport(prefix, suffix string) func(*testing.T, *stack) string {
	return func(t *testing.T, s *stack) string {
		t.Helper()
		must(s.pool.Exec(t.Context(), `UPDATE supply_import SET state = 'cancelled' WHERE state IN ('held', 'checking', 'applying')`))(t)
		page := s.sent(t, s.as(t, "telco"), snapshotForm, formTime(0), lines(1))
		id := uuid.MustParse(page[strings.LastIndex(page, "/")+1:])
		must(s.pool.Exec(t.Context(), `UPDATE supply_import SET state = 'held', reason = 'too many lines' WHERE uid = $1`, id))(t)
		return prefix + id.String() + suffix
	}
}

// elsewhere are forms that the same test of the API sends to the same methods, or
// that change nothing.
var elsewhere = []string{
	"/portal/read-messages", "/portal/message-settings", "/portal/requests", "/portal/journal", "/portal/corrections", "/portal/desk/audit",
	"/portal/theme", "/portal/sign-in", "/portal/sign-in/code", "/portal/invitation", "/portal/forgotten", "/portal/reset", "/portal/confirm",
	"/portal/security/sessions/{session}/end", "/portal/security/factor/confirm", "/portal/security/factor/remove", "/portal/security/prove", "/portal/try", "/portal/documents",
	"/portal/webhooks/{webhook}/test", "/portal/webhooks/{webhook}/again",
	"/portal/files",
	"/portal/desk/journal", "/portal/desk/journal/record", "/portal/desk/numbers", "/portal/desk/numbers/order", "/portal/desk/new-policy", "/portal/desk/new-plan", "/portal/desk/plan", "/portal/supply/imports",
}

// The same form, sent 32 times at once, answers nothing but success and errors of the
// visitor, and takes effect once, or once for every success. LINEPROOF_E2E_ROUNDS says
// how often each is sent (1).
func TestParallelFormsTakeEffectOnce(t *testing.T) {
	t.Parallel()
	all, s := submissions(), newStack(t)
	for _, row := range s.Rows() {
		if _, known := all[row.Path]; !known && row.Method == http.MethodPost && !slices.Contains(elsewhere, row.Path) {
			t.Errorf("this test does not know %s", row.Path)
		}
	}
	s.People.Passwords = secret.NewPasswords(s.People.Peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 64)
	s.Registry.Passwords = s.People.Passwords
	for range together.Rounds(t, 1) {
		for _, path := range slices.Sorted(maps.Keys(all)) {
			f := all[path]
			r := f.prepare(t, s)
			before := s.rows(t, f.action)
			answers := together.Send(t, s.handler, r)
			together.Judge(t, path, f.at, answers, accepted, s.rows(t, f.action)-before)
		}
	}
}

// accepted reports whether a form was accepted; a visitor whose session has ended is
// sent to the page for signing in.
func accepted(res *httptest.ResponseRecorder) bool {
	return res.Code < http.StatusBadRequest && !strings.HasPrefix(res.Header().Get("Location"), "/portal/sign-in?")
}
