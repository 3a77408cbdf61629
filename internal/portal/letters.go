package portal

import (
	"net/http"
	"strconv"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/secret"
)

// The pages to which letters lead. The code of a link stands behind the #, where
// no server sees it; a script moves it into the form.
var (
	invitationPage  = view.Page{Title: "Welcome", Lead: "You have been invited. Choose a password, and your account is open."}
	resetPage       = view.Page{Title: "Forgotten password", Lead: "We send you a letter with a link by which you set a new one."}
	resetAskedPage  = view.Page{Title: "Look into your mail"}
	newPasswordPage = view.Page{Title: "New password", Lead: "Every session ends when it is set."}
	confirmPage     = view.Page{Title: "Confirm your address"}
)

// least says what a password has to be.
func (p *Portal) least() string {
	return "At least " + strconv.Itoa(p.Registry.PasswordMin) + " characters. A few words that nobody would guess are better than many signs."
}

// showInvitation serves GET /portal/invitation.
func (p *Portal) showInvitation(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, invitationPage, view.Invitation(view.Form{}, p.least()))
}

// acceptInvitation serves POST /portal/invitation. Whoever has accepted is signed
// in: they have just shown all that signing in would ask for.
func (p *Portal) acceptInvitation(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	token, name, password := r.PostFormValue("token"), r.PostFormValue("name"), secret.Text(r.PostFormValue("password"))
	var wrong fault.Form
	checkToken(&wrong, token)
	wrong.Check(name != "", "name", fault.Required, "Give your name.")
	checkPassword(&wrong, "password", password)
	err := wrong.Err()
	email := ""
	if err == nil {
		account, accepting := p.People.Accept(r.Context(), token, name, password, audit.Actor{From: v.from}, v.id)
		email, err = account.Email, accepting
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, invitationPage, view.Invitation(form, p.least()))
	}
	if err != nil {
		return err
	}
	setFlash(w, "account.ready")
	if err := p.enter(w, r, email, password, "", home); err != nil {
		http.Redirect(w, r, signInPath, http.StatusSeeOther) // the account is there; signing in says what is in the way
	}
	return nil
}

// showReset serves GET /portal/forgotten.
func (p *Portal) showReset(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, resetPage, view.AskReset(view.Form{}))
}

// askReset serves POST /portal/forgotten.
func (p *Portal) askReset(w http.ResponseWriter, r *http.Request) error {
	email := r.PostFormValue("email")
	var wrong fault.Form
	checkEmail(&wrong, email)
	err := wrong.Err()
	if err == nil {
		err = p.People.AskReset(r.Context(), email)
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, resetPage, view.AskReset(form))
	}
	if err != nil {
		return err
	}
	return p.show(w, r, resetAskedPage, view.ResetAsked())
}

// showNewPassword serves GET /portal/reset.
func (p *Portal) showNewPassword(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, newPasswordPage, view.NewPassword(view.Form{}, p.least()))
}

// setNewPassword serves POST /portal/reset.
func (p *Portal) setNewPassword(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	token, fresh := r.PostFormValue("token"), secret.Text(r.PostFormValue("newPassword"))
	var wrong fault.Form
	checkToken(&wrong, token)
	checkPassword(&wrong, "newPassword", fresh)
	err := wrong.Err()
	if err == nil {
		err = p.People.CompleteReset(r.Context(), token, fresh, audit.Actor{From: v.from}, v.id)
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, newPasswordPage, view.NewPassword(form, p.least()))
	}
	if err != nil {
		return err
	}
	dropCookie(w, sessionCookie)
	return p.goOn(w, r, signInPath, "password.set")
}

// showConfirmEmail serves GET /portal/confirm.
func (p *Portal) showConfirmEmail(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, confirmPage, view.ConfirmEmail(view.Form{}))
}

// confirmEmail serves POST /portal/confirm.
func (p *Portal) confirmEmail(w http.ResponseWriter, r *http.Request) error {
	v, token := visitOf(r), r.PostFormValue("token")
	var wrong fault.Form
	checkToken(&wrong, token)
	err := wrong.Err()
	if err == nil {
		err = p.People.ConfirmEmail(r.Context(), token, audit.Actor{From: v.from}, v.id)
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, confirmPage, view.ConfirmEmail(form))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, home, "email.confirmed")
}
