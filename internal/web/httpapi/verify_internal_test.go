package httpapi

import "testing"

// The fast path and the decoder read the same number; a body with violations is
// left to the decoder.
func FuzzFastPathReadsWhatTheDecoderReads(f *testing.F) {
	for _, body := range []string{
		`{"phoneNumber":"+2348031234567"}`, `{"phoneNumber": "0803 123 4567"}`, `{"phoneNumber":"0803"}` + "\n", `{"phoneNumber":""}`, `{"phoneNumber":"a\"b"}`,
		`{"phoneNumber":"a","phoneNumber":"b"}`, `{"phoneNumber":"a"} {}`, `{"phoneNumber":"a"`, `{"phoneNumber":"a}`, `{"phoneNumber":1}`, `{"phoneNumber":"\u0000"}`,
		"{\"phoneNumber\":\"\xff\"}", `{"phoneNumber":"ａ"}`, ` {"phoneNumber":"a"}`, `{"phoneNumber":"a"}` + "\r\n ", `{"phoneNumber":"a"}}`, `{"PhoneNumber":"a"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		short, ok := fastPhoneNumber(body)
		if !ok {
			return
		}
		var long, since string
		var asked bool
		var include []string
		wrong, err := decodeObject(body, []field{
			{name: "phoneNumber", text: &long}, {name: "since", text: &since, present: &asked}, {name: "include", list: &include},
		})
		if err != nil || len(wrong) > 0 || long != short || asked || len(include) > 0 {
			t.Errorf("%q is read as %q, and by the decoder as %q with %v, %v", body, short, long, wrong, err)
		}
	})
}

// The usual body takes the fast path.
func TestUsualBodyTakesTheFastPath(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"phoneNumber":"+2348031234567"}`:          "+2348031234567",
		`{"phoneNumber": "(0803) 123-4567"}` + "\n": "(0803) 123-4567",
	} {
		if got, ok := fastPhoneNumber([]byte(body)); !ok || got != want {
			t.Errorf("%s is read as %q, %v", body, got, ok)
		}
	}
}
