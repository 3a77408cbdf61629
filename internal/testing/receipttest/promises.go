package receipttest

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/receipt"
)

// AsTlogProof returns a receipt in the form of c2sp.org/tlog-proof.
func AsTlogProof(text string) string {
	r, err := receipt.Parse([]byte(text))
	if err != nil {
		panic(err) // it was made here
	}
	return r.TlogProof()
}

// promiseKey is a key of promises with its certificate.
type promiseKey struct {
	*Signer

	certificate string
}

// newPromiseKey returns a key that is certified for the day around a time.
func (m *Maker) newPromiseKey(at time.Time) *promiseKey {
	s := m.signer(receipt.PromiseKeyName(Origin), ofLog)
	text := receipt.KeyText(Origin, s.Verifier(), at.Add(-time.Hour), at.Add(23*time.Hour))
	return &promiseKey{s, text + "\n" + m.Log.line(text, 0)}
}

// MakePromise returns a receipt as it comes with an answer.
func (m *Maker) MakePromise(p Plan) string {
	r := m.make(p)
	k := m.newPromiseKey(time.UnixMilli(r.Batch.At))
	text := receipt.PromiseText(Origin, entryOf(&r.Batch))
	r.Promise, r.Key = text+"\n"+k.line(text, 0), k.certificate
	return encode(r)
}

// tlogProofs are receipts in the form of c2sp.org/tlog-proof.
func (m *Maker) tlogProofs() (all []Vector) {
	key := m.Log.Verifier()
	add := func(code, name, text string) {
		all = append(all, Vector{"tlog-proof: " + name, Case{Text: text, Policy: key}, code})
	}
	form := AsTlogProof(m.Make(usual))
	extra := func(change func([]byte) []byte) string {
		line, _, _ := strings.Cut(strings.TrimPrefix(form, "c2sp.org/tlog-proof@v1\nextra "), "\n")
		return strings.Replace(form, line, onBytes(line, change), 1)
	}
	set := func(at int, value byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = value; return b }
	}
	const time, count, root, index, path = 23, 47, 51, 83, 87 // places in the line
	add("", "a batch of one, a log of one", AsTlogProof(m.Make(Plan{Count: 1, Size: 1})))
	add("", "a batch of 150", form)
	add("", "the last of a batch that is no power of two", AsTlogProof(m.Make(Plan{Count: 7, Index: 6, Size: 13, Entry: 12})))
	add("", "an erased record", AsTlogProof(m.Make(Plan{Erased: true, Count: 3, Index: 1, Size: 9, Entry: 4})))
	add("format", "another name", strings.Replace(form, "@v1", "@v2", 1))
	add("format", "no extra", form[:len("c2sp.org/tlog-proof@v1\n")]+form[strings.Index(form, "index "):])
	add("format", "another spelling of base64", strings.Replace(form, "extra ", "extra  ", 1))
	add("format", "a carriage return behind extra", strings.Replace(form, "\nindex", "\r\nindex", 1))
	add("format", "extra that is cut in its base64", strings.Replace(form, "\nindex", "A\nindex", 1))
	add("record", "extra of a few bytes", extra(func(b []byte) []byte { return b[:index] }))
	add("record", "extra that ends in the path", extra(func(b []byte) []byte { return b[:path+40] }))
	add("record", "extra that ends in the record", extra(func(b []byte) []byte { return b[:len(b)-20] }))
	add("record", "extra with more than the record", extra(func(b []byte) []byte { return append(b, 0) }))
	add("record", "another kind of entry", extra(set(22, 2)))
	add("record", "a negative time", extra(set(time, 0xff)))
	add("record", "a count of 0", extra(func(b []byte) []byte { return set(count+3, 0)(b) }))
	add("record", "a negative count", extra(set(count, 0xff)))
	add("record", "an index beyond the count", extra(set(index, 1)))
	add("batch", "another root", extra(func(b []byte) []byte { b[root] ^= 1; return b }))
	add("batch", "another index", extra(func(b []byte) []byte { b[index+3] ^= 1; return b }))
	add("batch", "another hash of the path", extra(func(b []byte) []byte { b[path] ^= 1; return b }))
	add("proof", "no index", strings.Replace(form, "\nindex 1000", "", 1))
	add("log", "another index in the log", strings.Replace(form, "\nindex 1000", "\nindex 1001", 1))
	add("checkpoint", "another size", strings.Replace(form, "\n66667\n", "\n66668\n", 1))
	return all
}

// promises are receipts that came with an answer.
func (m *Maker) promises() (all []Vector) {
	key := m.Log.Verifier()
	add := func(code, name, text string) {
		all = append(all, Vector{"promise: " + name, Case{Text: text, Policy: key, Promise: true}, code})
	}
	text := m.MakePromise(usual)
	in := func(member string, change func(string) string) string {
		return altered(text, func(r, _ map[string]any) { t, _ := r[member].(string); r[member] = change(t) })
	}
	replace := func(member, old, replacement string) string {
		return in(member, func(t string) string { return strings.Replace(t, old, replacement, 1) })
	}
	add("", "of a batch of 150", text)
	add("", "of a batch of one", m.MakePromise(Plan{Count: 1, Size: 1}))
	add("", "with signatures of unknown keys", in("promise", func(t string) string { return t + signatureLine("other.example", m.bytes(77)) }))
	all = append(all, Vector{"promise: it is no proof", Case{Text: text, Policy: key}, "promise"})
	add("unpromised", "a proof is no promise", m.Make(usual))
	add("unpromised", "a proof in the other form is no promise", AsTlogProof(m.Make(usual)))
	add("unpromised", "not notes", altered(text, func(r, _ map[string]any) { r["promise"], r["key"] = "note", "note" }))
	other := m.MakePromise(usual)
	for _, member := range []string{"promise", "key"} {
		add("unpromised", "the "+member+" of another receipt", altered(text, func(r, _ map[string]any) {
			altered(other, func(o, _ map[string]any) { r[member] = o[member] })
		}))
		add("unpromised", "the "+member+" is not signed", in(member, func(t string) string { return t[:strings.LastIndex(t, "\n\n")+2] }))
		add("unpromised", "the "+member+" has a wrong signature", in(member, func(t string) string {
			at := strings.LastIndex(t, " ") + 1
			return t[:at] + onBytes(strings.TrimSpace(t[at:]), func(b []byte) []byte { b[20] ^= 1; return b }) + "\n"
		}))
		add("unpromised", "the "+member+" has a signature in another spelling", in(member, func(t string) string {
			at := strings.LastIndex(t, " ") + 1
			return t[:at] + otherSpelling(strings.TrimSpace(t[at:])) + "\n"
		}))
		add("unpromised", "the "+member+" has a signature twice", in(member, func(t string) string { return repeated(t) }))
		add("unpromised", "the "+member+" has a signature of an unknown key that is no base64", in(member, func(t string) string {
			return t + "\u2014 other.example " + otherSpelling(base64.StdEncoding.EncodeToString(make([]byte, 77))) + "\n"
		}))
		add("unpromised", "the "+member+" has a control character", in(member, func(t string) string { return strings.Replace(t, "1\n", "1\t\n", 1) }))
		add("unpromised", "the "+member+" has another form", replace(member, " 1\n", " 2\n"))
	}
	add("unpromised", "another delay", replace("promise", "\n60\n", "\n61\n"))
	add("batch", "another record", altered(text, func(r, _ map[string]any) { flip(r, "personal", -1) }))
	all = append(all, m.wrongCertificates()...)
	return all
}

// wrongCertificates are promises by keys that the log certified for something else.
func (m *Maker) wrongCertificates() (all []Vector) {
	r := m.make(usual)
	at := time.UnixMilli(r.Batch.At)
	promise := receipt.PromiseText(Origin, entryOf(&r.Batch))
	k := m.newPromiseKey(at)
	named := m.signer(Origin, ofLog)
	sign := func(name, text string, by, certifier *Signer) {
		r.Promise, r.Key = promise+"\n"+by.line(promise, 0), text+"\n"+certifier.line(text, 0)
		all = append(all, Vector{"promise: " + name, Case{Text: encode(r), Policy: m.Log.Verifier(), Promise: true}, "unpromised"})
	}
	good := receipt.KeyText(Origin, k.Verifier(), at, at.Add(time.Hour))
	sign("a key that is certified by itself", good, k.Signer, k.Signer)
	sign("a key for a later time", receipt.KeyText(Origin, k.Verifier(), at.Add(time.Millisecond), at.Add(time.Hour)), k.Signer, m.Log)
	sign("a key for an earlier time", receipt.KeyText(Origin, k.Verifier(), at.Add(-time.Hour), at.Add(-time.Millisecond)), k.Signer, m.Log)
	sign("a key with another name", receipt.KeyText(Origin, named.Verifier(), at, at.Add(time.Hour)), named, m.Log)
	sign("a key of another log", receipt.KeyText("other.example/log", k.Verifier(), at, at.Add(time.Hour)), k.Signer, m.Log)
	sign("a key of another role", strings.Replace(good, "\npromise\n", "\nlog\n", 1), k.Signer, m.Log)
	sign("a time with a zero before it", strings.Replace(good, "\n"+strconv.FormatInt(at.UnixMilli(), 10), "\n0"+strconv.FormatInt(at.UnixMilli(), 10), 1), k.Signer, m.Log)
	sign("a time beyond 2^53", receipt.KeyText(Origin, k.Verifier(), at, time.UnixMilli(1<<53)), k.Signer, m.Log)
	sign("a certificate with a line more", good+"more\n", k.Signer, m.Log)
	return all
}
