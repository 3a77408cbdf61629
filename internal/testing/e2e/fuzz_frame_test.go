package e2e_test

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
)

// next returns one exchange: the bytes of one request or of several in a row,
// and what is known of them. Most have a single fault, so that they come far.
func (g *generator) next() exchange {
	r := g.valid()
	for range pick(g, 0, 1, 1, 1, 1, 1, 2, 2, 3, 5) {
		g.mutate(r)
	}
	x := exchange{method: r.method, raw: r.raw(g), requests: 1, cut: r.framing == tooLong}
	x.certain = r.expectsAnswer && readable(x.raw)
	switch {
	case g.one(25): // damage to the whole of it, lines and headers included
		x.raw, x.certain = g.flip(x.raw), false
	case g.one(60):
		x.raw, x.certain, x.cut = x.raw[:g.rng.IntN(len(x.raw)+1)], false, true
	case x.certain && r.method == "POST" && g.one(20): // several at once, without waiting
		for range 1 + g.rng.IntN(3) {
			other := g.valid()
			if other.method != "POST" {
				continue
			}
			x.raw, x.requests = append(bytes.Clone(x.raw), other.raw(g)...), x.requests+1
		}
	}
	return x
}

// exchange is what goes over the wire in one write.
type exchange struct {
	method   string
	raw      []byte
	requests int
	certain  bool // each request must have its answer
	cut      bool // it has no end, so the server can only wait
}

// readable reports whether net/http can read the request. What it cannot read
// it answers by itself, and closes the connection so fast that the answer may be lost.
func readable(raw []byte) bool {
	_, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	return err == nil
}

// mutateHeader adds or changes a header.
func (g *generator) mutateHeader(r *request) {
	switch g.rng.IntN(12) {
	case 0, 1:
		r.set("Content-Type", pick(g, "", "text/plain", "application/json; charset=latin1", "application/json;", "application/JSON", "application/json; charset=\"utf-8\"",
			"application/xml", "multipart/form-data", "application/x-www-form-urlencoded; charset=x", "a/b/c", ";", "application/json, text/plain", "application/problem+json", "\xff"))
	case 2:
		r.header("Content-Type", pick(g, "application/json", "text/html"))
	case 3:
		r.header("X-Correlator", pick(g, "abc", "a b", strings.Repeat("c", 256), strings.Repeat("c", 257), "\xff", "+2348031000001", "{}<>:;./-_", ""))
	case 4:
		r.header("Idempotency-Key", pick(g, "k", "", `""`, "\"k", strings.Repeat("k", 255), strings.Repeat("k", 256), "ключ", "k", "a,b"))
	case 5:
		r.header("Traceparent", pick(g, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0-0-0", "ff-x", strings.Repeat("0", 5000)))
	case 6:
		r.header(pick(g, "Accept", "Accept-Encoding", "Range", "If-None-Match", "If-Range"), pick(g, "*/*", "text/xml;q=0", "gzip", "bytes=0-1", "bytes=-1,0-,5-2", "*", "\"x\"", "identity;q=0"))
	case 7:
		r.header("X-Forwarded-For", pick(g, "1.2.3.4", "::1", "x", "1.2.3.4, 5.6.7.8", strings.Repeat("1.1.1.1,", 500)))
	case 8:
		r.header("Connection", pick(g, "close", "keep-alive", "upgrade", "x, y", "Authorization"))
	case 9:
		r.header(pick(g, "Content-Encoding", "Upgrade", "X-HTTP-Method-Override", "Cookie", "Origin", "Forwarded", "Te", "Trailer"), pick(g, "gzip", "h2c", "GET", "a=b", "null", "trailers"))
	case 10:
		r.header("X-Long", strings.Repeat("v", pick(g, 1000, 9000, 20_000, 40_000)))
		r.expectsAnswer = false // past the cap the server closes the connection
	default:
		switch g.rng.IntN(4) {
		case 0:
			r.header(pick(g, "Bad Name", "Bad\x00Name", "", "Bäd"), "v")
		case 1:
			r.header("X-Bad", pick(g, "a\x00b", "a\rb", "a\nb", "\x7f"))
		case 2:
			r.header("Expect", pick(g, "100-continue", "something"))
		default:
			r.header("Host", pick(g, "other.test", "a b", ""))
		}
		r.expectsAnswer = false
	}
}

// mutateTarget asks for another path or with another method.
func (g *generator) mutateTarget(r *request) {
	t := r.target
	switch g.rng.IntN(5) {
	case 0, 1:
		r.method = pick(g, "GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "POST", "PROPFIND", "post", "QUERY", "X-Y")
	case 2:
		r.target = pick(g, t+"?a=b", t+"?phoneNumber=%2B234", t+"?", t+"?a;b", t+"?%zz", t+"#f", t+"?"+strings.Repeat("q", 5000))
	case 3:
		r.target = pick(g, t+"/", t+"//", "/"+t, t+"/..", t+"/.", t+"/x", strings.ToUpper(t), strings.Replace(t, "/", "//", 2), strings.Replace(t, "a", "%61", 1),
			strings.Replace(t, "/", "%2f", 2), t+"%00", t+"%0d%0a", t+";v=1", "/api/../api", "/api/v1", "/api/%2e%2e/docs", "/docs/../api", "/docs/%2e%2e", "/docs//", "/docs/x",
			"/healthz", "/metrics", "/debug/pprof/", t+"\xff", t+"%ff", "http://elsewhere.test"+t, "//elsewhere.test"+t, "/%")
	default:
		r.method, r.target, r.version = pick(g, r.method, "OPTIONS", "CONNECT", "PRI", "G T", ""), pick(g, t, "*", "", "x", "elsewhere.test:443", " "), pick(g, "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "HTTP/1.1x", "")
		r.expectsAnswer = false
	}
}

// mutateFraming tells the length of the body in another way.
func (g *generator) mutateFraming(r *request) {
	r.framing = pick(g, byChunks, byChunks, tooShort, tooLong, byNothing, byBoth, badChunks)
	r.expectsAnswer = r.expectsAnswer && r.framing == byChunks
}
