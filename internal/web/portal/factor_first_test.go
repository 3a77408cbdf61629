package portal_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

const factorFirst = "Set up two-factor authentication first"

func isFactorFirst(res *httptest.ResponseRecorder) bool {
	return res.Code == http.StatusForbidden && strings.Contains(res.Body.String(), factorFirst)
}

// unenrolled takes the second factor of an account away.
func (s *stack) unenrolled(t testing.TB, who visitor) {
	t.Helper()
	must(s.pool.Exec(t.Context(), `DELETE FROM second_factor WHERE account_id = $1`, who.id))(t)
}

// An account without a second factor is refused every form for which the table of package
// stepup requires one, and no other; with one, or where the settings require none, it is
// refused none.
func TestFormsNeedTwoFactorAuthenticationWhereTheTableSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ has, required bool }{"without": {false, true}, "with": {true, true}, "not required": {false, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			s.People.StaffFactor, s.People.EntityFactor = c.required, c.required
			boss, admin, telco := s.asAdministrator(t), s.as(t, "admin"), s.as(t, "telco")
			if !c.has {
				for _, who := range []visitor{boss, admin, telco} {
					s.unenrolled(t, who)
				}
			}
			visitors := map[string][]visitor{
				"entity": {admin}, "manager": {admin}, "operator": {telco}, "operator admin": {telco}, "person": {admin, boss}, "staff": {boss}, "decider": {boss}, "administrator": {boss},
			}
			refused := 0
			for _, row := range s.Rows() {
				for _, who := range visitors[row.Who] {
					if row.Action == "" {
						continue
					}
					got := isFactorFirst(s.post(t, concrete(row.Path), s.openFor(t, who), url.Values{}))
					want := c.required && !c.has && row.Action.NeedsFactor(who == boss) == stepup.Always
					if got != want {
						t.Errorf("%s by a %s: refused %v, want %v", row.Path, row.Who, got, want)
					}
					if got {
						refused++
					}
				}
			}
			if c.required && !c.has && refused < 45 {
				t.Errorf("only %d forms were refused", refused)
			}
		})
	}
}

// For what the table requires only of live things, a test needs no second factor: a developer
// begins with a password.
func TestLiveWebhooksNeedTwoFactorAuthentication(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.newcomer(t, "admin")
	forms := func(mode string) (answers []*httptest.ResponseRecorder) {
		add := s.post(t, "/portal/new-webhook", admin.session, url.Values{"name": {"app"}, "url": {"https://hooks.bank.example/"}, "mode": {mode}, "form": {"batch"}, "algorithm": {"hmac"}})
		made := must(s.webhooks.Create(t.Context(), feed.Owner{Entity: s.bank.ID, Mode: mode},
			webhook.NewForm{Name: "core", URL: "https://hooks.bank.example/", Form: webhook.Batch, Algorithm: "hmac"}, webhook.By{Actor: access.Operator}))(t)
		must(s.pool.Exec(t.Context(), `UPDATE hook_endpoint SET state = 'paused' WHERE id = $1`, made.ID))(t)
		at := "/portal/webhooks/" + made.ID.String()
		return []*httptest.ResponseRecorder{add, s.post(t, at+"/roll", admin.session, nil), s.post(t, at+"/resume", admin.session, nil)}
	}
	for _, res := range forms(access.Test) {
		if res.Code >= http.StatusBadRequest {
			t.Errorf("a test endpoint answered %d: %s", res.Code, res.Body)
		}
	}
	for i, res := range forms(access.Live) {
		if !isFactorFirst(res) {
			t.Errorf("change %d of a live endpoint answered %d: %s", i, res.Code, res.Body)
		}
	}
	s.enrolled(t, admin)
	for i, res := range forms(access.Live) {
		if res.Code >= http.StatusBadRequest {
			t.Errorf("change %d of a live endpoint, with a second factor, answered %d: %s", i, res.Code, res.Body)
		}
	}
}

// The page leads to the setup, which leads back to the page with the form.
func TestSetUpOfTwoFactorAuthenticationLeadsBack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.newcomer(t, "admin"), s.as(t, "member")
	const back = `name="to" value="/portal/team"`
	wantPage(t, s.post(t, "/portal/team/"+member.id.String()+"/invite", admin.session, nil), http.StatusForbidden, factorFirst, back)
	wantPage(t, s.post(t, "/portal/team", admin.session, url.Values{"email": {"new@people.example"}, "kind": {"member"}}), http.StatusForbidden, factorFirst, back)
	begun := s.post(t, "/portal/security/factor", admin.session, url.Values{"to": {"/portal/team"}})
	wantPage(t, begun, http.StatusOK, back)
	codes := s.post(t, "/portal/security/factor/confirm", admin.session, url.Values{"to": {"/portal/team"}, "otp": {codeAt(t, found(t, keyText, begun), 0)}})
	wantPage(t, codes, http.StatusOK, `href="/portal/team"`, "Continue")
	wantGo(t, s.post(t, "/portal/team", admin.session, url.Values{"email": {"new@people.example"}, "kind": {"member"}}), "/portal/team")
	other := s.newcomer(t, "admin")
	wantNone(t, s.post(t, "/portal/security/factor", other.session, url.Values{"to": {"https://elsewhere.example/"}}).Body.String(), "elsewhere")
}

// A member of a telco changes no line with a password alone, neither by a file nor by
// confirming a held one, and withdraws no file of others. It takes a second factor, a confirmed address, and the right that an
// admin has given, and takes away again.
func TestTelcoMemberNeedsTheRightAndAFactorToSupply(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "telco")
	page, id := s.held(t, admin)
	member := s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID})
	imports := func() (n int64) {
		if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM supply_import`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	lines0, imports0 := s.linesKnown(t), imports()
	refused := func(why string, texts ...string) {
		t.Helper()
		for _, res := range []*httptest.ResponseRecorder{
			s.sendLines(t, member, eventsForm, "", "", "x.csv", eventsFile), s.sendLines(t, member, snapshotForm, formTime(0), "", "x.csv", lines(41)),
			s.post(t, page+"/mean", member.session, url.Values{}), s.post(t, page+"/withdraw", member.session, url.Values{}),
		} {
			wantPage(t, res, http.StatusForbidden, texts...)
		}
		done := must(audit.List(t.Context(), s.pool, audit.Filter{Subject: id, Actor: member.id}))(t)
		if s.linesKnown(t) != lines0 || imports() != imports0 || len(done) != 0 {
			t.Errorf("%s: something has changed", why)
		}
		shown := s.get(t, "/portal/supply", member.session)
		wantPage(t, shown, http.StatusOK, "You cannot send files yet.")
		wantNone(t, shown.Body.String(), `action="/portal/supply/imports"`)
		wantNone(t, s.get(t, page, member.session).Body.String(), page+"/mean", page+"/withdraw")
	}
	right := func(given string) {
		t.Helper()
		wantGo(t, s.post(t, "/portal/team/"+member.id.String()+"/supply", admin.session, url.Values{"supplies": {given}}), "/portal/team")
	}
	refused("with a password alone", factorFirst)
	s.enrolled(t, member)
	refused("without the right", "Files of lines are sent by the admins")
	right("yes")
	must(s.pool.Exec(t.Context(), `UPDATE account SET verified_at = NULL, verified_by = NULL WHERE id = $1`, member.id))(t)
	refused("with an address that is not confirmed", "Follow the link in the e-mail that we sent to confirm it now")
	must(s.pool.Exec(t.Context(), `UPDATE account SET verified_at = now(), verified_by = 'email' WHERE id = $1`, member.id))(t)
	s.unenrolled(t, member)
	refused("without a second factor", factorFirst)
	s.enrolled(t, member)
	right("no")
	refused("without the right again", "Files of lines are sent by the admins")
	right("yes")
	wantPage(t, s.get(t, "/portal/team", admin.session), http.StatusOK, "Member, supply", "Withdraw supply")
	wantGo(t, s.post(t, page+"/mean", member.session, url.Values{}), page)
	wantGo(t, s.post(t, page+"/withdraw", member.session, url.Values{}), page)
	s.sent(t, member, eventsForm, "", eventsFile)
}

// The right to supply exists only in organisations that supply lines, and only admins give it.
func TestOnlyTelcoAdminsGiveTheRightToSupply(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	member := s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID})
	at := func(who uuid.UUID) string { return "/portal/team/" + who.String() + "/supply" }
	for _, who := range []visitor{s.as(t, "admin"), s.enrolled(t, member), s.as(t, "stranger")} {
		wantPage(t, s.post(t, at(member.id), who.session, url.Values{"supplies": {"yes"}}), http.StatusNotFound)
	}
	bank := s.as(t, "member")
	wantPage(t, s.post(t, at(bank.id), s.as(t, "telco").session, url.Values{"supplies": {"yes"}}), http.StatusNotFound)
	if list := must(s.Registry.Accounts(t.Context(), s.telco.ID))(t); slices.ContainsFunc(list, func(a registry.Account) bool { return a.Supplies }) {
		t.Error("somebody has the right")
	}
}
