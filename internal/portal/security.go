package portal

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/secret"
)

var (
	securityPage = view.Page{Title: "Security", Lead: "Your password, your second factor, and where you are signed in.", Active: securityPath}
	crumb        = []view.Link{{Label: "Security", Href: securityPath}}
	factorPage   = view.Page{Title: "Set up a second factor", Crumbs: crumb, Active: securityPath}
	codesPage    = view.Page{Title: "Your recovery codes", Lead: "The second factor is in force.", Active: securityPath}
	removePage   = view.Page{Title: "Remove the second factor", Lead: "Your password alone would open your account.", Crumbs: crumb, Active: securityPath}
	endAllPage   = view.Page{Title: "Sign out everywhere", Crumbs: crumb, Active: securityPath}
)

// showSecurity serves GET /portal/security.
func (p *Portal) showSecurity(w http.ResponseWriter, r *http.Request) error {
	d, err := p.security(r)
	if err != nil {
		return err
	}
	return p.show(w, r, securityPage, view.Security(d))
}

func (p *Portal) security(r *http.Request) (view.SecurityData, error) {
	ctx, v := r.Context(), visitOf(r)
	factor, codes, err := p.People.FactorOf(ctx, v.who.Account)
	if err != nil {
		return view.SecurityData{}, err
	}
	rows, err := p.Keeper.Sessions(ctx, v.who.Account)
	if err != nil {
		return view.SecurityData{}, err
	}
	d := view.SecurityData{Least: p.least(), Email: v.person.Email, Factor: factor, Codes: codes, Now: p.Now()}
	for _, s := range rows {
		d.Sessions = append(d.Sessions, view.SessionRow{
			ID: s.ID.String(), From: s.From, Agent: s.Agent, Current: s.ID == v.who.ID, Since: s.CreatedAt, Seen: s.LastSeenAt,
		})
	}
	return d, nil
}

// changePassword serves POST /portal/security/password.
func (p *Portal) changePassword(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	old, fresh := secret.Text(r.PostFormValue("password")), secret.Text(r.PostFormValue("newPassword"))
	var wrong fault.Form
	checkPassword(&wrong, "password", old)
	checkPassword(&wrong, "newPassword", fresh)
	err := wrong.Err()
	if err == nil {
		err = p.People.ChangePassword(r.Context(), v.who, old, fresh, v.id)
	}
	if form, ok := formOf(r, err); ok {
		d, failed := p.security(r)
		if failed != nil {
			return failed
		}
		d.Form = form
		return p.showAgain(w, r, err, securityPage, view.Security(d))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, securityPath, "password.changed")
}

// endSession serves POST /portal/security/sessions/{session}/end.
func (p *Portal) endSession(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	id, err := idOf(r, "session")
	if err != nil {
		return err
	}
	if err := p.Keeper.EndSession(r.Context(), v.who.Account, id, v.who.Actor(), v.id); err != nil {
		return err
	}
	return p.goOn(w, r, securityPath, "session.ended")
}

// askEndSessions serves GET /portal/security/sessions/end.
func (p *Portal) askEndSessions(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, endAllPage, view.Confirm(view.ConfirmData{
		Text: "Every session of yours ends, this one included. You have to sign in again.", Action: sessionsEndPath, Label: "Sign out everywhere",
		Kind: view.Danger, Cancel: securityPath,
	}))
}

// endSessions serves POST /portal/security/sessions/end.
func (p *Portal) endSessions(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), visitOf(r)
	err := pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		_, err := p.Keeper.EndSessions(ctx, tx, v.who.Account, uuid.Nil, v.who.Actor(), v.id)
		return err
	})
	if err != nil {
		return err
	}
	dropCookie(w, sessionCookie)
	return p.goOn(w, r, signInPath, "signed.out.all")
}

// showFactor serves GET /portal/security/factor.
func (p *Portal) showFactor(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	has, _, err := p.People.FactorOf(r.Context(), v.who.Account)
	if err != nil {
		return err
	}
	if has {
		http.Redirect(w, r, securityPath, http.StatusSeeOther)
		return nil
	}
	return p.show(w, r, factorPage, view.Factor(view.FactorData{Must: v.who.Limited}))
}

// beginFactor serves POST /portal/security/factor. The key is shown in this
// answer and nowhere else.
func (p *Portal) beginFactor(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	e, err := p.People.BeginFactor(r.Context(), v.who, v.id)
	if err != nil {
		return err
	}
	square, err := squareOf(e.URI.Reveal())
	if err != nil {
		return err
	}
	return p.show(w, r, factorPage, view.Factor(view.FactorData{Begun: true, Key: e.Secret.Reveal(), Square: square, Must: v.who.Limited}))
}

// confirmFactor serves POST /portal/security/factor/confirm.
func (p *Portal) confirmFactor(w http.ResponseWriter, r *http.Request) error {
	v, otp := visitOf(r), strings.ReplaceAll(r.PostFormValue("otp"), " ", "")
	var wrong fault.Form
	checkOTP(&wrong, otp)
	err := wrong.Err()
	var codes []secret.Text
	if err == nil {
		codes, err = p.People.ConfirmFactor(r.Context(), v.who, otp, v.id)
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, factorPage, view.Factor(view.FactorData{Form: form, Begun: true, Must: v.who.Limited}))
	}
	if err != nil {
		return err
	}
	v.who.Limited = false // from here on
	lines := make([]string, len(codes))
	for i, c := range codes {
		lines[i] = c.Reveal()
	}
	return p.show(w, r, codesPage, view.RecoveryCodes(strings.Join(lines, "\n")))
}

// showRemoveFactor serves GET /portal/security/factor/remove.
func (p *Portal) showRemoveFactor(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, removePage, view.RemoveFactor(view.Form{}))
}

// removeFactor serves POST /portal/security/factor/remove.
func (p *Portal) removeFactor(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	password, otp := secret.Text(r.PostFormValue("password")), r.PostFormValue("otp")
	var wrong fault.Form
	checkPassword(&wrong, "password", password)
	checkOTP(&wrong, otp)
	err := wrong.Err()
	if err == nil {
		err = p.People.RemoveFactor(r.Context(), v.who, password, otp, v.id)
	}
	if form, ok := formOf(r, err); ok {
		return p.showAgain(w, r, err, removePage, view.RemoveFactor(form))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, securityPath, "factor.removed")
}

func checkOTP(wrong *fault.Form, otp string) {
	wrong.Check(otp != "", "otp", fault.Required, "Give the code that the authenticator shows.")
	wrong.Check(len(otp) <= mostOTP, "otp", fault.TooLong, "Use at most 64 characters.")
}
