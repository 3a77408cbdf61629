package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Client calls one Lineproof service. Set its fields before the first call and do
// not change them; then any number of goroutines may use it.
type Client struct {
	// BaseURL is the URL of the service, such as https://lineproof.example. Every
	// request contains a credential: use plain http only on a machine or network
	// that you trust.
	BaseURL string

	// HTTP sends the requests. Nil means a client of this package, with a timeout
	// for every phase of a request and five minutes for each attempt. A
	// CheckRedirect of your own is used; without one no redirect is followed,
	// because the service never sends any, and a password must not reach another
	// server.
	HTTP *http.Client

	// UserAgent is the name of your program. Empty means lineproof-go.
	UserAgent string

	// Retries is how often a request may be retried. 0 means 3; a negative number
	// means never.
	Retries int

	// Correlator returns an id for the logs of both sides (x-correlator), of at
	// most 256 letters, digits and - _ : ; . / < > { }. It is called once per call
	// of an operation, and every attempt sends the same id. Nil, or an empty id,
	// sends none.
	Correlator func(ctx context.Context) string
}

// defaultTimeout limits one attempt with standardHTTP. It is enough for a large
// document over a slow connection.
const defaultTimeout = 5 * time.Minute

// defaultHTTP is used by every Client without its own HTTP, so that they share
// connections.
var defaultHTTP = &http.Client{
	CheckRedirect: stay,
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          100,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		ExpectContinueTimeout: time.Second,
	},
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (c *Client) http() *http.Client {
	switch {
	case c.HTTP == nil:
		return defaultHTTP
	case c.HTTP.CheckRedirect != nil:
		return c.HTTP
	}
	own := *c.HTTP
	own.CheckRedirect = stay
	return &own
}

// request is one call of an operation. All its attempts share it.
type request struct {
	op     string // names the operation in errors
	method string // empty means POST
	path   string
	header http.Header
	body   []byte
	form   *form         // instead of body, for a document or a file
	into   io.Writer     // where the response goes if it is a file
	digest bool          // the file has a digest, which is checked
	limit  time.Duration // for one attempt, instead of standardTimeout

	// repeatable says that the request may be retried when it is not known whether
	// it was carried out.
	repeatable bool
}

// newRequest checks what all operations have in common. The errors do not repeat
// the wrong value, which may be secret.
func (c *Client) newRequest(ctx context.Context, op, path string) (*request, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" ||
		base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("client: BaseURL must have the form https://host, with an optional port and path, and nothing else")
	}
	r := &request{op: op, path: strings.TrimRight(base.String(), "/") + path, header: http.Header{}}
	r.header.Set("Accept", "application/json")
	if err := r.set("User-Agent", cmp.Or(c.UserAgent, "lineproof-go")); err != nil {
		return nil, err
	}
	if c.Correlator != nil {
		if name := c.Correlator(ctx); name != "" {
			return r, r.set("X-Correlator", name)
		}
	}
	return r, nil
}

// set adds a header, unless its value is not allowed in one.
func (r *request) set(name, value string) error {
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return r.wrong("the value for the header " + name + " has a character that is not printable ASCII")
		}
	}
	r.header.Set(name, value)
	return nil
}

// authorize adds the credential. A line break at its end is a common mistake with
// a credential that was read from a file.
func (r *request) authorize(credential Secret) error {
	if credential == "" {
		return r.wrong("the credential is empty")
	}
	if strings.ContainsFunc(string(credential), func(c rune) bool { return c <= ' ' || c > '~' }) {
		return r.wrong("the credential has a space, a line break or another character that no credential has")
	}
	return r.set("Authorization", "Bearer "+string(credential))
}

// sendJSON makes fields the body. Text that is not UTF-8 is refused here, because
// the encoder would silently change it, passwords included.
func (r *request) sendJSON(fields map[string]any) error {
	for name, value := range fields {
		if text, ok := value.(string); ok && !utf8.ValidString(text) {
			return r.wrong(name + " is not valid UTF-8")
		}
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("client: %s: %w", r.op, err)
	}
	r.body = body
	r.header.Set("Content-Type", "application/json")
	return nil
}

// wrong is an error about the caller's arguments, or about a response.
func (r *request) wrong(complaint string) error {
	return errors.New("client: " + r.op + ": " + complaint)
}

// maxResponse is far above the largest response of the service. A response that is
// cut off there cannot be decoded.
const maxResponse = 1 << 20

// lost says why no complete response arrived. It is not known whether the request
// was carried out.
type lost struct{ cause error }

func (l *lost) Error() string { return l.cause.Error() }
func (l *lost) Unwrap() error { return l.cause }

// attempt sends r once and returns the body of a success.
func (c *Client) attempt(ctx context.Context, r *request) ([]byte, error) {
	if c.HTTP == nil {
		// Not the Timeout of standardHTTP: a form would not notice it.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(r.limit, defaultTimeout))
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(r.method, http.MethodPost), r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header = r.header.Clone()
	if r.form != nil {
		r.form.attach(req)
	}
	res, err := c.http().Do(req)
	if err != nil {
		if r.form != nil {
			if broken := r.form.failure(ctx); broken != nil {
				return nil, fmt.Errorf("read the content: %w", broken)
			}
		}
		return nil, &lost{err}
	}
	defer func() { _ = res.Body.Close() }()
	if r.into != nil && res.StatusCode == http.StatusOK {
		return nil, r.pass(res)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	switch {
	case res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted:
		return nil, errorFrom(res, body) // the status is enough if the body did not arrive
	case err != nil:
		return nil, &lost{err}
	}
	return body, nil
}

// pass writes a file to its destination. Once a part of it has been written, the
// request is not retried, because a retry would write it twice.
func (r *request) pass(res *http.Response) error {
	sum := sha256.New()
	want, ok := digestOf(res.Header.Get("Content-Digest"))
	if r.digest && !ok {
		return errors.New("the response has no digest, which the API contract requires; is BaseURL a Lineproof service?")
	}
	n, err := io.Copy(io.MultiWriter(r.into, sum), res.Body)
	switch {
	case err == nil && r.digest && !bytes.Equal(sum.Sum(nil), want):
		return fmt.Errorf("the %d bytes received do not match the digest of the file", n)
	case err == nil:
		return nil
	case n == 0:
		return &lost{err}
	}
	return fmt.Errorf("the download broke off after %d bytes: %w", n, err)
}

// digestOf reads the SHA-256 of a Content-Digest header (RFC 9530).
func digestOf(header string) (sum []byte, ok bool) {
	text, ok := strings.CutPrefix(header, "sha-256=:")
	text, end := strings.CutSuffix(text, ":")
	sum, err := base64.StdEncoding.DecodeString(text)
	return sum, ok && end && err == nil && len(sum) == sha256.Size
}
