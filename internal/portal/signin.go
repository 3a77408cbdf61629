package portal

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/secret"
)

// What is sent is kept small before it reaches a hash; longer ones cannot be
// right.
const (
	mostEmail    = 254
	mostPassword = 1024
	mostOTP      = 64
	mostToken    = 128
	mostDevice   = 128
)

// localPath returns an address within the portal that somebody may be sent to,
// or home: what comes from outside must not lead outside.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, Path) ||
		strings.ContainsAny(u.Path, "\\\r\n\t") || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") {
		return home
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// showSignIn serves GET /portal/sign-in.
func (p *Portal) showSignIn(w http.ResponseWriter, r *http.Request) error {
	if visitOf(r).signed {
		http.Redirect(w, r, home, http.StatusSeeOther)
		return nil
	}
	return p.show(w, r, signInPage, view.SignIn(view.SignInData{To: localPath(r.URL.Query().Get("to"))}))
}

var (
	signInPage = view.Page{Title: "Sign in"}
	codePage   = view.Page{Title: "One more step", Lead: "Your account has a second factor."}
)

// signIn serves POST /portal/sign-in.
func (p *Portal) signIn(w http.ResponseWriter, r *http.Request) error {
	to := localPath(r.PostFormValue("to"))
	email, password := r.PostFormValue("email"), secret.Text(r.PostFormValue("password"))
	var wrong fault.Form
	checkEmail(&wrong, email)
	checkPassword(&wrong, "password", password)
	err := wrong.Err()
	if err == nil {
		err = p.enter(w, r, email, password, "", to)
	}
	if errors.Is(err, people.ErrFactorMissing) {
		return p.show(w, r, codePage, view.Code(view.CodeData{To: to, Pending: p.sealPending(email, password)}))
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, signInPage, view.SignIn(view.SignInData{Form: form, To: to}))
	}
	return err
}

var errCode = fault.New(fault.Unauthenticated, "This code is not right, or was used before. Wait for the next one, and see that the clock of your device is right.")

// signInWithCode serves POST /portal/sign-in/code.
func (p *Portal) signInWithCode(w http.ResponseWriter, r *http.Request) error {
	to, sealed := localPath(r.PostFormValue("to")), r.PostFormValue("pending")
	email, password, ok := p.openPending(sealed)
	if !ok { // it took too long, or was made up
		http.Redirect(w, r, signInPath, http.StatusSeeOther)
		return nil
	}
	otp := r.PostFormValue("otp")
	var wrong fault.Form
	checkOTP(&wrong, otp)
	err := wrong.Err()
	if err == nil {
		err = p.enter(w, r, email, password, otp, to)
	}
	if errors.Is(err, people.ErrBadLogin) {
		err = errCode // the password was right a moment ago
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, codePage, view.Code(view.CodeData{Form: form, To: to, Pending: sealed}))
	}
	return err
}

// enter logs somebody in and leads them on. Nothing is sent where that fails.
func (p *Portal) enter(w http.ResponseWriter, r *http.Request, email string, password secret.Text, otp, to string) error {
	v, device := visitOf(r), cookieOf(r, deviceCookie)
	if device == "" || len(device) > mostDevice {
		device = "new"
	}
	l, err := p.People.LogIn(r.Context(), people.Attempt{
		Email: email, Password: password, OTP: otp, From: v.from, Agent: r.UserAgent(), Device: device,
	}, v.id)
	if err != nil {
		return err
	}
	setCookie(w, sessionCookie, l.Text.Reveal(), 0)
	if l.Device != "" {
		setCookie(w, deviceCookie, l.Device.Reveal(), deviceTime)
	}
	if l.Limited {
		to = factorPath
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // it went through localPath
	return nil
}

// signOut serves POST /portal/sign-out.
func (p *Portal) signOut(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	err := p.Keeper.EndSession(r.Context(), v.who.Account, v.who.ID, v.who.Actor(), v.id)
	if err != nil && !isCode(err, fault.NotFound) {
		return err
	}
	dropCookie(w, sessionCookie)
	return p.goOn(w, r, signInPath, "signed.out")
}

func checkEmail(wrong *fault.Form, email string) {
	wrong.Check(email != "", "email", fault.Required, "Give the e-mail address of the account.")
	wrong.Check(len(email) <= mostEmail, "email", fault.TooLong, "Use at most 254 characters.")
}

func checkPassword(wrong *fault.Form, field string, password secret.Text) {
	words := "Give the password."
	if field == "newPassword" {
		words = "Give the new password."
	}
	wrong.Check(password != "", field, fault.Required, words)
	wrong.Check(len(password) <= mostPassword, field, fault.TooLong, "Use at most 1,024 bytes.")
}

func checkToken(wrong *fault.Form, token string) {
	wrong.Check(token != "", "token", fault.Required, "Copy what stands behind the # of the link.")
	wrong.Check(len(token) <= mostToken, "token", fault.TooLong, "Use at most 128 characters.")
}
