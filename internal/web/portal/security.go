package portal

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var (
	securityPage = kit.Page{Title: "Security", Lead: "Your password, two-factor authentication, and your sessions.", Active: securityPath}
	crumb        = []kit.Link{{Label: "Security", Href: securityPath}}
	factorPage   = kit.Page{Title: "Set up two-factor authentication", Crumbs: crumb, Active: securityPath}
	codesPage    = kit.Page{Title: "Recovery codes", Lead: "Two-factor authentication is on.", Active: securityPath}
	removePage   = kit.Page{Title: "Remove two-factor authentication", Lead: "Your password alone would then open your account.", Crumbs: crumb, Active: securityPath}
	endAllPage   = kit.Page{Title: "Sign out everywhere", Crumbs: crumb, Active: securityPath}
)

// security is the page /portal/security.
func (p *Portal) security(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	ctx, v := r.Context(), VisitOf(r)
	factor, codes, err := p.People.FactorOf(ctx, v.Who.Account)
	if err != nil {
		return securityPage, nil, err
	}
	rows, err := p.Access.Sessions(ctx, v.Who.Account)
	if err != nil {
		return securityPage, nil, err
	}
	d := kit.SecurityData{Form: form, PasswordHint: p.passwordHint(), Email: v.Account.Email, Factor: factor, Codes: codes, Now: p.Now()}
	for _, s := range rows {
		d.Sessions = append(d.Sessions, kit.SessionRow{
			ID: s.ID.String(), From: s.From, Agent: s.Agent, Current: s.ID == v.Who.ID, Since: s.CreatedAt, Seen: s.LastSeenAt,
		})
	}
	return securityPage, kit.Security(d), nil
}

// changePassword serves POST /portal/security/password.
func (p *Portal) changePassword(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	old, fresh := secret.Text(r.PostFormValue("password")), secret.Text(r.PostFormValue("newPassword"))
	var wrong fault.Form
	checkPassword(&wrong, "password", old)
	checkPassword(&wrong, "newPassword", fresh)
	err := wrong.Err()
	if err == nil {
		err = p.People.ChangePassword(r.Context(), v.Who, old, fresh, v.ID)
	}
	return p.EndForm(w, r, err, p.security, securityPath, "password.changed")
}

// endSession serves POST /portal/security/sessions/{session}/end.
func (p *Portal) endSession(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	id, err := PathID(r, "session")
	if err != nil {
		return err
	}
	if err := p.Access.EndSession(r.Context(), v.Who.Account, id, v.Who.Actor(), v.ID); err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, securityPath, "session.ended")
}

// askEndSessions serves GET /portal/security/sessions/end.
func (p *Portal) askEndSessions(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, endAllPage, kit.Confirm(kit.ConfirmData{
		Text: "All your sessions end, this one included. You have to sign in again.", Action: sessionsEndPath, Label: "Sign out everywhere",
		Kind: kit.Danger, Cancel: securityPath,
	}))
}

// endSessions serves POST /portal/security/sessions/end.
func (p *Portal) endSessions(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), VisitOf(r)
	err := pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		_, err := p.Access.EndSessions(ctx, tx, v.Who.Account, uuid.Nil, v.Who.Actor(), v.ID)
		return err
	})
	if err != nil {
		return err
	}
	dropCookie(w, sessionCookie)
	return p.RedirectWithFlash(w, r, signInPath, "signed.out.all")
}

// showFactor serves GET /portal/security/factor.
func (p *Portal) showFactor(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	has, _, err := p.People.FactorOf(r.Context(), v.Who.Account)
	if err != nil {
		return err
	}
	if has {
		http.Redirect(w, r, securityPath, http.StatusSeeOther)
		return nil
	}
	return p.Show(w, r, factorPage, kit.Factor(kit.FactorData{To: backFrom(r.URL.Query().Get("to")), Required: v.Who.Limited}))
}

// backFrom returns the page from which somebody came to set up two-factor authentication; ""
// for none.
func backFrom(to string) string {
	if to = localPath(to); to == home {
		return ""
	}
	return to
}

// startFactor serves POST /portal/security/factor. The key is shown in this
// response and never again.
func (p *Portal) startFactor(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	e, err := p.People.BeginFactor(r.Context(), v.Who, v.ID)
	if err != nil {
		return err
	}
	square, err := qrCode(e.URI.Reveal())
	if err != nil {
		return err
	}
	return p.Show(w, r, factorPage, kit.Factor(kit.FactorData{To: backFrom(r.PostFormValue("to")), Started: true, Key: e.Secret.Reveal(), QRCode: square, Required: v.Who.Limited}))
}

// confirmFactor serves POST /portal/security/factor/confirm.
func (p *Portal) confirmFactor(w http.ResponseWriter, r *http.Request) error {
	v, otp := VisitOf(r), strings.ReplaceAll(r.PostFormValue("otp"), " ", "")
	var wrong fault.Form
	checkOTP(&wrong, otp)
	err := wrong.Err()
	var codes []secret.Text
	if err == nil {
		codes, err = p.People.ConfirmFactor(r.Context(), v.Who, otp, v.ID)
	}
	if form, ok := FormErrors(r, err); ok {
		return p.ShowInvalid(w, r, err, factorPage, kit.Factor(kit.FactorData{To: backFrom(r.PostFormValue("to")), Form: form, Started: true, Required: v.Who.Limited}))
	}
	if err != nil {
		return err
	}
	v.Who.Limited = false // the layout of this response shows the full menu
	lines := make([]string, len(codes))
	for i, c := range codes {
		lines[i] = c.Reveal()
	}
	return p.Show(w, r, codesPage, kit.RecoveryCodes(strings.Join(lines, "\n"), backFrom(r.PostFormValue("to")), v.Who.Entity != uuid.Nil))
}

// removal is the page /portal/security/factor/remove.
func (p *Portal) removal(_ *http.Request, f kit.Form) (kit.Page, templ.Component, error) {
	return removePage, kit.RemoveFactor(f), nil
}

// removeFactor serves POST /portal/security/factor/remove.
func (p *Portal) removeFactor(w http.ResponseWriter, r *http.Request) error {
	v := VisitOf(r)
	password, otp := secret.Text(r.PostFormValue("password")), r.PostFormValue("otp")
	var wrong fault.Form
	checkPassword(&wrong, "password", password)
	checkOTP(&wrong, otp)
	err := wrong.Err()
	if err == nil {
		err = p.People.RemoveFactor(r.Context(), v.Who, password, otp, v.ID)
	}
	return p.EndForm(w, r, err, p.removal, securityPath, "factor.removed")
}

func checkOTP(wrong *fault.Form, otp string) {
	wrong.Check(otp != "", "otp", fault.Required, "Enter the code from your authenticator app.")
	wrong.Check(len(otp) <= maxOTP, "otp", fault.TooLong, "Use at most 64 characters.")
}
