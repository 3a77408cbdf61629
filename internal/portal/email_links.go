package portal

import (
	"net/http"
	"strconv"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/secret"
)

// The pages to which e-mails link. The token of a link is behind the #, where no
// server sees it; a script moves it into the form.
var (
	invitationPage  = view.Page{Title: "Welcome", Lead: "You have been invited. Choose a password to open your account."}
	resetPage       = view.Page{Title: "Forgotten password", Lead: "We send you an e-mail with a link to set a new one."}
	resetAskedPage  = view.Page{Title: "Check your e-mail"}
	newPasswordPage = view.Page{Title: "New password", Lead: "All your sessions end when it is set."}
	confirmPage     = view.Page{Title: "Confirm your address"}
)

// passwordHint tells what a password must be like.
func (p *Portal) passwordHint() string {
	return "At least " + strconv.Itoa(p.Registry.PasswordMin) + " characters. A few words that nobody would guess are better than many symbols."
}

// showInvitation serves GET /portal/invitation.
func (p *Portal) showInvitation(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, invitationPage, view.Invitation(view.Form{}, p.passwordHint()))
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
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, invitationPage, view.Invitation(form, p.passwordHint()))
	}
	if err != nil {
		return err
	}
	setFlash(w, "account.ready")
	if err := p.logIn(w, r, email, password, "", home); err != nil {
		http.Redirect(w, r, signInPath, http.StatusSeeOther) // the account exists; the sign-in page reports what is wrong
	}
	return nil
}

// showReset serves GET /portal/forgotten.
func (p *Portal) showReset(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, resetPage, view.ResetRequest(view.Form{}))
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
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, resetPage, view.ResetRequest(form))
	}
	if err != nil {
		return err
	}
	return p.Show(w, r, resetAskedPage, view.ResetRequested())
}

// showNewPassword serves GET /portal/reset.
func (p *Portal) showNewPassword(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, newPasswordPage, view.NewPassword(view.Form{}, p.passwordHint()))
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
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, newPasswordPage, view.NewPassword(form, p.passwordHint()))
	}
	if err != nil {
		return err
	}
	dropCookie(w, sessionCookie)
	return p.RedirectWithFlash(w, r, signInPath, "password.set")
}

// showConfirmEmail serves GET /portal/confirm.
func (p *Portal) showConfirmEmail(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, confirmPage, view.ConfirmEmail(view.Form{}))
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
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, confirmPage, view.ConfirmEmail(form))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, home, "email.confirmed")
}
