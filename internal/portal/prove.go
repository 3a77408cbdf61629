package portal

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/secret"
)

var provePage = view.Page{Title: "Enter your password again", Lead: "This change needs it if you have not entered it in the last 5 minutes."}

// The fields of the page that asks for the password again. Their names differ from those
// of every form, because what the form has sent is on the page, too.
const (
	provePassword = "provePassword"
	proveCode     = "proveCode"
)

// prove returns true if the person has entered the password, and the code where there is
// a second factor, within the last minutes, or has sent them with this request. If not, it
// responds with a page that asks for them. That page has what the form sent as hidden
// fields and sends it to the same address, so that nothing needs to be typed again and
// nothing is stored in the meantime.
func (p *Portal) prove(w http.ResponseWriter, r *http.Request) (bool, error) {
	v := VisitOf(r)
	if err := r.ParseForm(); err != nil {
		return false, errForm
	}
	sent := r.PostForm.Has(provePassword)
	password, code := r.PostForm.Get(provePassword), strings.ReplaceAll(r.PostForm.Get(proveCode), " ", "")
	r.PostForm.Del(provePassword)
	r.PostForm.Del(proveCode)
	proved, err := p.Access.IsProved(r.Context(), v.Who.ID)
	if err != nil || proved {
		return proved, err
	}
	var form view.Form
	if sent {
		var wrong fault.Form
		wrong.Check(len(password) <= maxPassword, "password", fault.TooLong, "Use at most 1,024 bytes.")
		wrong.Check(len(code) <= maxOTP, "otp", fault.TooLong, "Use at most 64 characters.")
		if err = wrong.Err(); err == nil {
			err = p.People.Prove(r.Context(), v.Who, secret.Text(password), code, v.ID)
		}
		if err == nil {
			return true, nil
		}
		var invalid bool
		if form, invalid = FormErrors(r, err); !invalid {
			return false, err
		}
		renameErrors(&form, map[string]string{"password": provePassword, "otp": proveCode})
	}
	has, _, failed := p.People.FactorOf(r.Context(), v.Who.Account)
	if failed != nil {
		return false, failed
	}
	form.Values = nil // neither the password nor the code is filled in again
	d := view.ProveData{Form: form, Action: r.URL.RequestURI(), Fields: hiddenFields(r.PostForm), Password: provePassword, Code: proveCode, HasFactor: has}
	if err != nil {
		return false, p.ShowInvalid(w, r, err, provePage, view.Prove(d))
	}
	return false, p.Show(w, r, provePage, view.Prove(d))
}

var errForm = fault.New(fault.InvalidArgument, "The form could not be read. Go back and send it again.")

// hiddenFields returns what a form sent, to be sent again.
func hiddenFields(sent url.Values) (fields []view.Option) {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		for _, value := range sent[name] {
			fields = append(fields, view.Option{Label: name, Value: value})
		}
	}
	return fields
}

// renameErrors gives the errors of a form other field names.
func renameErrors(f *view.Form, names map[string]string) {
	for i, field := range f.Order {
		if to, ok := names[field]; ok {
			f.Order[i], f.Errors[to] = to, f.Errors[field]
			delete(f.Errors, field)
		}
	}
}
