package receipttest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/receipt"
)

// Vector is a receipt with how it is judged: the code of the refusal, or "" for a good one.
type Vector struct {
	Name string
	Case
	Refused string
}

// The parts of a receipt that alterations change.
type edit func(r, batch map[string]any)

func altered(text string, change edit) string {
	var r map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		panic(err) // it was made here
	}
	batch, _ := r["batch"].(map[string]any)
	change(r, batch)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic(err)
	}
	return strings.TrimSpace(out.String())
}

// valueOf returns the value of a member of a receipt or of its batch, as JSON.
func valueOf(text, name string) (value string) {
	altered(text, func(r, batch map[string]any) {
		member, there := r[name]
		if !there {
			member = batch[name]
		}
		json, err := json.Marshal(member)
		if err != nil {
			panic(err)
		}
		value = string(json)
	})
	return value
}

// flip changes one bit of a member in base64.
func flip(of map[string]any, name string, at int) {
	text, _ := of[name].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	raw[(at+len(raw))%len(raw)] ^= 1
	of[name] = base64.StdEncoding.EncodeToString(raw)
}

func inProof(old, replacement string) edit {
	return func(r, _ map[string]any) {
		text, _ := r["proof"].(string)
		if !strings.Contains(text, old) {
			panic("the proof has no " + old)
		}
		r["proof"] = strings.Replace(text, old, replacement, 1)
	}
}

// Vectors returns receipts of every kind, good ones and bad ones, the same every time.
func Vectors() []Vector {
	m := NewMaker(19)
	return slices.Concat(m.good(), m.bad(), m.policies(), m.tlogProofs(), m.promises(), m.tests())
}

// usual is the receipt that is altered.
var usual = Plan{Count: 150, Index: 37, Size: 66667, Entry: 1000, Witnesses: []int{0, 1}}

func (m *Maker) good() (all []Vector) {
	key := m.Log.Verifier()
	add := func(name, text, policy string) { all = append(all, Vector{name, Case{Text: text, Policy: policy}, ""}) }
	add("a batch of one, a log of one", m.Make(Plan{Count: 1, Size: 1}), key)
	add("a batch of 150", m.Make(usual), key)
	add("the last of a batch that is no power of two", m.Make(Plan{Count: 7, Index: 6, Size: 13, Entry: 12}), key)
	add("an erased record", m.Make(Plan{Erased: true, Count: 3, Index: 1, Size: 9, Entry: 4}), key)
	add("the largest log", m.Make(Plan{Count: 2, Size: 1<<53 - 1, Entry: 1<<53 - 2}), key)
	add("text in other scripts", m.Make(Plan{Count: 2, Size: 2, Text: "\u1ecc\u0300y\u1ecd\u0301 \u0645\u0635\u0631\u0641 \u4e2d \U0001f4de\ufeff\u0000"}), key)
	add("the key with a line feed behind it", m.Make(Plan{Count: 2, Size: 2}), key+"\n")
	add("two of three witnesses", m.Make(usual), m.Policy(2))
	add("three of three witnesses", m.Make(Plan{Count: 2, Size: 2, Witnesses: []int{2, 0, 1}}), m.Policy(3))
	add("a witness of groups of groups", m.Make(Plan{Count: 2, Size: 2, Witnesses: []int{2}}), strings.Replace(m.Policy(1), "group national 1 north east south\nquorum national",
		"group two all north east\ngroup any any two south\nquorum any", 1)) //nolint:dupword // the first is a name, the second says how many
	add("witnesses that the policy does not need", m.Make(usual), strings.Replace(m.Policy(1), "quorum national", "quorum none", 1))
	add("signatures of unknown keys", m.Make(Plan{Count: 2, Size: 2, Witnesses: []int{0}, Behind: signatureLine("other.example", m.bytes(77)) + signatureLine(Origin, append([]byte{6, 6, 6, 6}, m.bytes(2420)...))}), key)
	add("an extension line", m.Make(Plan{Count: 2, Size: 2, Extension: "more \u00e9\n"}), key)
	text := m.Make(usual)
	add("another statement, which proves nothing", altered(text, func(r, _ map[string]any) { r["statement"] = "" }), key)
	add("spaces between members, which are in another order", strings.NewReplacer(`,"`, "\n\t, \"", `":`, "\" : ").Replace(altered(text, func(_, _ map[string]any) {})), key)
	add("characters that are written as escapes", strings.Replace(text, `"form"`, `"\u0066orm"`, 1), key)
	return all
}

func (m *Maker) bad() (all []Vector) {
	key, text, erased := m.Log.Verifier(), m.Make(usual), m.Make(Plan{Erased: true, Count: 3, Index: 1, Size: 9, Entry: 4})
	add := func(code, name, text, policy string) {
		all = append(all, Vector{name, Case{Text: text, Policy: policy}, code})
	}
	set := func(name string, value any) edit { return func(r, _ map[string]any) { r[name] = value } }
	inBatch := func(name string, value any) edit { return func(_, b map[string]any) { b[name] = value } }
	path := func(change func([]any) []any) edit {
		return func(_, b map[string]any) { p, _ := b["path"].([]any); b["path"] = change(slices.Clone(p)) }
	}
	for code, edits := range map[string]map[string]edit{
		"format": {
			"another form":                 set("form", "lineproof receipt 2"),
			"no form":                      func(r, _ map[string]any) { delete(r, "form") },
			"no statement":                 func(r, _ map[string]any) { delete(r, "statement") },
			"a statement that is a number": set("statement", 1),
			"no proof":                     func(r, _ map[string]any) { delete(r, "proof") },
			"a proof that is null":         set("proof", nil),
			"a proof that is empty":        set("proof", ""),
			"a promise that is null":       set("promise", nil),
			"a key of a promise alone":     set("key", "note"),
			"a promise beside a proof":     func(r, _ map[string]any) { r["promise"], r["key"] = "note", "note" },
			"a promise without its key":    func(r, _ map[string]any) { delete(r, "proof"); r["promise"] = "note" },
			"no batch":                     func(r, _ map[string]any) { delete(r, "batch") },
			"a batch that is a list":       set("batch", []any{}),
			"a member that is not known":   set("note", ""),
			"a member in capitals":         func(r, _ map[string]any) { r["Proof"] = r["proof"]; delete(r, "proof") },
			"another member of the batch":  inBatch("node", "a"),
			"a number as text":             inBatch("index", "37"),
			"a negative number":            inBatch("n", json.Number("-1")),
			"minus zero":                   inBatch("epoch", json.Number("-0")),
			"a fraction":                   inBatch("count", json.Number("150.0")),
			"an exponent":                  inBatch("count", json.Number("15e1")),
			"a number beyond 2^53":         inBatch("n", json.Number("9007199254740993")),
			"a count beyond 2^31":          inBatch("count", json.Number("4294967446")),
			"a boolean":                    inBatch("epoch", true),
			"a path that is null":          inBatch("path", nil),
			"a path that is text":          inBatch("path", ""),
			"base64 without padding":       func(_, b map[string]any) { t, _ := b["root"].(string); b["root"] = strings.TrimRight(t, "=") },
			"base64 with other last bits":  path(func(p []any) []any { t, _ := p[0].(string); p[0] = otherSpelling(t); return p }),
			"base64 with a line feed":      func(r, _ map[string]any) { t, _ := r["public"].(string); r["public"] = t[:8] + "\n" + t[8:] },
			"base64 with a space":          func(r, _ map[string]any) { t, _ := r["public"].(string); r["public"] = " " + t },
			"base64 for URLs":              set("personalHash", "_-__"),
			"public that is a number":      set("public", 7),
		},
		"promise": {
			"a promise": func(r, _ map[string]any) { delete(r, "proof"); r["promise"], r["key"] = "note", "note" },
		},
		"record": {
			"another name of the encoding": func(r, _ map[string]any) { flip(r, "public", 0) },
			"a byte behind the record":     func(r, _ map[string]any) { r["public"] = longer(r["public"]) },
			"a record that is cut":         set("public", base64.StdEncoding.EncodeToString([]byte("lineproof record 1\n\x00\x00\x00\x10"))),
			"no record":                    set("public", ""),
			"no personal part":             func(r, _ map[string]any) { delete(r, "personal") },
			"an empty personal part":       set("personal", ""),
			"a personal part and its hash": set("personalHash", base64.StdEncoding.EncodeToString(make([]byte, 32))),
			"an empty hash beside it":      set("personalHash", ""),
			"a nonce that is too short":    func(r, _ map[string]any) { r["personal"] = shorter(r["personal"]) },
			"text that is not UTF-8":       func(r, _ map[string]any) { r["public"] = replaced(r["public"], "number", "numb\xffr") },
			"a negative number in it":      func(r, _ map[string]any) { r["public"] = negative(r["public"]) },
		},
		"batch": {
			"another status":                 func(r, _ map[string]any) { r["public"] = replaced(r["public"], "live", "test") },
			"another number":                 func(r, _ map[string]any) { flip(r, "personal", 37) },
			"another nonce":                  func(r, _ map[string]any) { flip(r, "personal", -1) },
			"another index in the batch":     inBatch("index", 38),
			"an index beyond the batch":      inBatch("index", 150),
			"another time of the batch":      inBatch("at", json.Number("1794648600000")),
			"another root of the batch":      func(_, b map[string]any) { flip(b, "root", 3) },
			"a root that is too short":       inBatch("root", "AAAA"),
			"a path that is too short":       path(func(p []any) []any { return p[1:] }),
			"a path that is too long":        path(func(p []any) []any { return append(p, p[0]) }),
			"a path in another order":        path(func(p []any) []any { p[0], p[1] = p[1], p[0]; return p }),
			"a hash in the path that is cut": path(func(p []any) []any { p[0] = "AAAA"; return p }),
			"an empty path":                  inBatch("path", []any{}),
		},
		"proof": {
			"a proof of another kind":     inProof("tlog-proof@v1", "tlog-proof@v2"),
			"no index":                    inProof("index 1000\n", ""),
			"an index with a zero before": inProof("index 1000", "index 01000"),
			"an index with a sign":        inProof("index 1000", "index +1000"),
			"an index beyond 2^53":        inProof("index 1000", "index 9007199254740993"),
			"a hash that is no base64":    inProof("index 1000\n", "index 1000\nhash\n"),
			"no checkpoint":               func(r, _ map[string]any) { t, _ := r["proof"].(string); r["proof"], _, _ = strings.Cut(t, "\n\n") },
			"line feeds with carriage ones": func(r, _ map[string]any) {
				t, _ := r["proof"].(string)
				r["proof"] = strings.ReplaceAll(t, "\n", "\r\n")
			},
		},
		"checkpoint": {
			"an empty checkpoint":              func(r, _ map[string]any) { t, _ := r["proof"].(string); r["proof"] = t[:strings.Index(t, "\n\n")+2] },
			"another size":                     inProof("\n66667\n", "\n66668\n"),
			"another origin":                   inProof("\n"+Origin+"\n", "\nother.example\n"),
			"no signature":                     func(r, _ map[string]any) { r["proof"] = withoutSignatures(r["proof"], 0) },
			"an empty line instead of one":     func(r, _ map[string]any) { r["proof"] = withoutSignatures(r["proof"], 0) + "\n" },
			"a checkpoint that is cut":         func(r, _ map[string]any) { t, _ := r["proof"].(string); r["proof"] = strings.TrimSuffix(t, "\n") },
			"the log's signature twice":        func(r, _ map[string]any) { r["proof"] = repeated(r["proof"]) },
			"a line that is no signature":      inProof("\n\u2014 "+Origin, "\nhello\n\u2014 "+Origin),
			"a hyphen instead of a dash":       inProof("\n\u2014 "+Origin, "\n- "+Origin),
			"an unknown signature, not base64": func(r, _ map[string]any) { t, _ := r["proof"].(string); r["proof"] = t + "\u2014 other.example AAA\n" },
			"an unknown signature, other bits": func(r, _ map[string]any) {
				t, _ := r["proof"].(string)
				r["proof"] = t + "\u2014 other.example AAAAAAB=\n"
			},
			"an unknown signature of no length": func(r, _ map[string]any) {
				t, _ := r["proof"].(string)
				r["proof"] = t + "\u2014 other.example AAAAAA==\n"
			},
			"a name with a plus sign": func(r, _ map[string]any) {
				t, _ := r["proof"].(string)
				r["proof"] = t + "\u2014 other+example AAAAAAAA\n"
			},
			"a name outside of ASCII": func(r, _ map[string]any) {
				t, _ := r["proof"].(string)
				r["proof"] = t + "\u2014 oth\u00e9r AAAAAAAA\n"
			},
			"a tab in the checkpoint": inProof("\n66667\n", "\n66667\t\n"),
			"101 signatures":          func(r, _ map[string]any) { t, _ := r["proof"].(string); r["proof"] = t + manySignatures(99) },
		},
		"log": {
			"another epoch":                inBatch("epoch", 58),
			"another number of the batch":  inBatch("n", 4711),
			"another entry of the log":     inProof("index 1000\n", "index 1001\n"),
			"an index beyond the log":      inProof("index 1000\n", "index 66667\n"),
			"a path in the log, too short": func(r, _ map[string]any) { r["proof"] = dropLine(r["proof"], 2) },
			"a path in the log, too long":  inProof("index 1000\n", "index 1000\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"),
		},
	} {
		for _, name := range slices.Sorted(maps.Keys(edits)) {
			add(code, name, altered(text, edits[name]), key)
		}
	}
	slices.SortFunc(all, func(a, b Vector) int { return strings.Compare(a.Refused+a.Name, b.Refused+b.Name) })
	for _, object := range []struct {
		of    string
		names []string
	}{
		{"", []string{"form", "statement", "public", "personal", "proof"}},
		{`"batch":`, []string{"epoch", "n", "at", "count", "index", "path", "root"}},
	} {
		for _, name := range object.names {
			add("format", "a second member "+name, twice(text, object.of, name, valueOf(text, name)), key)
			add("format", "a second member "+name+" with an escape in its name", twice(text, object.of, fmt.Sprintf(`\u%04x`, name[0])+name[1:], valueOf(text, name)), key)
		}
	}
	other := m.Make(usual)
	for _, c := range []struct{ code, name, text, policy string }{
		{"format", "nothing", "", key},
		{"format", "the receipt of a supplied file", `{"form":"` + receipt.SupplyForm + `","statement":"","supply":"bGluZXByb29mIHN1cHBseSAxCg==","at":1794648600123,"proof":""}`, key},
		{"format", "no JSON", text[1:], key},
		{"format", "a text behind it", text + "x", key},
		{"format", "a byte order mark", "\ufeff" + text, key},
		{"format", "a list", "[" + text + "]", key},
		{"format", "a second public part, of another receipt", twice(text, "", "public", valueOf(other, "public")), key},
		{"format", "a second personalHash of an erased record", twice(erased, "", "personalHash", valueOf(erased, "personalHash")), key},
		{"format", "too long", text + strings.Repeat(" ", 1<<20), key},
		{"record", "a short hash of an erased record", altered(erased, set("personalHash", "AAAA")), key},
		{"batch", "another hash of an erased record", altered(erased, func(r, _ map[string]any) { flip(r, "personalHash", 5) }), key},
		{"batch", "the record of another receipt", swapMember(text, other, "public"), key},
		{"batch", "the batch of another receipt", swapMember(text, other, "batch"), key},
		{"batch", "the batch has another time than the record", m.Make(Plan{Count: 2, Size: 2, WrongRecordTime: true}), key},
		{"log", "the proof of another receipt", swapMember(text, other, "proof"), key},
		{"quorum", "too few witnesses", m.Make(Plan{Count: 2, Size: 2, Witnesses: []int{1}}), m.Policy(2)},
		{"quorum", "no witness", m.Make(Plan{Count: 2, Size: 2}), m.Policy(1)},
		{"checkpoint", "a witness with another time", altered(text, func(r, _ map[string]any) { r["proof"] = otherTime(r["proof"]) }), m.Policy(2)},
		{"checkpoint", "a wrong signature of a witness that is not needed", altered(text, func(r, _ map[string]any) { r["proof"] = otherTime(r["proof"]) }), m.Policy(1)},
		{"checkpoint", "the witnesses without the log", altered(text, func(r, _ map[string]any) { r["proof"] = withoutLog(r["proof"]) }), m.Policy(2)},
		{"checkpoint", "another log of the same name", text, NewMaker(20).Log.Verifier()},
	} {
		add(c.code, c.name, c.text, c.policy)
	}
	return all
}

// policies are those that are wrong. The receipt is good.
func (m *Maker) policies() (all []Vector) {
	text, policy, key := m.Make(usual), m.Policy(2), m.Log.Verifier()
	north := m.Witnesses[0].Verifier()
	for _, c := range [][2]string{
		{"no policy", ""},
		{"a key that is cut", key[:len(key)-4]},
		{"a key with another id", strings.Replace(key, "+"+key[len(Origin)+1:len(Origin)+3], "+zz", 1)},
		{"the key of a witness instead of a log", north},
		{"the key of a log instead of a witness", strings.Replace(policy, north, key, 1)},
		{"no quorum", strings.Replace(policy, "quorum national\n", "", 1)},
		{"two quorums", policy + "quorum none\n"},
		{"two logs", policy + "log " + key + "\n"},
		{"a quorum that is not known", strings.Replace(policy, "quorum national", "quorum nation", 1)},
		{"a group that needs more than it has", strings.Replace(policy, "national 2", "national 4", 1)},
		{"a group that needs none", strings.Replace(policy, "national 2", "national 0", 1)},
		{"a number with a sign", strings.Replace(policy, "national 2", "national +2", 1)},
		{"a member twice", strings.Replace(policy, "north east south", "north north south", 1)}, //nolint:dupword // it is what is wrong
		{"a member that is not known", strings.Replace(policy, "north east south", "north west south", 1)},
		{"a witness under two names", strings.Replace(policy, "group", "witness again "+north+"\ngroup", 1)},
		{"a name twice", strings.Replace(policy, "group", "witness north "+m.signer("west.example", ofWitness).Verifier()+"\ngroup", 1)},
		{"a witness with the name none", strings.Replace(policy, "group", "witness none "+m.signer("west.example", ofWitness).Verifier()+"\ngroup", 1)},
		{"a line that is not known", policy + "trust me\n"},
	} {
		all = append(all, Vector{"policy: " + c[0], Case{Text: text, Policy: c[1]}, "policy"})
	}
	return all
}

// WithATestKey is a request that a bank makes with a test key for somebody else, about what has changed since a day.
var WithATestKey = Plan{Count: 2, Size: 2, Asked: func(e *record.Entry) {
	e.Mode, e.Key, e.OnBehalfOf = "test", uuid.MustParse("0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40"), "0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f41"
	e.ExternalID, e.Options, e.Extra = "loan 4711", "since=2026-09-01T00:00:00Z include=signals", `{"changedSince":"yes"}`
}}

// tests are receipts of requests with a test key.
func (m *Maker) tests() []Vector {
	key := m.Log.Verifier()
	return []Vector{
		{"a test", Case{Text: m.Make(WithATestKey), Policy: key}, ""},
		{"promise: of a test", Case{Text: m.MakePromise(WithATestKey), Policy: key, Promise: true}, ""},
	}
}
