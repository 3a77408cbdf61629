package portal

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The longest accepted values. Longer ones cannot be right, and must not reach a
// hash function.
const (
	maxEmail    = 254
	maxPassword = 1024
	maxOTP      = 64
	maxToken    = 128
	maxDevice   = 128
)

// guidePath is the path of the documentation, whose pages have the portal's theme.
const guidePath = "/guide/"

// localPath returns an address within the portal or the guide to redirect to, or home: an
// address from a request must not lead to another site.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, Path) && !strings.HasPrefix(u.Path, guidePath) ||
		strings.ContainsAny(u.Path, "\\\r\n\t") || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") {
		return home
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// showSignIn serves GET /portal/sign-in.
func (p *Portal) showSignIn(w http.ResponseWriter, r *http.Request) error {
	if VisitOf(r).SignedIn {
		http.Redirect(w, r, home, http.StatusSeeOther)
		return nil
	}
	return p.Show(w, r, signInPage, kit.SignIn(kit.SignInData{To: localPath(r.URL.Query().Get("to"))}))
}

var (
	signInPage = kit.Page{Title: "Sign in"}
	codePage   = kit.Page{Title: "Two-factor authentication", Lead: "One more step: enter a code to sign in."}
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
		err = p.logIn(w, r, email, password, "", to)
	}
	if errors.Is(err, people.ErrFactorMissing) {
		return p.Show(w, r, codePage, kit.SignInCode(kit.SignInCodeData{To: to, Pending: p.sealPending(email, password)}))
	}
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, signInPage, kit.SignIn(kit.SignInData{Form: form, To: to}))
	}
	return err
}

var errCode = fault.New(fault.Unauthenticated, "This code is wrong or was already used. Wait for the next one, and check that the clock of your device is right.")

// signInWithCode serves POST /portal/sign-in/code.
func (p *Portal) signInWithCode(w http.ResponseWriter, r *http.Request) error {
	to, sealed := localPath(r.PostFormValue("to")), r.PostFormValue("pending")
	email, password, ok := p.openPending(sealed)
	if !ok { // it has expired, or was not made by this service
		http.Redirect(w, r, signInPath, http.StatusSeeOther)
		return nil
	}
	otp := r.PostFormValue("otp")
	var wrong fault.Form
	checkOTP(&wrong, otp)
	err := wrong.Err()
	if err == nil {
		err = p.logIn(w, r, email, password, otp, to)
	}
	if errors.Is(err, people.ErrBadLogin) {
		err = errCode // the password was right a moment ago
	}
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, codePage, kit.SignInCode(kit.SignInCodeData{Form: form, To: to, Pending: sealed}))
	}
	return err
}

// logIn opens a session and redirects to a page. If it fails, nothing is written to
// the response.
func (p *Portal) logIn(w http.ResponseWriter, r *http.Request, email string, password secret.Text, otp, to string) error {
	v, device := VisitOf(r), cookieOf(r, deviceCookie)
	if device == "" || len(device) > maxDevice {
		device = "new"
	}
	l, err := p.People.LogIn(r.Context(), people.Attempt{
		Email: email, Password: password, OTP: otp, From: v.From, Agent: r.UserAgent(), Device: device, Portal: true,
	}, v.ID)
	if err != nil {
		return err
	}
	setCookie(w, sessionCookie, l.Text.Reveal(), 0)
	if l.Device != "" {
		setCookie(w, deviceCookie, l.Device.Reveal(), deviceLifetime)
	}
	if l.Limited {
		to = factorPath
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // the callers pass it through localPath
	return nil
}

// signOut serves POST /portal/sign-out.
func (p *Portal) signOut(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	err := p.Access.EndSession(r.Context(), v.Who.Account, v.Who.ID, v.Who.Actor(), v.ID)
	if err != nil && !IsCode(err, fault.NotFound) {
		return err
	}
	dropCookie(w, sessionCookie)
	return p.RedirectWithFlash(w, r, signInPath, "signed.out")
}

func checkEmail(wrong *fault.Form, email string) {
	wrong.Check(email != "", "email", fault.Required, "Enter the e-mail address of the account.")
	wrong.Check(len(email) <= maxEmail, "email", fault.TooLong, "Use at most 254 characters.")
}

func checkPassword(wrong *fault.Form, field string, password secret.Text) {
	words := "Enter the password."
	if field == "newPassword" {
		words = "Enter the new password."
	}
	wrong.Check(password != "", field, fault.Required, words)
	wrong.Check(len(password) <= maxPassword, field, fault.TooLong, "Use at most 1,024 bytes.")
}

func checkToken(wrong *fault.Form, token string) {
	wrong.Check(token != "", "token", fault.Required, "Copy the part of the link after the #.")
	wrong.Check(len(token) <= maxToken, "token", fault.TooLong, "Use at most 128 characters.")
}
