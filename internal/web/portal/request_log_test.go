package portal_test

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// After a timeout or a panic the visitor gets an error page, without the text of the
// error.
func TestErrorsAreShownAsPages(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	res := s.do(t, newRequest(http.MethodGet, "/portal/security", admin.session, nil).WithContext(ctx))
	wantPage(t, res, http.StatusServiceUnavailable, "<h1", "Try again")
	if res.Header().Get("Retry-After") == "" || strings.Contains(res.Body.String(), "context") {
		t.Errorf("the page is %s", res.Body)
	}

	s.Access = nil // whatever is asked of it panics
	res = s.get(t, "/portal/security", admin.session)
	wantPage(t, res, http.StatusInternalServerError, "<h1", res.Header().Get("X-Request-Id"))
	if strings.Contains(res.Body.String(), "nil pointer") {
		t.Errorf("the page tells what broke: %s", res.Body)
	}
}

// Only a listed proxy can name the client's address.
func TestOnlyProxiesNameTheClientAddress(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	admin := s.newcomer(t, "admin")
	for remote, want := range map[string]string{"10.1.1.1:99": "203.0.113.9", "198.51.100.4:99": "198.51.100.4"} {
		r := newRequest(http.MethodPost, "/portal/sign-in", "", signInForm(admin.email, password))
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", "192.0.2.1, 203.0.113.9")
		res := s.do(t, r)
		wantGo(t, res, "/portal/")
		wantPage(t, s.get(t, "/portal/security", cookie(t, res, sessionCookie).Value), http.StatusOK, want)
	}
}
