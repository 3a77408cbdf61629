package portal_test

import (
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// addressField finds a field for an e-mail address in a template.
var addressField = regexp.MustCompile(`Name: "email", [^}]*Type: "email"`)

// addressForm is a form with a field for an e-mail address: where it is sent, by whom, with
// which other fields.
type addressForm struct {
	template, role, path string
	fields               url.Values
}

// Every form that takes an e-mail address leads on the same whether the address has an
// account or not, and shows the same. A form that is new is tried here before this test
// passes.
func TestFormsTellNobodyWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	known, unknown := s.as(t, "stranger").email, "nobody-"+uuid.NewString()+"@people.example"
	visitors := map[string]visitor{"nobody": {}, "admin": s.as(t, "admin"), "administrator": s.promoted(t, s.as(t, "administrator"))}
	forms := []addressForm{
		{"kit/signin.templ", "nobody", "/portal/sign-in", url.Values{"password": {"wrong-wrong-wrong"}}},
		{"kit/signin.templ", "nobody", "/portal/forgotten", nil},
		{"team/team.templ", "admin", "/portal/team", url.Values{"kind": {"member"}}},
		{"team/staff.templ", "administrator", "/portal/desk/staff", url.Values{"role": {"auditor"}}},
		{"organisations/entities.templ", "administrator", "/portal/desk/new-entity", url.Values{"name": {"Creek Bank"}, "cac": {"RC 700"}, "another": {"yes"}}},
		{"organisations/entity.templ", "administrator", deskPage(s.bank, "/people"), url.Values{"kind": {"member"}}},
	}
	tried := map[string]int{}
	for _, f := range forms {
		tried[f.template]++
	}
	there := addressForms(t)
	if !maps.Equal(tried, there) {
		t.Errorf("the templates with fields for e-mail addresses are %v, and this test tries %v", there, tried)
	}
	for _, f := range forms {
		send := func(email string) (status int, shown string) {
			fields := maps.Clone(f.fields)
			if fields == nil {
				fields = url.Values{}
			}
			fields.Set("email", email)
			res := s.post(t, f.path, visitors[f.role].session, fields)
			shown = res.Header().Get("Location") + "\n" + res.Body.String()
			return res.Code, regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllString(strings.ReplaceAll(shown, email, "…"), "…")
		}
		oneStatus, one := send(known)
		otherStatus, other := send(unknown)
		if oneStatus != otherStatus || one != other || oneStatus >= http.StatusInternalServerError {
			t.Errorf("%s answered %d to one and %d to the other:\n%s\n%s", f.path, oneStatus, otherStatus, one, other)
		}
	}
}

// addressForms counts the fields for e-mail addresses in each template.
func addressForms(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".templ") {
			return err
		}
		text, err := os.ReadFile(path)
		if n := len(addressField.FindAll(text, -1)); n > 0 {
			found[filepath.ToSlash(path)] = n
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("found %d templates, %v", len(found), err)
	}
	return found
}
