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
