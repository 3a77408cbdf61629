package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
)

// request is a whole request that is yet to be written out, so that it can be
// damaged part by part.
type request struct {
	method, target, version string
	headers                 [][2]string
	fields                  [][2]string // of a JSON object: name, and value as JSON
	parts                   []part      // of a multipart form
	body                    []byte
	boundary                string
	framing                 framing
	expectsAnswer           bool // whether it is well-formed HTTP, so that there must be an answer
}

type part struct {
	headers string
	content []byte
}

// framing says how the length of the body is told.
type framing int

const (
	byLength framing = iota
	byChunks
	tooShort // the rest of the body looks like another request
	tooLong  // the body never ends
	byNothing
	byBoth // length and chunks, which is how requests are smuggled
	badChunks
)

// generator makes requests. What it makes depends on the seed and on nothing
// else but the credentials.
type generator struct {
	rng    *rand.Rand
	world  *fixture
	seed   uint64
	serial int
}

// one reports true once in n times.
func (g *generator) one(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](g *generator, from ...T) T { return from[g.rng.IntN(len(from))] }

// valid returns a request that works, most of the time.
func (g *generator) valid() *request {
	g.serial++
	r := &request{method: "POST", version: "HTTP/1.1", expectsAnswer: true}
	switch n := g.rng.IntN(100); {
	case n < 28:
		r.target = verifyPath
		r.authorize(g.world.key.Text.Reveal())
		r.fields = [][2]string{{"phoneNumber", quote(spell(g.rng, firstLine+g.rng.Int64N(2*knownLines)))}}
		if g.one(10) {
			r.fields[0][1] = quote(pick(g, "+14155550100", "+2342012345678", "0700 000 0000"))
		}
	case n < 50:
		g.onboarding(r)
	case n < 62:
		r.target = loginPath
		password := pick(g, adminPassword, adminPassword, adminPassword, "wrong-password")
		r.fields = [][2]string{{"email", quote(mixCase(g.rng, adminEmail))}, {"password", quote(password)}}
	case n < 76:
		g.grant(r)
	case n < 92:
		g.upload(r)
	default:
		r.method = "GET"
		r.target = pick(g, "/docs", "/docs/docs.js", "/docs/docs.css", "/openapi.yaml", "/openapi.json", "/docs/", "/", "/api", "/favicon.ico")
	}
	if len(r.headers) > 0 && g.one(30) {
		r.set("Authorization", "Bearer "+g.world.weak)
	}
	if r.fields != nil {
		r.header("Content-Type", pick(g, "application/json", "application/json; charset=utf-8"))
	}
	return r
}

func (g *generator) onboarding(r *request) {
	n := fmt.Sprintf("%x.%d", g.seed, g.serial)
	r.target = onboardPath
	r.authorize(g.world.token)
	r.fields = [][2]string{
		{"cac", quote("RC 12345")},
		{"name", quote("Telco " + n)},
		{"isDocumentRequired", pick(g, "true", "false")},
		{"adminName", quote("Bola")},
		{"adminPhone", quote(spell(g.rng, 234_810_000_0000+g.rng.Int64N(1e7)))},
		{"adminEmail", quote("f" + n + "@telco.example")},
		{"adminPassword", quote("rainy-season-" + n)},
	}
	if g.one(3) {
		r.header("Idempotency-Key", pick(g, n, "a key", `"quoted"`))
	}
}

func (g *generator) grant(r *request) {
	c := g.world.client
	r.target = tokenPath
	switch g.rng.IntN(3) {
	case 0:
		r.header("Content-Type", "application/x-www-form-urlencoded")
		r.body = []byte(url.Values{
			"grant_type": {"client_credentials"}, "client_id": {c.ID.String()}, "client_secret": {c.Secret.Reveal()}, "scope": {"entity:onboard"},
		}.Encode())
	case 1:
		r.header("Content-Type", "application/x-www-form-urlencoded")
		r.header("Authorization", "Basic "+g.world.basic())
		r.body = []byte("grant_type=client_credentials")
	default:
		r.fields = [][2]string{
			{"grant_type", quote("client_credentials")}, {"client_id", quote(c.ID.String())}, {"client_secret", quote(c.Secret.Reveal())},
		}
	}
}

func (g *generator) upload(r *request) {
	r.target, r.boundary = uploadPath, "edge-"+strconv.Itoa(g.rng.IntN(1000))
	r.parts = []part{
		{`Content-Disposition: form-data; name="type"`, []byte(pick(g, "CAC_CERTIFICATE", "TAX_ID", "a letter"))},
		{
			`Content-Disposition: form-data; name="file"; filename="` + pick(g, "a.pdf", "ọ̀rọ̀.png", "../../x") + "\"\r\nContent-Type: application/octet-stream",
			slicesOf(pick(g, "%PDF-1.7\n", "\x89PNG\r\n\x1a\n", "GIF89a", "plain text"), g.rng.IntN(4000)),
		},
	}
	if g.one(2) {
		r.authorize(g.world.session)
	} else {
		r.authorize(g.world.token)
		r.parts = append(r.parts, part{`Content-Disposition: form-data; name="entityUid"`, []byte(g.world.telco.ID.String())})
	}
	if g.one(2) {
		r.parts[0], r.parts[1] = r.parts[1], r.parts[0]
	}
	r.header("Content-Type", "multipart/form-data; boundary="+r.boundary)
}

func (r *request) authorize(credential string) { r.header("Authorization", "Bearer "+credential) }

func (r *request) header(name, value string) { r.headers = append(r.headers, [2]string{name, value}) }

// set replaces the first header of that name, or adds it.
func (r *request) set(name, value string) {
	for i := range r.headers {
		if r.headers[i][0] == name {
			r.headers[i][1] = value
			return
		}
	}
	r.header(name, value)
}

// content returns the body as it stands.
func (r *request) content() []byte {
	var b bytes.Buffer
	switch {
	case r.body != nil:
		return r.body
	case r.fields != nil:
		b.WriteByte('{')
		for i, f := range r.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(f[0]) + ":" + f[1])
		}
		b.WriteByte('}')
	case r.parts != nil:
		for _, p := range r.parts {
			b.WriteString("--" + r.boundary + "\r\n" + p.headers + "\r\n\r\n")
			b.Write(p.content)
			b.WriteString("\r\n")
		}
		b.WriteString("--" + r.boundary + "--\r\n")
	}
	return b.Bytes()
}

// raw returns the request as it goes over the wire.
func (r *request) raw(g *generator) []byte {
	body := r.content()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\r\nHost: lineproof.test\r\n", r.method, r.target, r.version)
	for _, h := range r.headers {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	length := func(n int) { fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", n) }
	switch r.framing {
	case byLength:
		length(len(body))
	case tooShort:
		length(len(body) / 2)
	case tooLong:
		length(len(body) + 1 + g.rng.IntN(1000))
	case byNothing:
		b.WriteString("\r\n")
	case byBoth:
		b.WriteString("Transfer-Encoding: chunked\r\n")
		length(len(body))
		body = chunked(g, body)
	case byChunks, badChunks:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		body = chunked(g, body)
		if r.framing == badChunks {
			body = g.flip(body)
		}
	}
	b.Write(body)
	return b.Bytes()
}

func chunked(g *generator, body []byte) []byte {
	var b bytes.Buffer
	for len(body) > 0 {
		n := 1 + g.rng.IntN(len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

func quote(s string) string { return string(encode(s)) }

func slicesOf(head string, n int) []byte {
	return append([]byte(head), bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n]...)
}
