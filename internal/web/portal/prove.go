package portal

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var provePage = kit.Page{Title: "Enter your password again", Lead: "This change needs it if you have not entered it in the last 5 minutes."}

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
// nothing is stored in the meantime. A file cannot be a hidden field: after the password the
// person comes back to the page with its form.
func (p *Portal) prove(rt Route, w http.ResponseWriter, r *http.Request) (bool, error) {
	v := VisitOf(r)
	if rt.Form != "" {
		proved, err := p.Access.IsProved(r.Context(), v.Who.ID)
		if err != nil || proved {
			return proved, err
		}
		_, _ = io.Copy(io.Discard, r.Body) // browsers show the response only after they have sent everything
		return false, p.askPassword(w, r, nil, provePath, []kit.Option{{Label: "to", Value: rt.Form}})
	}
	if err := r.ParseForm(); err != nil {
		return false, errForm
	}
	sent, password, code := takeProof(r)
	proved, err := p.Access.IsProved(r.Context(), v.Who.ID)
	if err != nil || proved {
		return proved, err
	}
	if sent {
		if err = p.checkProof(r, password, code); err == nil {
			return true, nil
		}
	}
	return false, p.askPassword(w, r, err, r.URL.RequestURI(), hiddenFields(r.PostForm))
}

// enterPassword serves POST /portal/security/prove, which the page after an upload sends.
func (p *Portal) enterPassword(w http.ResponseWriter, r *http.Request) error {
	to := localPath(r.PostFormValue("to"))
	_, password, code := takeProof(r)
	if err := p.checkProof(r, password, code); err != nil {
		return p.askPassword(w, r, err, provePath, []kit.Option{{Label: "to", Value: to}})
	}
	return p.RedirectWithFlash(w, r, to, "password.entered")
}

// takeProof takes the password and the code out of what a form has sent.
func takeProof(r *http.Request) (sent bool, password, code string) {
	sent = r.PostForm.Has(provePassword)
	password, code = r.PostForm.Get(provePassword), strings.ReplaceAll(r.PostForm.Get(proveCode), " ", "")
	r.PostForm.Del(provePassword)
	r.PostForm.Del(proveCode)
	return sent, password, code
}

func (p *Portal) checkProof(r *http.Request, password, code string) error {
	v := VisitOf(r)
	var wrong fault.Form
	wrong.Check(len(password) <= maxPassword, "password", fault.TooLong, "Use at most 1,024 bytes.")
	wrong.Check(len(code) <= maxOTP, "otp", fault.TooLong, "Use at most 64 characters.")
	if err := wrong.Err(); err != nil {
		return err
	}
	return p.People.Prove(r.Context(), v.Who, secret.Text(password), code, v.ID)
}

// askPassword responds with the page that asks for the password, or returns what is wrong
// otherwise. wrong is what was wrong with the last one, if there was one.
func (p *Portal) askPassword(w http.ResponseWriter, r *http.Request, wrong error, action string, fields []kit.Option) error {
	var form kit.Form
	if wrong != nil {
		var invalid bool
		if form, invalid = FormErrors(r, wrong); !invalid {
			return wrong
		}
		renameErrors(&form, map[string]string{"password": provePassword, "otp": proveCode})
	}
	has, _, err := p.People.FactorOf(r.Context(), VisitOf(r).Who.Account)
	if err != nil {
		return err
	}
	form.Values = nil // neither the password nor the code is filled in again
	page := kit.Prove(kit.ProveData{Form: form, Action: action, Fields: fields, Password: provePassword, Code: proveCode, HasFactor: has})
	if wrong != nil {
		return p.ShowInvalid(w, r, wrong, provePage, page)
	}
	return p.Show(w, r, provePage, page)
}

var errForm = fault.New(fault.InvalidArgument, "The form could not be read. Go back and send it again.")

// hiddenFields returns what a form sent, to be sent again.
func hiddenFields(sent url.Values) (fields []kit.Option) {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		for _, value := range sent[name] {
			fields = append(fields, kit.Option{Label: name, Value: value})
		}
	}
	return fields
}

// renameErrors gives the errors of a form other field names.
func renameErrors(f *kit.Form, names map[string]string) {
	for i, field := range f.Order {
		if to, ok := names[field]; ok {
			f.Order[i], f.Errors[to] = to, f.Errors[field]
			delete(f.Errors, field)
		}
	}
}
