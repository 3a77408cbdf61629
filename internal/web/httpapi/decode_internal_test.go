package httpapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

func bodyFields(text *string, flag *bool, list *[]string) []field {
	return []field{{name: "phoneNumber", text: text}, {name: "isDocumentRequired", flag: flag, required: true}, {name: "include", list: list}}
}

// JSON that parsers read differently is refused: an attacker must not be able
// to show one value to a proxy and another to the service.
func TestDecodeRefusesAmbiguousJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, want string }{
		"repeated":        {`{"phoneNumber":"1","phoneNumber":"2","isDocumentRequired":true}`, "phoneNumber DUPLICATE_FIELD"},
		"repeated escape": {`{"phoneNumber":"1","phone\u004eumber":"2","isDocumentRequired":true}`, "phoneNumber DUPLICATE_FIELD"},
		"wrong case":      {`{"PHONENUMBER":"1","isDocumentRequired":true}`, "PHONENUMBER UNKNOWN_FIELD"},
		"long s":          {`{"iſDocumentRequired":true,"isDocumentRequired":true}`, "iſDocumentRequired UNKNOWN_FIELD"},
		"null text":       {`{"phoneNumber":null,"isDocumentRequired":true}`, "phoneNumber WRONG_TYPE"},
		"null flag":       {`{"isDocumentRequired":null}`, "isDocumentRequired WRONG_TYPE"},
		"number":          {`{"phoneNumber":1e400,"isDocumentRequired":true}`, "phoneNumber WRONG_TYPE"},
		"missing flag":    {`{}`, "isDocumentRequired REQUIRED"},
		"nul":             {`{"phoneNumber":"\u0000","isDocumentRequired":true}`, "phoneNumber INVALID_FORMAT"},
		"null list":       {`{"include":null,"isDocumentRequired":true}`, "include WRONG_TYPE"},
		"text for list":   {`{"include":"a","isDocumentRequired":true}`, "include WRONG_TYPE"},
		"list for text":   {`{"phoneNumber":["1"],"isDocumentRequired":true}`, "phoneNumber WRONG_TYPE"},
		"list in list":    {`{"include":[["a"]],"isDocumentRequired":true}`, "include WRONG_TYPE"},
		"null in list":    {`{"include":["a",null,1],"isDocumentRequired":true}`, "include WRONG_TYPE"},
		"nul in list":     {`{"include":["\u0000","a\u0000"],"isDocumentRequired":true}`, "include INVALID_FORMAT"},
		"long list":       {`{"include":["a"` + strings.Repeat(`,"a"`, maxList) + `],"isDocumentRequired":true}`, "include TOO_LONG"},
		"two lists":       {`{"include":[],"include":["a"],"isDocumentRequired":true}`, "include DUPLICATE_FIELD"},
		"long name":       {`{"` + strings.Repeat("x", 99) + `":1,"isDocumentRequired":true}`, strings.Repeat("x", 64) + "… UNKNOWN_FIELD"},
		"control in name": {`{"a\nb":1,"isDocumentRequired":true}`, "a?b UNKNOWN_FIELD"},
	} {
		var text string
		var flag bool
		var list []string
		found, err := decodeObject([]byte(tc.body), bodyFields(&text, &flag, &list))
		if err != nil || len(found) != 1 || found[0].Field+" "+found[0].Code != tc.want {
			t.Errorf("%s: %v, %v; want %s", name, found, err, tc.want)
		}
	}
	for name, body := range map[string]string{
		"empty": "", "space": " ", "null": "null", "array": "[]", "text": `"x"`, "number": "1", "true": "true", "cut off": `{"a":`, "two objects": "{}{}",
		"trailing comma": `{"phoneNumber":"1",}`, "comment": `{/**/}`, "single quotes": `{'a':1}`, "byte order mark": "\ufeff{}", "invalid utf-8": "{\"\xff\":1}",
		"lone surrogate": `{"phoneNumber":"\ud800"}`, "raw control": "{\"phoneNumber\":\"\x01\"}", "deep": strings.Repeat(`{"a":`, 20000), "nan": `{"a":NaN}`, "plus": `{"a":+1}`, "open list": `{"include":["a"`, "list with a comma": `{"include":["a",]}`, "surrogate in list": `{"include":["\ud800"]}`,
	} {
		if _, err := decodeObject([]byte(body), nil); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Whatever the body, decoding does not panic, its messages can be shown, and it
// accepts nothing that the standard library would read differently.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"phoneNumber":"+2348031234567","isDocumentRequired":true}`, `{"phoneNumber":"\u0030","isDocumentRequired":false}`, `{"include":["signals","\u0073"],"isDocumentRequired":true}`, `{"a":{"b":[1,2,{}]}}`, `null`, `{}`, "{\"\xff\":1}", `{"phoneNumber":"\ud83d\ude00","isDocumentRequired":true}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var text string
		var flag bool
		var list []string
		found, err := decodeObject(body, bodyFields(&text, &flag, &list))
		for _, v := range found {
			if !utf8.ValidString(v.Field) || utf8.RuneCountInString(v.Field) > 65 || v.Message == "" {
				t.Errorf("violation %+v cannot be shown", v)
			}
		}
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("error %v", err)
			}
			return
		}
		var std struct {
			PhoneNumber        string   `json:"phoneNumber"`
			IsDocumentRequired bool     `json:"isDocumentRequired"`
			Include            []string `json:"include"`
		}
		d := json.NewDecoder(bytes.NewReader(body))
		if len(found) == 0 {
			if err := d.Decode(&std); err != nil || std.PhoneNumber != text || std.IsDocumentRequired != flag || !slices.Equal(std.Include, list) {
				t.Errorf("we read %q %v %q, the standard library %q %v %q (%v)", text, flag, list, std.PhoneNumber, std.IsDocumentRequired, std.Include, err)
			}
		}
	})
}

func TestRetryAfterIsSpreadAndNeverZero(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		s := web.SpreadRetry(1)
		if s == "0" || s == "" {
			t.Fatalf("Retry-After %q", s)
		}
		seen[s] = true
	}
	if len(seen) < 2 {
		t.Error("everybody is told the same second")
	}
}

func TestPrivateCorrelatorsAreNotLogged(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"order-77/a": "order-77/a", "2348031234567": "[withheld]", "x08031234567y": "[withheld]", "0803-123-4567": "[withheld]", "08031234567080312345670803123456": "[withheld]", "lp_live_abc": "[withheld]",
		"01890000-0000-7000-8000-000000000001": "01890000-0000-7000-8000-000000000001", "a1b2-c3": "a1b2-c3",
	} {
		if got := web.Loggable(in); got != want {
			t.Errorf("Loggable(%q) = %q, want %q", in, got, want)
		}
	}
}
