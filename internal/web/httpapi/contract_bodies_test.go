package httpapi_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
)

// A body of JSON may be as large as the introduction of the contract says, and not a byte larger.
func TestSizesOfBodiesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	c := loadContract(t)
	const said = "A JSON body may have up to 16 KiB; 64 KiB for a batch and 256 KiB if it has objects; 64 KiB for acknowledgements; " +
		"1 MiB for line events and for changes of a watch-list."
	if !strings.Contains(strings.Join(strings.Fields(c.doc.Info.Description), " "), said) {
		t.Errorf("the introduction does not say %q", said)
	}
	sizes := map[string]int{
		"POST " + batchPath: 64 << 10, "POST " + acksPath: 64 << 10,
		"POST " + eventsPath: 1 << 20, "POST " + listsPath + "/{listId}/members": 1 << 20,
	}
	send := func(route, begin string, size, want int) {
		t.Helper()
		r := validRequest(t, s, route, creds[credentialFor(route)], entity)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(begin+strings.Repeat(" ", size-len(begin)))), int64(size)
		r.Header.Set("Content-Type", "application/json")
		res := s.do(t, r)
		if c.check(t, r, res); (res.Code == http.StatusRequestEntityTooLarge) != (want == http.StatusRequestEntityTooLarge) {
			t.Errorf("%s with %d bytes: %d", route, size, res.Code)
		}
	}
	for _, route := range slices.Sorted(maps.Keys(jsonOperations(t))) {
		size, known := sizes[route]
		if !known {
			size = 16 << 10
		}
		send(route, "{}", size, 0)
		send(route, "{}", size+1, http.StatusRequestEntityTooLarge)
	}
	objects := `{"phoneNumbers":[{"phoneNumber":"` + knownNumber + `"}]}`
	send("POST "+batchPath, objects, 256<<10, 0)
	send("POST "+batchPath, objects, 256<<10+1, http.StatusRequestEntityTooLarge)
}

// refusedExamples are the examples of requests that name something that a test does not have: a
// client, a person, a password, a code, a link, an order, an event, a cursor or an entity.
var refusedExamples = map[string]int{
	"POST " + revokePath + " token": 401, "POST " + tokenPath + " scoped": 401, "POST " + tokenPath + " everything": 401,
	"POST " + loginPath + " password": 401, "POST " + loginPath + " otp": 401,
	"POST " + tokenPath + " basic":          400, // the client is in a header
	"POST " + keysPath + " live":            403, // the person has no second factor
	"POST " + passwordPath + " change":      400,
	"POST " + provePath + " password":       400,
	"DELETE " + factorPath + " remove":      400,
	"POST " + factorConfirmPath + " code":   400,
	"POST " + confirmEmailPath + " confirm": 400,
	"POST " + acceptPath + " accept":        400,
	"POST " + resetCompletePath + " set":    400,
	"POST " + uploadPath + " token":         404,
	"POST " + ordersPath + " confirm":       404, "POST " + ordersPath + " held": 400,
	"POST " + hooksPath + "/{webhookId}/replay request": 409, "POST " + hooksPath + "/{webhookId}/resend request": 404,
}

// senders are the credentials of examples that another caller sends than credentialFor says.
var senders = map[string]string{"POST " + invitationsPath + " member": "session admin", "POST " + historyPath + " now": "token line:supply"}

// Every example of a request is one that the service takes; those that name what only another
// place has, such as a link, are refused for that.
func TestExamplesOfRequestsAreTaken(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	c := loadContract(t)
	taken, unused := 0, maps.Clone(refusedExamples)
	for _, path := range slices.Sorted(maps.Keys(c.doc.Paths.Map())) {
		for method, o := range c.doc.Paths.Value(path).Operations() {
			if o.RequestBody == nil {
				continue
			}
			for kind, media := range o.RequestBody.Value.Content {
				for name, example := range media.Examples {
					route := method + " " + path
					sender := cmp.Or(senders[route+" "+name], credentialFor(route))
					r := withExample(t, validRequest(t, s, route, creds[sender], entity), kind, example.Value.Value)
					if r == nil {
						continue
					}
					res := s.do(t, r)
					c.check(t, r, res)
					want, refused := refusedExamples[route+" "+name]
					delete(unused, route+" "+name)
					if taken++; res.Code != want && (refused || res.Code >= http.StatusMultipleChoices) {
						t.Errorf("%s, example %s: %d, want %d: %s", route, name, res.Code, want, res.Body)
					}
				}
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("there are no such examples: %v", unused)
	}
	if taken < 54 {
		t.Errorf("only %d examples are sent", taken)
	}
}

// withExample returns a request with an example as its body; nil for files, which the
// contract cannot show.
func withExample(t *testing.T, r *http.Request, kind string, example any) *http.Request {
	t.Helper()
	text, isText := example.(string)
	object, _ := example.(map[string]any)
	switch {
	case kind == "multipart/form-data":
		parts := []part{{"file", "cac.pdf", pdf}}
		for name, value := range object {
			if name != "file" {
				parts = append(parts, part{name, "", fmt.Sprint(value)})
			}
		}
		return upload(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), parts...)
	case kind == "application/x-www-form-urlencoded":
		values := url.Values{}
		for name, value := range object {
			values.Set(name, fmt.Sprint(value))
		}
		text = values.Encode()
	case isText && kind != "text/csv":
		return nil
	case !isText:
		text = asJSON(t, example)
	}
	r.Header.Set("Content-Type", kind)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(text))), int64(len(text))
	return r
}

// Every default of the contract is what the service does without the parameter: a page is as long
// as it says, and the response is that of the default.
func TestDefaultsOfTheContractAreThoseOfTheService(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	for range 51 {
		s.paper(t, entity, "TAX_ID")
	}
	for range 101 {
		s.tellBank(t, access.Live)
	}
	var waiting []event
	for i := range 51 {
		waiting = append(waiting, happened(fmt.Sprintf("late-%d", i), knownNumber, "PORT_RELEASED", 40*day+time.Duration(i)*time.Hour, "network", "AIRTEL"))
	}
	s.do(t, post(eventsPath, s.operator(t), eventsBody(t, waiting...)))
	members := map[string]string{ // of a response, with a page
		"GET " + documentsPath + " limit": "documents", "GET " + conflictsPath + " limit": "conflicts", "GET " + feedPath + " limit": "events",
		"GET " + hooksPath + "/{webhookId}/attempts limit": "attempts",
	}
	seen := 0
	c := loadContract(t)
	for _, path := range slices.Sorted(maps.Keys(c.doc.Paths.Map())) {
		for method, o := range c.doc.Paths.Value(path).Operations() {
			route := method + " " + path
			for _, p := range o.Parameters {
				if p.Value.Schema.Value.Default == nil {
					continue
				}
				seen++
				name, value := p.Value.Name, fmt.Sprint(p.Value.Schema.Value.Default)
				ask := func(value string) *httptest.ResponseRecorder {
					r := validRequest(t, s, route, creds[credentialFor(route)], entity)
					if strings.HasSuffix(path, "/attempts") {
						id := strings.Split(r.URL.Path, "/")[4]
						super(t, s, `INSERT INTO hook_attempt SELECT '`+id+`', i, '2026-11-01', 'test', '', nullif(1, 1), NULL, 0, 200, '', 1, ''
							FROM generate_series(1, 26) i`)
					}
					if query := r.URL.Query(); value != "" {
						query.Set(name, value)
						r.URL.RawQuery = query.Encode()
					}
					return s.do(t, r)
				}
				without, with := ask(""), ask(value)
				plain := func(res *httptest.ResponseRecorder) string {
					return times.ReplaceAllString(ids.ReplaceAllString(res.Body.String(), ""), "")
				}
				if a, b := plain(without), plain(with); a != b || without.Code != http.StatusOK {
					t.Errorf("%s without %s: %d %s, and with %s: %s", route, name, without.Code, without.Body, value, with.Body)
				}
				if member := members[route+" "+name]; member != "" {
					list, _ := parsed(without.Body.Bytes()).(map[string]any)["data"].(map[string]any)[member].([]any)
					if strconv.Itoa(len(list)) != value {
						t.Errorf("%s without %s has %d, want %s", route, name, len(list), value)
					}
				}
			}
		}
	}
	created := s.do(t, post(hooksPath, s.bankKey(t, access.Live), `{"name":"core banking","url":"https://hooks.bank.example/"}`))
	for name, p := range c.doc.Components.Schemas["WebhookRequest"].Value.Properties {
		if want := p.Value.Default; want != nil {
			if seen++; field(t, created.Body.Bytes(), "data", name) != want {
				t.Errorf("without %s a webhook is %s, want %v", name, created.Body, want)
			}
		}
	}
	if text := asJSON(t, c.doc); strings.Count(text, `"default":`)-strings.Count(text, `"default":{`) != seen { // the other is a response
		all := strings.Count(text, `"default":`)
		t.Errorf("the contract has %d defaults, and %d are compared", all, seen)
	}
}
