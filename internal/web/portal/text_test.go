package portal_test

import (
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

// hostile is text that would run if it were taken for HTML.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`

// Text that people type is shown as text everywhere: what they stored, what they just
// sent, and the name of their browser.
func TestTextIsNeverHTML(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	i := must(s.People.CreateInvited(t.Context(), people.InviteForm{Email: "x@people.example", Kind: registry.AdminAccount, Entity: s.bank.ID}, access.Operator, uuid.Nil))(t)
	must(s.People.Accept(t.Context(), s.link(t, people.Invitation, i.ID), "Mallory "+hostile, password, access.Operator, uuid.Nil))(t)
	must(s.pool.Exec(t.Context(), `UPDATE entity SET name = $1 WHERE id = $2`, "Bank "+hostile, s.bank.ID))(t)
	session := s.open(t, access.SessionForm{Account: i.ID, Entity: s.bank.ID, Agent: hostile})

	fields := url.Values{}
	for _, name := range []string{"email", "name", "token", "password", "newPassword", "otp", "to", "pending", "back", "theme"} {
		fields.Set(name, hostile)
	}
	pages := map[string]string{
		"stored":        s.get(t, "/portal/security", session).Body.String(),
		"where to go":   s.get(t, "/portal/sign-in?to="+url.QueryEscape("/portal/"+hostile), "").Body.String(),
		"a path":        s.get(t, "/portal/"+url.PathEscape(hostile), session).Body.String(),
		"sign-in":       s.post(t, "/portal/sign-in", "", fields).Body.String(),
		"an invitation": s.post(t, "/portal/invitation", "", fields).Body.String(),
		"forgotten":     s.post(t, "/portal/forgotten", "", fields).Body.String(),
		"a reset":       s.post(t, "/portal/reset", "", fields).Body.String(),
		"confirming":    s.post(t, "/portal/confirm", "", fields).Body.String(),
		"a password":    s.post(t, "/portal/security/password", session, fields).Body.String(),
		"a factor":      s.post(t, "/portal/security/factor/confirm", session, fields).Body.String(),
	}
	for name, body := range pages {
		for _, raw := range []string{"<script>alert", "<img src=x"} {
			if strings.Contains(body, raw) {
				t.Errorf("%s: the page holds %s", name, raw)
			}
		}
	}
	if !strings.Contains(pages["stored"], "Mallory &#34;&gt;&lt;script&gt;") || !strings.Contains(pages["stored"], "Bank &#34;&gt;") {
		t.Error("the page does not show the names")
	}
}

var (
	inline  = regexp.MustCompile(`(?i)<script[^>]*>[^<]|\son[a-z]+=|\sstyle=|<style|javascript:`)
	address = regexp.MustCompile(`(?:src|href|action|content)="(https?:)?//[^"]*"`)
	labels  = regexp.MustCompile(`<(?:input|select|textarea)\s[^>]*?id="([^"]+)"`)
)

// A page has no inline script or style, no address outside the service, one h1 heading,
// a language, and a label for every field.
func TestPagesFollowTheHTMLRules(t *testing.T) {
	t.Parallel()
	for _, p := range newEverything(t).pages(t) {
		if m := inline.FindString(p.body); m != "" {
			t.Errorf("%s: the page holds %q", p.name, m)
		}
		if m := address.FindString(p.body); m != "" {
			t.Errorf("%s: the page names %q", p.name, m)
		}
		if strings.Count(p.body, "<h1") != 1 || !strings.Contains(p.body, `<html lang="en"`) {
			t.Errorf("%s: no heading, more than one, or no language", p.name)
		}
		for _, m := range labels.FindAllStringSubmatch(p.body, -1) {
			if !strings.Contains(p.body, `for="`+m[1]+`"`) {
				t.Errorf("%s: the field %s has no label", p.name, m[1])
			}
		}
	}
}

// Browsers cache the assets for ever, under names that change with their content, and
// the assets are small.
func TestAssetsAreCached(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	page := s.get(t, "/portal/security", admin.session).Body.String()
	total := len(page)
	list := regexp.MustCompile(`(?:src|href)="(/portal/assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(list) != 4 {
		t.Fatalf("the page loads %v", list)
	}
	for _, m := range list {
		r := newRequest(http.MethodGet, m[1], "", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		res := s.do(t, r)
		total += res.Body.Len()
		if res.Code != http.StatusOK || !strings.Contains(res.Header().Get("Cache-Control"), "immutable") || res.Header().Get("Content-Encoding") != "gzip" ||
			!regexp.MustCompile(`\.[0-9a-f]{12}\.`).MatchString(m[1]) {
			t.Errorf("%s answered %d, %v", m[1], res.Code, res.Header())
		}
		if res.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s sets a cookie", m[1])
		}
	}
	if total > 150_000 {
		t.Errorf("the first page needs %d bytes", total)
	}
}

// A flash message is found by its key: a forged cookie cannot show any other text. The
// theme is one of three.
func TestCookiesCarryNoText(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	r := newRequest(http.MethodGet, "/portal/sign-in", "", nil)
	r.AddCookie(&http.Cookie{Name: "__Host-lineproof-flash", Value: "Send your password to evil.example"})
	r.AddCookie(&http.Cookie{Name: "__Host-lineproof-theme", Value: "evil"})
	if body := s.do(t, r).Body.String(); strings.Contains(body, "evil") {
		t.Errorf("the page says what the cookie says:\n%s", body)
	}
	res := s.post(t, "/portal/theme", "", url.Values{"theme": {"dark"}, "back": {"//evil.example"}})
	wantGo(t, res, "/portal/")
	r = newRequest(http.MethodGet, "/portal/sign-in", "", nil)
	r.AddCookie(cookie(t, res, "__Host-lineproof-theme"))
	wantPage(t, s.do(t, r), http.StatusOK, `data-theme="dark"`)
}
