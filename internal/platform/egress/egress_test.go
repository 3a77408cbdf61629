package egress_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/egress"
)

// network is a receiver that counts as public, at 127.0.0.2, and an internal listener
// that nothing may reach, at every other address of this machine and the same port.
type network struct {
	*egress.Client

	dns      *dnsServer
	port     string
	handle   atomic.Pointer[http.HandlerFunc]
	public   atomic.Int64 // requests to the receiver
	internal atomic.Int64 // connections to the internal listener
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{dns: startDNS(t)}
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.public.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of a connection only afterwards
		if h := n.handle.Load(); h != nil {
			(*h)(w, r)
		}
	}))
	_ = receiver.Listener.Close()
	receiver.Listener, n.port = n.listen(t)
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate()) // of example.com and the names below it
	n.Client = egress.New(egress.Options{Roots: roots, Resolver: n.dns.resolver()})
	n.Permit(netip.MustParsePrefix("127.0.0.2/32"), n.port)
	t.Cleanup(n.Close)
	return n
}

// listen listens at 127.0.0.2, and counts the connections to the other addresses at the
// same port.
func (n *network) listen(t *testing.T) (net.Listener, string) {
	t.Helper()
	for range 20 {
		public, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(public.Addr().String())
		if n.trap(t, net.JoinHostPort("127.0.0.1", port)) && n.trap(t, net.JoinHostPort("::1", port)) {
			return public, port
		}
		_ = public.Close()
	}
	t.Fatal("no port is free at all addresses")
	return nil, ""
}

func (n *network) trap(t *testing.T, address string) bool {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		return false
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			n.internal.Add(1)
			_ = conn.Close()
		}
	}()
	return true
}

func (n *network) post(ctx context.Context, host string) (egress.Answer, error) {
	return n.Post(ctx, "https://"+host+":"+n.port+"/hook", false, map[string]string{"webhook-id": "1-1"}, []byte("{}"))
}

// spellings are hosts that lead, or that some resolver could take for ones that lead, to
// this machine, to its network or to the metadata of a cloud.
var spellings = []string{
	"127.0.0.1", "127.1", "127.0.1", "127.0.0.3", "127.255.255.254", "0", "0.0.0.0", "0x7f.1", "0x7f.0.0.1", "0x7f000001", "0X7F.0.0.1", "2130706433", "017700000001", "0177.0.0.1",
	"0177.0.0.01", "00000177.1", "127.0.0.1.", "127.000.000.001", "localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "ip6-localhost", "foo.localhost",
	"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[0000:0000:0000:0000:0000:ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
	"[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]",
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.100.100.200", "169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376",
	"[::ffff:169.254.169.254]", "192.0.0.192", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "168.63.129.16",
	"①②⑦.⓪.⓪.①", "127。0。0。1", "127.0.0.1%00.example.com", "example.com@127.0.0.1", "127.0.0.1%23.example.com", "127%2e0%2e0%2e1", "1.1.1.1 &@127.0.0.1#",
}

// No spelling of an internal address is accepted as an address, and none reaches the
// internal listener even if it were; the receiver on the public address is reached.
func TestNoSpellingReachesTheInternalListener(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.dns.set("example.com", "127.0.0.2")
	if len(spellings) < 60 {
		t.Fatalf("only %d spellings", len(spellings))
	}
	for _, host := range spellings {
		for _, address := range []string{"https://" + host + "/hook", "https://" + host + ":443/hook", "https://" + host + ":8443/"} {
			if _, problem := egress.CheckURL(address, false); problem == "" && !isName(host) {
				t.Errorf("%s is accepted as an address", address)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // nothing is to be reached
		if answer, err := n.post(ctx, host); err == nil {
			t.Errorf("%s answered %d", host, answer.Status)
		}
		cancel()
	}
	// The same addresses, behind a name.
	behind := 0
	for _, host := range spellings {
		if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			behind++
			n.dns.set("example.com", a.String())
			if _, err := n.post(t.Context(), "example.com"); !errors.Is(err, egress.ErrBlocked) {
				t.Errorf("a name that leads to %s: %v", a, err)
			}
		}
	}
	if n.internal.Load() != 0 || n.public.Load() != 0 {
		t.Errorf("the internal listener got %d connections, the receiver %d requests", n.internal.Load(), n.public.Load())
	}
	// The control: what is permitted is reached, and the listener does notice connections.
	n.dns.set("example.com", "127.0.0.2")
	if answer, err := n.post(t.Context(), "example.com"); err != nil || answer.Status != http.StatusOK || n.public.Load() != 1 {
		t.Errorf("the permitted receiver: %+v, %v", answer, err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:"+n.port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	for deadline := time.Now().Add(5 * time.Second); n.internal.Load() == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	t.Logf("%d spellings, %d addresses behind a name", len(spellings), behind)
	if n.internal.Load() != 1 {
		t.Error("the internal listener does not count")
	}
}

// isName reports whether a spelling is a name that only a resolver could refuse.
func isName(host string) bool { return host == "localhost.localdomain" || host == "foo.localhost" }

// A name that leads to a public address at one look-up and to an internal one at the
// next reaches the receiver or nothing, in whatever order, and also with both at once.
func TestNameThatChangesReachesNothingInternal(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	reached := 0
	for i, answers := range [][]string{
		{"127.0.0.2", "127.0.0.1"}, {"127.0.0.1", "127.0.0.2"}, {"127.0.0.2", "::1"}, {"127.0.0.2 127.0.0.1"}, {"127.0.0.1 127.0.0.2"}, {"::1 127.0.0.2"}, {"127.0.0.2", "169.254.169.254"},
	} {
		name := fmt.Sprintf("changes%d.example.com", i)
		n.dns.set(name, answers...)
		for range 4 {
			switch _, err := n.post(t.Context(), name); {
			case err == nil:
				reached++
			case !errors.Is(err, egress.ErrBlocked):
				t.Errorf("%v: %v", answers, err)
			}
			n.Close() // the next request resolves anew
		}
		if n.dns.asked(name) < 4 {
			t.Errorf("%s was looked up %d times", name, n.dns.asked(name))
		}
	}
	if n.internal.Load() != 0 || reached == 0 {
		t.Errorf("internal %d, receiver %d", n.internal.Load(), reached)
	}
}

// A redirect is an answer and is not followed.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.dns.set("example.com", "127.0.0.2")
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{"http://127.0.0.1:" + n.port + "/", "https://127.0.0.1:" + n.port + "/", "https://localhost:" + n.port, "//[::1]:" + n.port, "/other"} {
			handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			n.handle.Store(&handler)
			before := n.public.Load()
			if answer, err := n.post(t.Context(), "example.com"); err != nil || answer.Status != status || n.public.Load() != before+1 {
				t.Errorf("%d to %s: %+v, %v", status, to, answer, err)
			}
		}
	}
	if n.internal.Load() != 0 {
		t.Errorf("the internal listener got %d connections", n.internal.Load())
	}
}

// Little of an answer is read, and the reasons of failures name no address.
func TestAnswersAndReasons(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.dns.set("example.com", "127.0.0.2")
	n.dns.set("other.example.org", "127.0.0.2")
	set := func(h http.HandlerFunc) { n.handle.Store(&h) }

	set(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(http.StatusTooManyRequests)
		for r.Context().Err() == nil { // without end
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	if a, err := n.post(t.Context(), "example.com"); err != nil || a.Status != 429 || len(a.Body) != egress.MaxAnswer || a.RetryAfter != 17*time.Second {
		t.Errorf("an answer without end: %d, %d bytes, %s, %v", a.Status, len(a.Body), a.RetryAfter, err)
	}
	set(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "soon") })
	if a, err := n.post(t.Context(), "example.com"); err != nil || a.Status != 200 || a.RetryAfter != 0 {
		t.Errorf("a Retry-After that is none: %+v, %v", a, err)
	}
	set(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := n.post(t.Context(), "example.com"); !errors.Is(err, egress.ErrBroken) {
		t.Errorf("a connection that is cut: %v", err)
	}
	if _, err := n.post(t.Context(), "other.example.org"); !errors.Is(err, egress.ErrTLS) {
		t.Errorf("a certificate of another name: %v", err)
	}
	if _, err := n.post(t.Context(), "missing.example.com"); !errors.Is(err, egress.ErrName) {
		t.Errorf("a name that does not exist: %v", err)
	}
	set(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := n.post(ctx, "example.com"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

// A proxy of the environment is not used: it would resolve the name itself.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	n := newNetwork(t)
	n.dns.set("example.com", "127.0.0.2")
	proxy := (&url.URL{Scheme: "http", Host: "127.0.0.1:" + n.port}).String()
	t.Setenv("HTTPS_PROXY", proxy)
	t.Setenv("HTTP_PROXY", proxy)
	t.Setenv("ALL_PROXY", proxy)
	if a, err := n.post(t.Context(), "example.com"); err != nil || a.Status != 200 || n.internal.Load() != 0 {
		t.Errorf("%+v, %v, the proxy was asked %d times", a, err, n.internal.Load())
	}
}

// An address is accepted by its form only if it is https, a domain name and one of the
// two ports; with loopback, also http to this machine and nowhere else.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]bool{ // accepted, accepted with loopback
		"https://hooks.bank.example/lineproof":              {true, true},
		"https://hooks.bank.example:8443/x?tenant=1":        {true, true},
		"https://xn--bcher-kva.example/":                    {true, true},
		"https://hooks.bank.example.":                       {true, true},
		"http://127.0.0.1:9000/hook":                        {false, true},
		"http://localhost:9000/hook":                        {false, true},
		"http://[::1]:9000/":                                {false, true},
		"http://127.1:9000/":                                {},
		"http://localhost.bank.example/":                    {},
		"http://hooks.bank.example/":                        {},
		"https://localhost/":                                {},
		"https://hooks.bank.example:80/":                    {},
		"https://hooks.bank.example:9443/":                  {},
		"https://user:pass@hooks.bank.example/":             {},
		"https://hooks.bank.example/#x":                     {},
		"https://hooks.bank.example/#":                      {},
		"ftp://hooks.bank.example/":                         {},
		"https:hooks.bank.example":                          {},
		"//hooks.bank.example/":                             {},
		"https:///hook":                                     {},
		"https://hooks bank.example/":                       {},
		"https://hooks.bank.example/ ":                      {},
		"https://bücher.example/":                           {},
		"https://-a.example/":                               {},
		"https://a..example/":                               {},
		"https://a_b.example/":                              {},
		"https://" + strings.Repeat("a", 64) + ".com":       {},
		"https://bank.example/" + strings.Repeat("a", 2000): {},
		"": {},
	} {
		for i, loopback := range []bool{false, true} {
			isLoopback, problem := egress.CheckURL(address, loopback)
			if (problem == "") != want[i] || isLoopback != (want[i] && !want[0]) {
				t.Errorf("%s, loopback %v: %v, %q", address, loopback, isLoopback, problem)
			}
		}
	}
}

// With loopback a request reaches this machine and nothing else.
func TestLoopbackReachesThisMachineOnly(t *testing.T) {
	t.Parallel()
	hits := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer receiver.Close()
	dns := startDNS(t)
	dns.set("outside.example", "8.8.8.8")
	c := egress.New(egress.Options{Resolver: dns.resolver()})
	defer c.Close()
	if _, err := c.Post(t.Context(), receiver.URL, true, nil, nil); err != nil || hits != 1 {
		t.Errorf("this machine: %v, %d requests", err, hits)
	}
	if _, err := c.Post(t.Context(), receiver.URL, false, nil, nil); !errors.Is(err, egress.ErrBlocked) || hits != 1 {
		t.Errorf("this machine without loopback: %v, %d requests", err, hits)
	}
	if _, err := c.Post(t.Context(), "http://outside.example/", true, nil, nil); !errors.Is(err, egress.ErrBlocked) {
		t.Errorf("another machine: %v", err)
	}
}

// Addresses on the public internet count as public; networks that the settings name are
// blocked all the same.
func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"8.8.8.8", "41.58.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "198.17.255.255", "223.255.255.255", "2606:4700::1111", "2c0f:fb50::1", "::ffff:8.8.8.8"} {
		if !egress.Public(netip.MustParseAddr(text)) {
			t.Errorf("%s does not count as public", text)
		}
	}
	dns := startDNS(t)
	dns.set("own.example", "8.8.8.8")
	c := egress.New(egress.Options{Resolver: dns.resolver(), Blocked: []netip.Prefix{netip.MustParsePrefix("8.8.0.0/16")}})
	if _, err := c.Post(t.Context(), "https://own.example/", false, nil, nil); !errors.Is(err, egress.ErrBlocked) {
		t.Errorf("a blocked network: %v", err)
	}
}
