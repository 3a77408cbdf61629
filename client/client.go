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

// Client calls one Lineproof service. Set its fields before the first call and
// leave them; then any number of goroutines may use it.
type Client struct {
	// BaseURL is the address of the service, such as https://lineproof.example.
	// Credentials travel in every request: use plain http only on a machine or
	// network where nobody else listens.
	BaseURL string

	// HTTP sends the requests. Nil means a client of this package, with a limit
	// for every phase of a request and five minutes for each attempt. A
	// CheckRedirect of your own is kept; without one no redirect is followed,
	// because the service never sends any and passwords must not travel on.
	HTTP *http.Client

	// UserAgent names your program to the service. Empty means lineproof-go.
	UserAgent string

	// Retries is how often a request may be repeated. 0 means 3; a negative
	// number means never.
	Retries int

	// Correlator names a request for the logs of both sides (x-correlator), with
	// at most 256 letters, digits and - _ : ; . / < > { }. It is asked once per
	// call, and every attempt has the same name. Nil, or an empty name, sends none.
	Correlator func(ctx context.Context) string
}

// standardTimeout is for one attempt with standardHTTP: a large document over a
// slow line.
const standardTimeout = 5 * time.Minute

// standardHTTP serves every Client without an HTTP of its own, so that they
// share connections.
var standardHTTP = &http.Client{
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
		return standardHTTP
	case c.HTTP.CheckRedirect != nil:
		return c.HTTP
	}
	own := *c.HTTP
	own.CheckRedirect = stay
	return &own
}

// request is one operation on its way. The same request serves every attempt.
type request struct {
	op     string // names the operation in errors
	method string // empty means POST
	path   string
	header http.Header
	body   []byte
	form   *form         // instead of body, for a document or a file
	into   io.Writer     // where the answer goes if it is a file
	digest bool          // the file comes with a digest, and must fit it
	limit  time.Duration // for one attempt, instead of standardTimeout

	// repeatable says that the request may be repeated when nobody knows whether
	// it was carried out.
	repeatable bool
}

// newRequest checks what is the same for every operation. The errors do not
// repeat what they complain about.
func (c *Client) newRequest(ctx context.Context, op, path string) (*request, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" ||
		base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("client: BaseURL must have the form https://host, with a port and a path if need be and nothing else")
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

// set adds a header, unless its value could not travel in one.
func (r *request) set(name, value string) error {
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return r.wrong("the value for the header " + name + " has a character that is not printable ASCII")
		}
	}
	r.header.Set(name, value)
	return nil
}

// authorize adds the credential. A line break at its end is the usual mistake
// with one that was read from a file.
func (r *request) authorize(credential Secret) error {
	if credential == "" {
		return r.wrong("the credential is empty")
	}
	if strings.ContainsFunc(string(credential), func(c rune) bool { return c <= ' ' || c > '~' }) {
		return r.wrong("the credential has a space, a line break or another character that no credential has")
	}
	return r.set("Authorization", "Bearer "+string(credential))
}

// sendJSON makes fields the body. Text that is not UTF-8 is refused here,
// because the encoder would change it without a word, passwords included.
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

// wrong is a complaint about what the caller gave, before anything is sent.
func (r *request) wrong(complaint string) error {
	return errors.New("client: " + r.op + ": " + complaint)
}

// maxAnswer is far above the largest answer of the service. What is cut off
// there cannot be decoded.
const maxAnswer = 1 << 20

// lost is why no whole answer came. Whether the request was carried out is not
// known.
type lost struct{ cause error }

func (l *lost) Error() string { return l.cause.Error() }
func (l *lost) Unwrap() error { return l.cause }

// attempt sends r once and returns the body of a success.
func (c *Client) attempt(ctx context.Context, r *request) ([]byte, error) {
	if c.HTTP == nil {
		// Not the Timeout of standardHTTP, which a form would not hear of.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(r.limit, standardTimeout))
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
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode != http.StatusOK && res.StatusCode != http.StatusAccepted:
		return nil, refusal(res, body) // the status alone says enough, if the body did not come
	case err != nil:
		return nil, &lost{err}
	}
	return body, nil
}

// pass hands a file on. Once something of it has been written, another attempt
// would write it twice.
func (r *request) pass(res *http.Response) error {
	sum := sha256.New()
	want, ok := digestOf(res.Header.Get("Content-Digest"))
	if r.digest && !ok {
		return errors.New("the file comes without the digest that the service's contract promises; does BaseURL lead to a Lineproof service?")
	}
	n, err := io.Copy(io.MultiWriter(r.into, sum), res.Body)
	switch {
	case err == nil && r.digest && !bytes.Equal(sum.Sum(nil), want):
		return fmt.Errorf("the %d bytes that arrived are not the file: they do not fit its digest", n)
	case err == nil:
		return nil
	case n == 0:
		return &lost{err}
	}
	return fmt.Errorf("the file broke off after %d bytes: %w", n, err)
}

// digestOf reads the SHA-256 of a Content-Digest header (RFC 9530).
func digestOf(header string) (sum []byte, ok bool) {
	text, ok := strings.CutPrefix(header, "sha-256=:")
	text, end := strings.CutSuffix(text, ":")
	sum, err := base64.StdEncoding.DecodeString(text)
	return sum, ok && end && err == nil && len(sum) == sha256.Size
}
