package e2e_test

import (
	"bytes"
	"strings"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// hostileValues are values that have broken other programs. They are JSON.
var hostileValues = []string{
	`""`, `" "`, `"\u0000"`, `"a\u0000b"`, `"\ud800"`, `"\udc00\ud800"`, `"\uFFFF"`, `"\u202e+2348031000001"`, `"\u0660\u0668"`, "\"\xff\xfe\"", "\"\xc0\x80\"",
	"\"\xed\xa0\x80\"", "\"tab\tinside\"", "\"line\nbreak\"", `null`, `true`, `"true"`, `0`, `-0`, `1e309`, `-1e-400`, `123456789012345678901234567890`,
	`0.1e1000000000`, `[]`, `{}`, `[[["deep"]]]`, `{"a":{"b":1}}`, `"'; DROP TABLE entity; --"`, `"%s%n%d"`, `"../../etc/passwd"`, `"<script>"`, `"${jndi:x}"`, `"@"`,
	`"a@b"`, `"a@b.c@d.e"`, `"+"`, `"+234"`, `"00"`, `"+2348031000001234567"`, `"+14155550100"`, `"++2348031000001"`, `"0803-100-0001 ext 5"`, `"\u200b"`, `"İ"`, `"ﬀ@x.example"`,
	`"password"`, `"12345678"`, `nul`, `tru`, `"open`, `\"`, `NaN`, `'single'`, `01`, `1.`, `.5`, `+1`, `"\x41"`, `"\u12"`, `/*c*/1`, `"x",`, `,`, `:`,
}

// mutate damages one thing about a request.
func (g *generator) mutate(r *request) {
	kinds := []func(*request){g.mutateBody, g.mutateBody, g.mutateBody, g.mutateHeader, g.mutateCredential, g.mutateTarget, g.mutateFraming}
	switch {
	case r.fields != nil:
		kinds = append(kinds, g.mutateField, g.mutateField, g.mutateField, g.mutateField)
	case r.parts != nil:
		kinds = append(kinds, g.mutatePart, g.mutatePart, g.mutatePart, g.mutatePart)
	}
	kinds[g.rng.IntN(len(kinds))](r)
}

// mutateField changes a member of a JSON object.
func (g *generator) mutateField(r *request) {
	if len(r.fields) == 0 {
		return
	}
	i := g.rng.IntN(len(r.fields))
	f := &r.fields[i]
	switch g.rng.IntN(9) {
	case 0:
		r.fields = append(r.fields[:i], r.fields[i+1:]...)
	case 1:
		r.fields = append(r.fields, *f) // twice
	case 2:
		f[0] = pick(g, strings.ToUpper(f[0]), f[0]+" ", "", "x", "__proto__", f[0]+"\x00", strings.Repeat("n", 300), "ﬁeld", "a\nb")
	case 3:
		r.fields = append(r.fields, [2]string{pick(g, "extra", "id", "adminUid", "status"), pick(g, hostileValues...)})
	case 4:
		f[1] = quote(strings.Repeat(pick(g, "x", "9", "ọ", " ", "a@", "\u0301"), pick(g, 33, 65, 129, 201, 255, 1025, 5000)))
	case 5:
		n := pick(g, 10, 200, 5000, 7900)
		f[1] = strings.Repeat(pick(g, "[", `{"a":`), n) + "1" + strings.Repeat("]", n)
	case 6:
		f[1] = strings.Repeat("9", pick(g, 20, 400, 9000))
	default:
		f[1] = pick(g, hostileValues...)
	}
}

// mutatePart changes a part of a form.
func (g *generator) mutatePart(r *request) {
	if len(r.parts) == 0 {
		return
	}
	i := g.rng.IntN(len(r.parts))
	p := &r.parts[i]
	switch g.rng.IntN(11) {
	case 0:
		r.parts = append(r.parts[:i], r.parts[i+1:]...)
	case 1:
		r.parts = append(r.parts, *p)
	case 2:
		for range 20 {
			r.parts = append(r.parts, part{`Content-Disposition: form-data; name="x"`, nil})
		}
	case 3:
		p.headers = pick(g, "", "Content-Disposition: form-data", "Content-Disposition: attachment; name=\"type\"", "no colon", ": empty", "Content-Disposition: form-data; name=",
			"Content-Disposition: form-data; name=\"type\"; name=\"file\"", "A: "+strings.Repeat("b", 20_000), "Content-Disposition: form-data; name=\"\xff\x00\"")
	case 4:
		p.headers += "\r\nContent-Transfer-Encoding: " + pick(g, "base64", "quoted-printable", "x")
	case 5:
		p.headers += "\r\n" + pick(g, "Content-Type: multipart/mixed; boundary=inner", "Content-Length: 99999999", strings.Repeat("H: v\r\n", 50)+"I: j")
	case 6:
		p.content = slicesOf("%PDF-1.7\n", pick(g, 1<<16-9, 1<<16-8, 1<<16, 1<<17, 1<<18)) // about the cap and above it
	case 7:
		p.content = nil
	case 8:
		p.content = []byte(pick(g, "\xff\xfe", "\x00", strings.Repeat("t", 65), strings.Repeat("t", 2000), "a\r\nb", "--"+r.boundary, g.world.bank.ID.String(), "not-a-uuid"))
	case 9:
		r.set("Content-Type", pick(g, "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=other", "multipart/mixed; boundary="+r.boundary,
			"multipart/form-data; boundary=\""+strings.Repeat("b", 100)+"\"", "multipart/form-data; boundary=a b", "multipart/form-data; boundary=x; boundary=y"))
	default:
		r.body = r.content()
		cut := g.rng.IntN(len(r.body) + 1)
		r.body = r.body[:cut]
	}
}

// mutateBody changes the bytes of the body, whatever they mean.
func (g *generator) mutateBody(r *request) {
	b := bytes.Clone(r.content())
	switch g.rng.IntN(9) {
	case 0, 1, 2:
		b = g.flip(b)
	case 3:
		b = b[:g.rng.IntN(len(b)+1)]
	case 4:
		b = append(b, pick(g, " ", "\n\n", "x", "{}", "\x00", "]", ",", string(b))...)
	case 5:
		b = append([]byte(pick(g, "\xef\xbb\xbf", " ", "\x00", "[", "x")), b...)
	case 6:
		b = []byte(pick(g, "", "null", "[]", "{}", "\"\"", "0", "true", "{", "[1,2", strings.Repeat("[", 16_000), strings.Repeat(`{"a":`, 2500), "{\"a\":1}{\"a\":1}"))
	case 7:
		b = []byte(`{"phoneNumber":"` + strings.Repeat("8", pick(g, 16_300, 16_384, 17_000, 70_000)) + `"}`)
	default:
		b = []byte(pick(g, "grant_type=client_credentials&grant_type=x", "%zz=1", "a=%00", "a;b=c", "=&=&", "client_id=%ff&client_secret=%fe", strings.Repeat("a=b&", 3000)))
	}
	r.body = b
}

// mutateCredential shows another credential, or none, or a broken one.
func (g *generator) mutateCredential(r *request) {
	w := g.world
	key := w.key.Text.Reveal()
	text := pick(g, w.token, w.weak, w.session, key, w.testKey, w.client.Secret.Reveal(), string(secret.New(secret.AccessToken)), string(secret.New(secret.LiveKey)),
		key[:len(key)-1]+"!", strings.ToUpper(key), key+" ", "", strings.Repeat("k", 9000), "lp_live_", "\xff\xfe", "a b")
	switch g.rng.IntN(7) {
	case 0:
		r.set("Authorization", pick(g, "", "Bearer", "bearer "+text, "BEARER "+text, "Basic "+text, "Basic OjpYWA==", "Digest x", "Bearer  "+text, "Bearer\t"+text, text))
	case 1:
		r.header("Authorization", "Bearer "+text) // perhaps a second one
	case 2:
		r.headers = nil
	default:
		r.set("Authorization", "Bearer "+text)
	}
}

// flip changes a few bytes.
func (g *generator) flip(b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + g.rng.IntN(4) {
		if len(b) == 0 {
			return b
		}
		i := g.rng.IntN(len(b))
		switch g.rng.IntN(4) {
		case 0:
			b[i] ^= 1 << g.rng.IntN(8)
		case 1:
			b[i] = pick[byte](g, 0, '"', '{', '}', '\\', '\r', '\n', ' ', ':', ',', 0xff, 0x80, '-', '%')
		case 2:
			b = append(b[:i], b[i+1:]...)
		default:
			b = append(b[:i], append([]byte{byte(g.rng.IntN(256))}, b[i:]...)...)
		}
	}
	return b
}
