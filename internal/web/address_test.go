package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/lineproof/lineproof/internal/web"
)

// Only a listed proxy may say where a client is, and only for the last hop that
// is not a proxy itself.
func TestOnlyProxiesNameTheClient(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct {
		remote, want string
		forwarded    []string
	}{
		{"198.51.100.4:99", "198.51.100.4", []string{"192.0.2.1"}},
		{"10.1.1.1:99", "203.0.113.9", []string{"192.0.2.1, 203.0.113.9"}},
		{"10.1.1.1:99", "203.0.113.9", []string{"192.0.2.1", "203.0.113.9, 10.2.2.2"}},
		{"10.1.1.1:99", "10.1.1.1", nil},
		{"10.1.1.1:99", "10.1.1.1", []string{"192.0.2.1, unknown"}},
		{"10.1.1.1:99", "10.2.2.2", []string{"10.2.2.2"}},
		{"[::ffff:10.1.1.1]:99", "2001:db8::7", []string{"2001:db8::7"}},
		{"@", "invalid IP", nil},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.remote
		for _, value := range c.forwarded {
			r.Header.Add("X-Forwarded-For", value)
		}
		if got := web.ClientAddr(r, proxies); got.String() != c.want {
			t.Errorf("%s with %v is %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}

// A response over TLS tells browsers to use nothing else, also where a listed proxy
// received the request over TLS. Nobody else can say so.
func TestStrictTransportOverTLSOnly(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	h := web.StrictTransport(http.NotFoundHandler(), proxies, false)
	below := httptest.NewRecorder()
	web.StrictTransport(http.NotFoundHandler(), proxies, true).ServeHTTP(below, httptest.NewRequest(http.MethodGet, "https://x/", nil))
	if got := below.Header().Get("Strict-Transport-Security"); got != "max-age=31536000; includeSubDomains" {
		t.Errorf("for the hosts below: %q", got)
	}
	for name, c := range map[string]struct {
		target, remote, forwarded string
		want                      string
	}{
		"TLS":                   {"https://x/", "192.0.2.1:9", "", "max-age=31536000"},
		"plain":                 {"http://x/", "192.0.2.1:9", "", ""},
		"proxy with TLS":        {"http://x/", "10.1.1.1:9", "https", "max-age=31536000"},
		"proxy without TLS":     {"http://x/", "10.1.1.1:9", "http", ""},
		"nobody's word for TLS": {"http://x/", "192.0.2.1:9", "https", ""},
	} {
		r, res := httptest.NewRequest(http.MethodGet, c.target, nil), httptest.NewRecorder()
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-Proto", c.forwarded)
		}
		h.ServeHTTP(res, r)
		if got := res.Header().Get("Strict-Transport-Security"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
