package desk

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	staffPath       = "/portal/desk/staff"
	staffInvitePath = "/portal/desk/staff/{account}/invite"
	staffRolePath   = "/portal/desk/staff/{account}/role"
	staffRemovePath = "/portal/desk/staff/{account}/remove"
	staffFactorPath = "/portal/desk/staff/{account}/factor"
	staffUnlockPath = "/portal/desk/staff/{account}/unlock"
)

// staffRoutes are the pages on which staff accounts are managed.
func (p *Pages) staffRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: staffPath, Right: portal.Staff, Serve: p.showStaff},
		{Method: post, Path: staffPath, Right: portal.Administrator, Prove: true, Serve: p.inviteStaff},
		{Method: post, Path: staffInvitePath, Right: portal.Administrator, Prove: true, Serve: p.inviteStaffAgain},
		{Method: get, Path: staffRolePath, Right: portal.Administrator, Serve: p.confirmStaffRole},
		{Method: post, Path: staffRolePath, Right: portal.Administrator, Prove: true, Serve: p.giveStaffRole},
		{Method: get, Path: staffRemovePath, Right: portal.Administrator, Serve: p.confirmRemoveStaff},
		{Method: post, Path: staffRemovePath, Right: portal.Administrator, Prove: true, Serve: p.removeStaff},
		{Method: get, Path: staffFactorPath, Right: portal.Administrator, Serve: p.confirmResetFactor},
		{Method: post, Path: staffFactorPath, Right: portal.Administrator, Prove: true, Serve: p.resetFactor},
		{Method: get, Path: staffUnlockPath, Right: portal.Administrator, Serve: p.confirmUnlockFactor},
		{Method: post, Path: staffUnlockPath, Right: portal.Administrator, Prove: true, Serve: p.unlockFactor},
	}
}

// staffShown is the number of staff members on one page.
const staffShown = 100

var (
	staffPage  = view.Page{Title: "Staff", Lead: "The people who work for the regulator, and their roles.", Active: staffPath}
	staffCrumb = []view.Link{{Label: "Staff", Href: staffPath}}

	staffRolePage   = view.Page{Title: "Change role", Crumbs: staffCrumb, Active: staffPath}
	staffRemovePage = view.Page{Title: "Remove person", Crumbs: staffCrumb, Active: staffPath}
	staffFactorPage = view.Page{Title: "Reset two-factor authentication", Crumbs: staffCrumb, Active: staffPath}
	staffUnlockPage = view.Page{Title: "Unlock two-factor authentication", Crumbs: staffCrumb, Active: staffPath}
)

// showStaff serves GET /portal/desk/staff.
func (p *Pages) showStaff(w http.ResponseWriter, r *http.Request) error {
	d, err := p.staff(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, staffPage, deskview.Staff(d))
}

func (p *Pages) staff(r *http.Request, form view.Form) (deskview.StaffData, error) {
	ctx, v := r.Context(), portal.VisitOf(r)
	list, err := p.People.Team(ctx, v.Who)
	if err != nil {
		return deskview.StaffData{}, err
	}
	waiting, err := p.Approvals.List(ctx, false, maxWaiting)
	if err != nil {
		return deskview.StaffData{}, err
	}
	o := present.SortAccounts(r, list)
	page, links := web.PageOf(r, list, staffShown, func(a *registry.Account) string { return a.ID.String() })
	ids := make([]uuid.UUID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	factors, err := p.People.FactorsOf(ctx, ids)
	if err != nil {
		return deskview.StaffData{}, err
	}
	d := deskview.StaffData{Form: form, CanEdit: v.Has(portal.Administrator), First: links.First, Next: links.Next, Note: portal.WindowNote(links), Heads: o.Head, Now: p.Now()}
	for i := range page {
		row := staffRow(&page[i], v.Who.Account)
		row.Factor, row.Locked = factors[page[i].ID].Enabled, factors[page[i].ID].Locked
		w := slices.IndexFunc(waiting, func(a approval.Approval) bool { return a.Kind == registry.GiveStaffRole && a.Subject == page[i].ID })
		if w >= 0 {
			row.PendingRole = roleTitle(waiting[w].Details["role"])
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

func staffRow(a *registry.Account, self uuid.UUID) deskview.StaffRow {
	m := present.MemberRow(a, self)
	return deskview.StaffRow{
		ID: m.ID, Name: m.Name, Email: m.Email, Role: roleTitle(a.Role), State: m.State, Tone: m.Tone, Self: m.Self, Invited: m.Invited, Gone: m.Gone, Since: m.Since,
	}
}

// roleTitle returns a role with a capital letter.
func roleTitle(role string) string {
	if role == "" {
		return ""
	}
	return strings.ToUpper(role[:1]) + role[1:]
}

// inviteStaff serves POST /portal/desk/staff.
func (p *Pages) inviteStaff(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	f := people.InviteForm{Email: strings.TrimSpace(r.PostFormValue("email")), Kind: registry.StaffAccount, Role: r.PostFormValue("role")}
	i, err := p.People.Invite(r.Context(), f, v.Who, v.ID)
	if form, invalid := portal.FormErrors(r, err); invalid {
		d, failed := p.staff(r, form)
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, staffPage, deskview.Staff(d))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, staffPath, invitedMessage(i))
}

func invitedMessage(i people.Invited) string {
	if i.Pending != uuid.Nil {
		return "staff.invited.waits"
	}
	return "staff.invited"
}

// pathMember returns the member of staff that the path names.
func (p *Pages) pathMember(r *http.Request) (registry.Account, error) {
	id, err := portal.PathID(r, "account")
	if err != nil {
		return registry.Account{}, err
	}
	a, err := p.Registry.Account(r.Context(), p.Pool, id)
	if portal.IsCode(err, fault.NotFound) || (err == nil && a.Kind != registry.StaffAccount) {
		return registry.Account{}, portal.ErrNotFound
	}
	return a, err
}

// inviteStaffAgain serves POST /portal/desk/staff/{account}/invite: another
// e-mail to a person who has not accepted, or who was removed.
func (p *Pages) inviteStaffAgain(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	a, err := p.pathMember(r)
	if err != nil {
		return err
	}
	i, err := p.People.Invite(r.Context(), people.InviteForm{Email: a.Email, Kind: a.Kind, Role: a.Role}, v.Who, v.ID)
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, staffPath, invitedMessage(i))
}

// confirm serves the confirmation page before an action on a member of staff.
func (p *Pages) confirm(w http.ResponseWriter, r *http.Request, page view.Page, question func(*registry.Account, view.Form) view.ConfirmData) error {
	a, err := p.pathMember(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, page, view.Confirm(question(&a, view.Form{})))
}

// carryOut carries the action out and leads back to the list, or shows the
// confirmation page again with the error. An action that waits for a second person says
// so instead of the message.
func (p *Pages) carryOut(w http.ResponseWriter, r *http.Request, page view.Page, question func(*registry.Account, view.Form) view.ConfirmData, message string, do func(*registry.Account) error) error {
	a, err := p.pathMember(r)
	if err != nil {
		return err
	}
	err = do(&a)
	if waits(err) {
		err, message = nil, "staff.waits"
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, page, view.Confirm(question(&a, form)))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, staffPath, message)
}

func staffQuestion(a *registry.Account, what, text, label string, kind view.Kind, f view.Form) view.ConfirmData {
	return view.ConfirmData{Text: text, Action: staffPath + "/" + a.ID.String() + "/" + what, Label: label, Kind: kind, Cancel: staffPath, Form: f}
}

func staffRoleQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := staffQuestion(a, "role", a.Name+" ("+a.Email+") is "+article(a.Role)+". Choose the new role.", "Request role change", view.Primary, f)
	q.Reason, q.Extra = true, deskview.StaffRole(f, a.Role)
	return q
}

// article returns a role with its article.
func article(role string) string {
	if strings.HasPrefix(role, "a") {
		return "an " + role
	}
	return "a " + role
}

// confirmStaffRole serves GET /portal/desk/staff/{account}/role, and giveStaffRole
// POST: the change waits for a second person.
func (p *Pages) confirmStaffRole(w http.ResponseWriter, r *http.Request) error {
	return p.confirm(w, r, staffRolePage, staffRoleQuestion)
}

func (p *Pages) giveStaffRole(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	return p.carryOut(w, r, staffRolePage, staffRoleQuestion, "staff.waits", func(a *registry.Account) error {
		return pg.InTx(r.Context(), p.Pool, func(tx pg.Tx) error {
			_, err := p.Registry.GiveRole(r.Context(), tx, a.ID, r.PostFormValue("role"), portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
			return err
		})
	})
}

func removeStaffQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := staffQuestion(a, "remove", "The account of "+a.Name+" ("+a.Email+") is removed, and all its sessions end. Requests of theirs that nobody has confirmed yet can no longer be confirmed.", "Remove person", view.Danger, f)
	if a.Role == approval.Administrator {
		q.Label, q.Reason, q.Extra = "Request approval", true, deskview.NeedsTwo()
	}
	return q
}

// confirmRemoveStaff serves GET /portal/desk/staff/{account}/remove, and removeStaff
// POST.
func (p *Pages) confirmRemoveStaff(w http.ResponseWriter, r *http.Request) error {
	return p.confirm(w, r, staffRemovePage, removeStaffQuestion)
}

func (p *Pages) removeStaff(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	return p.carryOut(w, r, staffRemovePage, removeStaffQuestion, "staff.removed", func(a *registry.Account) error {
		return p.People.Remove(r.Context(), a.ID, portal.OneLine(r.PostFormValue("reason")), v.Who, v.ID)
	})
}

func resetFactorQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := staffQuestion(a, "factor", "The two-factor authentication of "+a.Name+" ("+a.Email+") is removed, and all sessions of the account end. "+
		"First verify, in a way that you trust, that the request comes from this person: afterwards, anybody with the password can set up a new second factor. The person gets an e-mail about it.", "Request approval", view.Danger, f)
	q.Reason, q.Extra = true, deskview.NeedsTwo()
	return q
}

// confirmResetFactor serves GET /portal/desk/staff/{account}/factor, and resetFactor
// POST.
func (p *Pages) confirmResetFactor(w http.ResponseWriter, r *http.Request) error {
	return p.confirm(w, r, staffFactorPage, resetFactorQuestion)
}

func (p *Pages) resetFactor(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	return p.carryOut(w, r, staffFactorPage, resetFactorQuestion, "staff.factor", func(a *registry.Account) error {
		return p.People.ResetFactorOf(r.Context(), a.ID, portal.OneLine(r.PostFormValue("reason")), v.Who, v.ID)
	})
}

func unlockFactorQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	return present.UnlockQuestion(a, staffPath, f)
}

// confirmUnlockFactor serves GET /portal/desk/staff/{account}/unlock, and unlockFactor
// POST.
func (p *Pages) confirmUnlockFactor(w http.ResponseWriter, r *http.Request) error {
	return p.confirm(w, r, staffUnlockPage, unlockFactorQuestion)
}

func (p *Pages) unlockFactor(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	return p.carryOut(w, r, staffUnlockPage, unlockFactorQuestion, "factor.unlocked", func(a *registry.Account) error {
		return p.People.UnlockFactorOf(r.Context(), a.ID, v.Who, v.ID)
	})
}
