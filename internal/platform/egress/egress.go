// Package egress sends HTTP requests to addresses that organisations chose.
//
// Whoever may choose an address could make the service send requests into the
// regulator's own network, where it is trusted. So a request leaves only over https, to
// port 443 or 8443, and only to an address on the public internet. The address is checked
// after the name was resolved, by the function that is about to connect to it: a name
// that changes between two look-ups, and an address in a spelling that only the operating
// system understands, are checked like any other. Redirects are not followed, a proxy of
// the environment is not used, and of a response little is read.
package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The limits of a request.
const (
	connectTimeout = 3 * time.Second
	Timeout        = 10 * time.Second // from the start to the last byte that is read
	MaxAnswer      = 1 << 10          // bytes of a response that are read
	maxURL         = 2000
	maxHeaders     = 16 << 10
)

// Options configure a [Client]. The zero value is useful.
type Options struct {
	Roots    *x509.CertPool // certificate authorities to trust; nil means those of the machine
	Blocked  []netip.Prefix // networks to block beside those that are not public, such as the data centre's own
	Resolver *net.Resolver  // nil means the machine's
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	public, loopback *http.Client
	blocked          []netip.Prefix
	ports            []string       // of public addresses
	asPublic         []netip.Prefix // not public, and permitted; for tests
}

// New returns a client.
func New(o Options) *Client {
	c := &Client{blocked: o.Blocked, ports: []string{"443", "8443"}}
	c.public = newHTTPClient(o, c.checkPublic)
	c.loopback = newHTTPClient(o, checkLoopback)
	return c
}

func newHTTPClient(o Options, check func(netip.AddrPort) error) *http.Client {
	dialer := &net.Dialer{
		Timeout: connectTimeout, Resolver: o.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return ErrBlocked
			}
			return check(to)
		},
	}
	return &http.Client{
		Timeout:       Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout,
			TLSClientConfig:    &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
			DisableCompression: true, MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConns: 500, MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second,
		},
	}
}

// Answer is the response of a receiver.
type Answer struct {
	Status     int
	Body       []byte        // its first [MaxAnswer] bytes
	RetryAfter time.Duration // 0 if the receiver did not say
}

// Reasons why there was no answer. Their text is for the owner of the address, and says
// nothing of our network.
var (
	ErrBlocked = errors.New("the host name leads to an address that is not on the public internet")
	ErrName    = errors.New("the host name could not be resolved")
	ErrConnect = errors.New("no connection could be opened")
	ErrTLS     = errors.New("no TLS connection: the certificate is not valid for the host name, has expired, or is signed by an unknown authority")
	ErrTimeout = errors.New("no complete response within 10 seconds")
	ErrBroken  = errors.New("the connection was closed before a complete response")
)

// Post sends a request to an address that [CheckURL] has accepted. With loopback it is
// sent to this machine and nowhere else. Any response is an answer, also a redirect or an
// error. An error is one of the reasons above, or that of ctx.
func (c *Client) Post(ctx context.Context, address string, loopback bool, header map[string]string, body []byte) (Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return Answer{}, ErrName // CheckURL refuses such an address
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	client := c.public
	if loopback {
		client = c.loopback
	}
	response, err := client.Do(r)
	if err != nil {
		return Answer{}, reason(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswer))
	if err != nil {
		return Answer{}, reason(ctx, err)
	}
	return Answer{Status: response.StatusCode, Body: text, RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now())}, nil
}

// reason returns why a request got no answer, without the text of the error, which has
// addresses of our network and the whole URL.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var (
		name      *net.DNSError
		operation *net.OpError
		timeout   net.Error
	)
	switch {
	case errors.Is(err, ErrBlocked):
		return ErrBlocked
	case errors.As(err, &name):
		return ErrName
	case isTLS(err):
		return ErrTLS
	case errors.As(err, &operation) && operation.Op == "dial":
		return ErrConnect
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrTimeout
	}
	return ErrBroken
}

func isTLS(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		record       tls.RecordHeaderError
		alert        tls.AlertError
	)
	return errors.As(err, &verification) || errors.As(err, &record) || errors.As(err, &alert) || strings.Contains(err.Error(), "TLS handshake timeout")
}

// retryAfter reads the header in both of its forms. Text that is neither counts as none.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// Close closes the idle connections.
func (c *Client) Close() {
	c.public.CloseIdleConnections()
	c.loopback.CloseIdleConnections()
}

// CheckURL reports whether an address has a form to which requests are sent: https, a
// domain name in ASCII, port 443 or 8443, no user name and no fragment. With loopback also
// http to 127.0.0.1, [::1] or localhost, at any port, is accepted. isLoopback says which
// it is. The returned problem is for the owner, and "" if there is none.
func CheckURL(address string, loopback bool) (isLoopback bool, problem string) {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxURL:
		return false, "Use an address of at most " + strconv.Itoa(maxURL) + " characters."
	case err != nil || u.Opaque != "" || u.Hostname() == "" || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }):
		return false, "Use an address such as https://hooks.bank.example/lineproof, in ASCII characters."
	case u.User != nil:
		return false, "Leave user name and password out of the address. Requests are signed."
	case u.Fragment != "" || strings.HasSuffix(address, "#"):
		return false, "Leave out the part after #. It is never sent."
	case u.Scheme == "http" && loopback && isLoopbackName(u.Hostname()):
		return true, ""
	case u.Scheme != "https":
		return false, "The address must start with https://."
	case u.Port() != "" && u.Port() != "443" && u.Port() != "8443":
		return false, "Use port 443 or 8443."
	case !isDomain(u.Hostname()):
		return false, "Use a domain name. IP addresses and names without a dot are not accepted."
	}
	return false, ""
}

func isLoopbackName(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// isDomain reports whether host is a name with a dot whose last part is no number: a
// resolver may read 127.1 and 0x7f.1 as addresses.
func isDomain(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(labels) < 2 || len(host) > 253 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, notLDH) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}

func notLDH(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
}
