package portal

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/stepup"
)

// The paths of the sign-in and security pages. Package people has those that
// e-mails link to as well.
const (
	signInPath   = "/portal/sign-in"
	codePath     = "/portal/sign-in/code"
	signOutPath  = "/portal/sign-out"
	invitePath   = "/portal/invitation"
	resetPath    = "/portal/forgotten"
	resetNewPath = "/portal/reset"
	confirmPath  = "/portal/confirm"
	themePath    = "/portal/theme"

	securityPath      = "/portal/security"
	passwordPath      = "/portal/security/password"
	sessionsEndPath   = "/portal/security/sessions/end"
	sessionEndPath    = "/portal/security/sessions/{session}/end"
	provePath         = "/portal/security/prove"
	factorPath        = "/portal/security/factor"
	factorConfirmPath = "/portal/security/factor/confirm"
	factorRemovePath  = "/portal/security/factor/remove"
)

// accountRoutes are the pages on which people sign in and manage their account.
func (p *Portal) accountRoutes() []Route {
	get, post := http.MethodGet, http.MethodPost
	return []Route{
		{Method: get, Path: home, Right: SignedIn, Limited: true, Serve: p.showHome},
		{Method: post, Path: themePath, Right: Anyone, Action: stepup.Preference, Serve: p.setTheme},
		{Method: get, Path: signInPath, Right: Anyone, Serve: p.showSignIn},
		{Method: post, Path: signInPath, Right: Anyone, Action: stepup.Anonymous, Serve: p.signIn},
		{Method: post, Path: codePath, Right: Anyone, Action: stepup.Anonymous, Serve: p.signInWithCode},
		{Method: post, Path: signOutPath, Right: SignedIn, Action: stepup.EndSession, Limited: true, Serve: p.signOut},
		{Method: get, Path: invitePath, Right: Anyone, Serve: p.ShowForm(p.invitation)},
		{Method: post, Path: invitePath, Right: Anyone, Action: stepup.Anonymous, Serve: p.acceptInvitation},
		{Method: get, Path: resetPath, Right: Anyone, Serve: p.ShowForm(p.reset)},
		{Method: post, Path: resetPath, Right: Anyone, Action: stepup.Anonymous, Serve: p.requestReset},
		{Method: get, Path: resetNewPath, Right: Anyone, Serve: p.ShowForm(p.newPassword)},
		{Method: post, Path: resetNewPath, Right: Anyone, Action: stepup.Anonymous, Serve: p.setNewPassword},
		{Method: get, Path: confirmPath, Right: Anyone, Serve: p.ShowForm(p.confirmation)},
		{Method: post, Path: confirmPath, Right: Anyone, Action: stepup.Anonymous, Serve: p.confirmEmail},
		{Method: get, Path: securityPath, Right: SignedIn, Serve: p.ShowForm(p.security)},
		{Method: post, Path: passwordPath, Right: SignedIn, Action: stepup.ChangePassword, Serve: p.changePassword},
		{Method: get, Path: sessionsEndPath, Right: SignedIn, Serve: p.askEndSessions},
		{Method: post, Path: sessionsEndPath, Right: SignedIn, Action: stepup.EndSession, Serve: p.endSessions},
		{Method: post, Path: sessionEndPath, Right: SignedIn, Action: stepup.EndSession, Serve: p.endSession},
		{Method: post, Path: provePath, Right: SignedIn, Action: stepup.Prove, Serve: p.enterPassword},
		{Method: get, Path: factorPath, Right: SignedIn, Limited: true, Serve: p.showFactor},
		{Method: post, Path: factorPath, Right: SignedIn, Action: stepup.BeginFactor, Limited: true, Serve: p.startFactor},
		{Method: post, Path: factorConfirmPath, Right: SignedIn, Action: stepup.ConfirmFactor, Limited: true, Serve: p.confirmFactor},
		{Method: get, Path: factorRemovePath, Right: SignedIn, Serve: p.ShowForm(p.removal)},
		{Method: post, Path: factorRemovePath, Right: SignedIn, Action: stepup.RemoveFactor, Serve: p.removeFactor},
	}
}

// showHome redirects to the first page of the visitor's menu.
func (p *Portal) showHome(w http.ResponseWriter, r *http.Request) error {
	v, to := VisitOf(r), securityPath
	if open := p.openEntries(v); len(open) > 0 {
		to = open[0].path
	}
	if v.Who.Limited {
		to = factorPath
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// setTheme stores the theme that the visitor has chosen.
func (p *Portal) setTheme(w http.ResponseWriter, r *http.Request) error {
	switch theme := r.PostFormValue("theme"); theme {
	case "light", "dark":
		setCookie(w, themeCookie, theme, deviceLifetime)
	default:
		dropCookie(w, themeCookie)
	}
	http.Redirect(w, r, localPath(r.PostFormValue("back")), http.StatusSeeOther) //nolint:gosec // localPath returns only paths of the portal
	return nil
}
