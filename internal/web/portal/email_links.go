package portal

import (
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The pages to which e-mails link. The token of a link is behind the #, where no
// server sees it; a script moves it into the form.
var (
	invitationPage  = kit.Page{Title: "Welcome", Lead: "You have been invited. Choose a password to open your account."}
	resetPage       = kit.Page{Title: "Forgotten password", Lead: "We send you an e-mail with a link to set a new one."}
	resetAskedPage  = kit.Page{Title: "Check your e-mail"}
	newPasswordPage = kit.Page{Title: "New password", Lead: "All your sessions end when it is set."}
	confirmPage     = kit.Page{Title: "Confirm your address"}
)

// passwordHint tells what a password must be like.
func (p *Portal) passwordHint() string {
	return "At least " + strconv.Itoa(p.Registry.PasswordMin) + " characters. A few words that nobody would guess are better than many symbols."
}

// invitation is the page /portal/invitation.
func (p *Portal) invitation(_ *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
	return invitationPage, kit.Invitation(f, p.passwordHint()), nil
}

// acceptInvitation serves POST /portal/invitation. The person is signed in
// afterwards: they have just given all that sign-in asks for.
func (p *Portal) acceptInvitation(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	token, name, password := r.PostFormValue("token"), r.PostFormValue("name"), secret.Text(r.PostFormValue("password"))
	var wrong fault.Form
	checkToken(&wrong, token)
	wrong.Check(name != "", "name", fault.Required, "Enter your name.")
	checkPassword(&wrong, "password", password)
	err := wrong.Err()
	email := ""
	if err == nil {
		account, accepting := p.People.Accept(r.Context(), token, name, password, audit.Actor{From: v.From}, v.ID)
		email, err = account.Email, accepting
	}
	if err != nil {
		return p.ShowErrors(w, r, err, p.invitation)
	}
	setFlash(w, "account.ready")
	if err := p.logIn(w, r, email, password, "", home); err != nil {
		http.Redirect(w, r, signInPath, http.StatusSeeOther) // the account exists; the sign-in page reports what is wrong
	}
	return nil
}

// reset is the page /portal/forgotten.
func (p *Portal) reset(_ *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
	return resetPage, kit.ResetRequest(f), nil
}

// requestReset serves POST /portal/forgotten.
func (p *Portal) requestReset(w http.ResponseWriter, r *http.Request) error {
	email := r.PostFormValue("email")
	var wrong fault.Form
	checkEmail(&wrong, email)
	err := wrong.Err()
	if err == nil {
		err = p.People.RequestReset(r.Context(), email)
	}
	if err != nil {
		return p.ShowErrors(w, r, err, p.reset)
	}
	return p.Show(w, r, resetAskedPage, kit.ResetRequested())
}

// newPassword is the page /portal/reset.
func (p *Portal) newPassword(_ *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
	return newPasswordPage, kit.NewPassword(f, p.passwordHint()), nil
}

// setNewPassword serves POST /portal/reset.
func (p *Portal) setNewPassword(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	token, fresh := r.PostFormValue("token"), secret.Text(r.PostFormValue("newPassword"))
	var wrong fault.Form
	checkToken(&wrong, token)
	checkPassword(&wrong, "newPassword", fresh)
	err := wrong.Err()
	if err == nil {
		err = p.People.CompleteReset(r.Context(), token, fresh, audit.Actor{From: v.From}, v.ID)
	}
	if err != nil {
		return p.ShowErrors(w, r, err, p.newPassword)
	}
	dropCookie(w, sessionCookie)
	return p.RedirectWithFlash(w, r, signInPath, "password.set")
}

// confirmation is the page /portal/confirm.
func (p *Portal) confirmation(_ *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
	return confirmPage, kit.ConfirmEmail(f), nil
}

// confirmEmail serves POST /portal/confirm.
func (p *Portal) confirmEmail(w http.ResponseWriter, r *http.Request) error {
	v, token := VisitOf(r), r.PostFormValue("token")
	var wrong fault.Form
	checkToken(&wrong, token)
	err := wrong.Err()
	if err == nil {
		err = p.People.ConfirmEmail(r.Context(), token, audit.Actor{From: v.From}, v.ID)
	}
	return p.EndForm(w, r, err, p.confirmation, home, "email.confirmed")
}
