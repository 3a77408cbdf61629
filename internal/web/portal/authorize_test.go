package portal_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/web/portal"
)

var addr = netip.MustParseAddr("192.0.2.7")

// mayOpen says which roles have which right.
var mayOpen = map[string][]string{
	"anyone":         everybody,
	"person":         {"limited", "admin", "member", "telco", "administrator", "reviewer", "auditor"},
	"entity":         {"admin", "member", "telco"},
	"manager":        {"admin", "telco"},
	"operator":       {"telco"},
	"operator admin": {"telco"},
	"staff":          {"limited", "administrator", "reviewer", "auditor"},
	"decider":        {"administrator", "reviewer"},
	"administrator":  {"administrator"},
}

// concrete puts an id that does not exist into a path.
func concrete(path string) string {
	for {
		before, rest, ok := strings.Cut(path, "{")
		if !ok {
			return path
		}
		_, after, _ := strings.Cut(rest, "}")
		path = before + uuid.NewString() + after
	}
}

// Every route opens only to visitors with its right: a visitor without a session is
// sent to sign in, and for everybody else the page does not exist.
func TestRoutesOpenOnlyWithTheirRight(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	visitors := map[string]visitor{}
	for _, role := range everybody {
		visitors[role] = s.as(t, role)
	}
	visitors["administrator"] = s.promoted(t, visitors["administrator"])
	for _, row := range s.Rows() {
		for _, role := range everybody {
			who := visitors[role]
			if strings.Contains(row.Path, "sign-out") || strings.HasSuffix(row.Path, "sessions/end") && row.Method == http.MethodPost {
				who = s.as(t, role) // it ends their sessions
			}
			res := s.do(t, newRequest(row.Method, concrete(row.Path), who.session, url.Values{}))
			name, to := row.Method+" "+row.Path+" as "+role, res.Header().Get("Location")
			switch may := slices.Contains(mayOpen[row.Who], role); {
			case res.Code == http.StatusInternalServerError:
				t.Errorf("%s answered 500: %s", name, res.Body)
			case role == "nobody" && !may:
				if res.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/portal/sign-in") {
					t.Errorf("%s answered %d to %q, want the sign-in", name, res.Code, to)
				}
			case role == "limited" && row.Who != "anyone" && !row.Limited:
				if res.Code != http.StatusSeeOther || to != "/portal/security/factor" {
					t.Errorf("%s answered %d to %q, want the set-up of a second factor", name, res.Code, to)
				}
			case !may:
				if res.Code != http.StatusNotFound {
					t.Errorf("%s answered %d, want 404", name, res.Code)
				}
			case !strings.Contains(row.Path, "{") && res.Code == http.StatusNotFound:
				t.Errorf("%s answered 404", name)
			case res.Code == http.StatusSeeOther && strings.HasPrefix(to, "/portal/sign-in?"):
				t.Errorf("%s asks to sign in", name)
			}
		}
	}
}

// promoted makes an invited account an administrator, as a second person would.
func (s *stack) promoted(t testing.TB, p visitor) visitor {
	t.Helper()
	must(s.pool.Exec(t.Context(), `UPDATE account SET role = 'administrator' WHERE id = $1`, p.id))(t)
	return p
}

// Every response has the security headers, and no page is cached.
func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	for name, r := range map[string]*http.Request{
		"a page":                newRequest(http.MethodGet, "/portal/sign-in", "", nil),
		"a page of a person":    newRequest(http.MethodGet, "/portal/security", admin.session, nil),
		"a page that is not":    newRequest(http.MethodGet, "/portal/nowhere", "", nil),
		"a method that is not":  newRequest(http.MethodDelete, "/portal/sign-in", "", nil),
		"a redirect":            newRequest(http.MethodGet, "/portal/", "", nil),
		"a form that is wrong":  newRequest(http.MethodPost, "/portal/sign-in", "", url.Values{}),
		"a path with its dots":  newRequest(http.MethodGet, "/portal/../portal/sign-in", "", nil),
		"an asset that is none": newRequest(http.MethodGet, "/portal/assets/app.css", "", nil),
	} {
		h := s.do(t, r).Header()
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy lacks %s: %s", name, part, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %s", name, policy)
		}
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if h.Get(header) != want {
				t.Errorf("%s: %s is %q", name, header, h.Get(header))
			}
		}
	}
}

// A request that another site makes the browser send is not carried out, even with
// a valid session.
func TestCrossSiteRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, row := range s.Rows() {
		if row.Method == http.MethodGet {
			continue
		}
		admin := s.as(t, "admin")
		for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			r := newRequest(row.Method, concrete(row.Path), admin.session, url.Values{})
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set(header, value)
			wantPage(t, s.do(t, r), http.StatusForbidden, "another site")
		}
		wantPage(t, s.get(t, "/portal/security", admin.session), http.StatusOK)
	}
}

// A path in another spelling is not found, and never redirected with what was sent.
func TestUncleanPathsAreNotFound(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, path := range []string{"/portal//sign-in", "/portal/./sign-in", "/portal/sign-in/", "/portal//evil.example/", "/portal/sign-in/../security", "/portal/keys/%2e%2e"} {
		r := newRequest(http.MethodGet, "/portal/", "", nil)
		r.URL = must(url.Parse(path))(t)
		if res := s.do(t, r); res.Code != http.StatusNotFound {
			t.Errorf("%s answered %d to %q", path, res.Code, res.Header().Get("Location"))
		}
	}
	wantGo(t, s.get(t, "/portal", ""), "/portal/")
}

// An address in a request never redirects to another site.
func TestRedirectsStayInThePortal(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/portal/keys?mode=live": "/portal/keys?mode=live", "/portal/": "/portal/", "": "/portal/", "https://evil.example/portal/": "/portal/",
		"//evil.example/portal/": "/portal/", `/\evil.example`: "/portal/", "/portal/../api": "/portal/", `/portal/\evil`: "/portal/", "javascript:alert(1)": "/portal/",
		"/portal//evil.example": "/portal/", "/docs": "/portal/", "/portal/keys\r\nX: y": "/portal/",
	} {
		if got := portal.LocalPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

// The menu lists only pages that the visitor may open, and marks the current one.
func TestMenuListsOnlyPagesThatOpen(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	rows := s.Rows()
	for _, role := range everybody[2:] {
		who := s.as(t, role)
		body := s.get(t, "/portal/security", who.session).Body.String()
		if strings.Count(body, `href="/portal/security" aria-current="page"`) != 2 {
			t.Errorf("%s: the menu does not mark the page", role)
		}
		for _, path := range portal.MenuPaths() {
			listed := strings.Contains(body, `<a href="`+path+`"`)
			i := slices.IndexFunc(rows, func(row portal.Row) bool { return row.Method == http.MethodGet && row.Path == path })
			if listed && i < 0 {
				t.Errorf("%s: the menu lists %s, which is no page", role, path)
			}
			if res := s.get(t, path, who.session); i >= 0 && listed != (res.Code == http.StatusOK) {
				t.Errorf("%s: the menu lists %s: %t, and it answers %d", role, path, listed, res.Code)
			}
		}
	}
}
