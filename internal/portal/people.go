package portal

import "net/http"

// The paths that are about people. Those to which letters lead stand in package
// people, too.
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
	factorPath        = "/portal/security/factor"
	factorConfirmPath = "/portal/security/factor/confirm"
	factorRemovePath  = "/portal/security/factor/remove"
)

// peopleRoutes are the pages by which people get in and look after themselves.
func (p *Portal) peopleRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: home, who: person, limited: true, serve: p.showHome},
		{method: post, path: themePath, who: anyone, serve: p.setTheme},
		{method: get, path: signInPath, who: anyone, serve: p.showSignIn},
		{method: post, path: signInPath, who: anyone, serve: p.signIn},
		{method: post, path: codePath, who: anyone, serve: p.signInWithCode},
		{method: post, path: signOutPath, who: person, limited: true, serve: p.signOut},
		{method: get, path: invitePath, who: anyone, serve: p.showInvitation},
		{method: post, path: invitePath, who: anyone, serve: p.acceptInvitation},
		{method: get, path: resetPath, who: anyone, serve: p.showReset},
		{method: post, path: resetPath, who: anyone, serve: p.askReset},
		{method: get, path: resetNewPath, who: anyone, serve: p.showNewPassword},
		{method: post, path: resetNewPath, who: anyone, serve: p.setNewPassword},
		{method: get, path: confirmPath, who: anyone, serve: p.showConfirmEmail},
		{method: post, path: confirmPath, who: anyone, serve: p.confirmEmail},
		{method: get, path: securityPath, who: person, serve: p.showSecurity},
		{method: post, path: passwordPath, who: person, serve: p.changePassword},
		{method: get, path: sessionsEndPath, who: person, serve: p.askEndSessions},
		{method: post, path: sessionsEndPath, who: person, serve: p.endSessions},
		{method: post, path: sessionEndPath, who: person, serve: p.endSession},
		{method: get, path: factorPath, who: person, limited: true, serve: p.showFactor},
		{method: post, path: factorPath, who: person, limited: true, serve: p.beginFactor},
		{method: post, path: factorConfirmPath, who: person, limited: true, serve: p.confirmFactor},
		{method: get, path: factorRemovePath, who: person, serve: p.showRemoveFactor},
		{method: post, path: factorRemovePath, who: person, serve: p.removeFactor},
	}
}

// showHome leads to the first page that the visitor has.
func (p *Portal) showHome(w http.ResponseWriter, r *http.Request) error {
	v, to := visitOf(r), securityPath
	if open := p.open(v); len(open) > 0 {
		to = open[0].path
	}
	if v.who.Limited {
		to = factorPath
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// setTheme keeps which colours the visitor wants.
func (p *Portal) setTheme(w http.ResponseWriter, r *http.Request) error {
	switch theme := r.PostFormValue("theme"); theme {
	case "light", "dark":
		setCookie(w, themeCookie, theme, deviceTime)
	default:
		dropCookie(w, themeCookie)
	}
	http.Redirect(w, r, localPath(r.PostFormValue("back")), http.StatusSeeOther) //nolint:gosec // localPath lets nothing out of the portal
	return nil
}
