package portal_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/keytest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// otherFields are the fields of the forms that submissions does not have.
var otherFields = map[string]string{
	"/portal/read-messages": "until", "/portal/message-settings": "kinds", "/portal/requests": "number key code", "/portal/journal": "number key correlator from to",
	"/portal/corrections": "number", "/portal/desk/audit": "action actor subject entity", "/portal/theme": "theme next", "/portal/sign-in": "email password next",
	"/portal/sign-in/code": "pending code next", "/portal/invitation": "token name password", "/portal/forgotten": "email", "/portal/reset": "token newPassword",
	"/portal/confirm": "token", "/portal/security/sessions/{session}/end": "", "/portal/security/factor/confirm": "code", "/portal/security/factor/remove": "code password", "/portal/security/prove": "to provePassword proveCode",
	"/portal/try": "number key body", "/portal/documents": "type", "/portal/webhooks/{webhook}/test": "", "/portal/webhooks/{webhook}/again": "from to", "/portal/files": "key mode",
	"/portal/desk/journal": "number entity from to reason", "/portal/desk/journal/record": "requestId", "/portal/desk/numbers": "number reason", "/portal/desk/numbers/order": "number action note",
	"/portal/desk/new-policy": "swappedHours note", "/portal/desk/new-plan": "csv effectiveAt source", "/portal/desk/plan": "csv effectiveAt source seen", "/portal/supply/imports": "kind asOf",
}

// No form of the portal makes the service store, send to its database or show one of its
// keys: not when each of its fields in turn is a text from which a key is derived.
func TestNoFormYieldsAKey(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	search := keytest.New(t, "a pepper for tests, thirty-two bytes long", pgtest.Pepper)
	search.Watch(s.pool)
	s.People.Passwords = secret.NewPasswords(s.People.Peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 64)
	s.Registry.Passwords = s.People.Passwords
	forms := make(map[string]*http.Request)
	for path, f := range submissions() {
		forms[path] = f.prepare(t, s)
	}
	for _, path := range elsewhere {
		names, known := otherFields[path]
		if !known {
			t.Errorf("this test does not know the fields of %s", path)
		}
		session := s.as(t, "admin").session
		if strings.HasPrefix(path, "/portal/desk") {
			session = s.asAdministrator(t).session
		}
		fields := url.Values{}
		for name := range strings.FieldsSeq(names) {
			fields.Set(name, "x")
		}
		forms[path] = newRequest(http.MethodPost, path, session, fields)
	}
	labels := keytest.Labels(t)
	for i, pattern := range slices.Sorted(maps.Keys(forms)) {
		for _, label := range keytest.Some(labels, i) {
			for _, filled := range keytest.Fill(t, forms[pattern], pattern, label) {
				res := keytest.Send(t, s.handler, filled)
				search.Look("the page after "+pattern, res.Body.Bytes())
			}
		}
	}
	search.Tables(t, pgtest.Open(t, s.pool.Config().ConnString(), ""))
	search.Report(t, 300_000)
}
