package team

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
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
	return append(p.staffActions(), []portal.Route{
		{Method: get, Path: staffPath, Right: portal.Staff, Serve: p.ShowForm(p.staff)},
		{Method: post, Path: staffPath, Right: portal.Administrator, Action: stepup.Invite, Serve: p.inviteStaff},
		{Method: post, Path: staffInvitePath, Right: portal.Administrator, Action: stepup.Invite, Serve: p.inviteStaffAgain},
	}...)
}

// staffShown is the number of staff members on one page.
const staffShown = 100

var (
	staffPage  = kit.Page{Title: "Staff", Lead: "The people who work for the regulator, and their roles.", Active: staffPath}
	staffCrumb = []kit.Link{{Label: "Staff", Href: staffPath}}
)

// staff is the page /portal/desk/staff.
func (p *Pages) staff(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	ctx, v := r.Context(), portal.VisitOf(r)
	list, err := p.People.Team(ctx, v.Who)
	if err != nil {
		return staffPage, nil, err
	}
	waiting, err := p.Approvals.List(ctx, false, portal.MaxWaiting)
	if err != nil {
		return staffPage, nil, err
	}
	o := SortAccounts(r, list)
	page, links := web.PageOf(r, list, staffShown, func(a *registry.Account) string { return a.ID.String() })
	ids := make([]uuid.UUID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	factors, err := p.People.FactorsOf(ctx, ids)
	if err != nil {
		return staffPage, nil, err
	}
	d := StaffData{Form: form, CanEdit: v.Has(portal.Administrator), First: links.First, Next: links.Next, Note: portal.WindowNote(links), Heads: o.Head, Now: p.Now()}
	for i := range page {
		a, factor := &page[i], factors[page[i].ID]
		row := StaffRow{MemberRow: MemberRow{Account: a, Self: a.ID == v.Who.Account}, Factor: factor.Enabled, FactorLocked: factor.Locked}
		w := slices.IndexFunc(waiting, func(a approval.Approval) bool { return a.Kind == registry.GiveStaffRole && a.Subject == page[i].ID })
		if w >= 0 {
			row.PendingRole = roleTitle(waiting[w].Details["role"])
		}
		d.Rows = append(d.Rows, row)
	}
	return staffPage, Staff(d), nil
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
	return p.EndForm(w, r, err, p.staff, staffPath, invitedMessage(i))
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

// staffActions are the actions of administrators on a member of staff.
func (p *Pages) staffActions() []portal.Route {
	action := func(path string, change stepup.Action, ask func(*registry.Account, kit.Form) kit.ConfirmData, done string, do func(*http.Request, *portal.Visit, *registry.Account) error) portal.Action[registry.Account] {
		return portal.Action[registry.Account]{Path: path, Right: portal.Administrator, Change: change, Ask: ask, Do: func(r *http.Request, v *portal.Visit, a *registry.Account) (string, error) {
			return portal.OrWaits(do(r, v, a), done, "staff.waits")
		}}
	}
	return portal.Actions(p.Portal, p.pathMember,
		action(staffRolePath, stepup.ChangePerson, staffRoleQuestion, "staff.waits", func(r *http.Request, v *portal.Visit, a *registry.Account) error {
			return pg.InTx(r.Context(), p.Pool, func(tx pg.Tx) error {
				_, err := p.Registry.GiveRole(r.Context(), tx, a.ID, r.PostFormValue("role"), portal.OneLine(r.PostFormValue("reason")), v.Who.Actor(), v.ID)
				return err
			})
		}),
		action(staffRemovePath, stepup.RemovePerson, removeStaffQuestion, "staff.removed", func(r *http.Request, v *portal.Visit, a *registry.Account) error {
			return p.People.Remove(r.Context(), a.ID, portal.OneLine(r.PostFormValue("reason")), v.Who, v.ID)
		}),
		action(staffFactorPath, stepup.ChangePerson, resetFactorQuestion, "staff.factor", func(r *http.Request, v *portal.Visit, a *registry.Account) error {
			return p.People.ResetFactorOf(r.Context(), a.ID, portal.OneLine(r.PostFormValue("reason")), v.Who, v.ID)
		}),
		action(staffUnlockPath, stepup.ChangePerson, unlockFactorQuestion, "factor.unlocked", func(r *http.Request, v *portal.Visit, a *registry.Account) error {
			return p.People.UnlockFactorOf(r.Context(), a.ID, v.Who, v.ID)
		}),
	)
}

func staffRoleQuestion(a *registry.Account, f kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Change role", Crumbs: staffCrumb, Text: a.Name + " (" + a.Email + ") is " + article(a.Role) + ". Choose the new role.", Label: "Request role change", Kind: kit.Primary, Cancel: staffPath,
		Reason: true, Extra: StaffRole(f, a.Role),
	}
}

// article returns a role with its article.
func article(role string) string {
	if strings.HasPrefix(role, "a") {
		return "an " + role
	}
	return "a " + role
}

func removeStaffQuestion(a *registry.Account, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: "Remove person", Crumbs: staffCrumb, Label: "Remove person", Kind: kit.Danger, Cancel: staffPath,
		Text: "The account of " + a.Name + " (" + a.Email + ") is removed, and all its sessions end. Requests of theirs that nobody has confirmed yet can no longer be confirmed.",
	}
	if a.Role == approval.Administrator {
		q.Label, q.Reason, q.Extra = "Request approval", true, kit.NeedsTwo()
	}
	return q
}

func resetFactorQuestion(a *registry.Account, _ kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "Reset two-factor authentication", Crumbs: staffCrumb, Label: "Request approval", Kind: kit.Danger, Cancel: staffPath, Reason: true, Extra: kit.NeedsTwo(),
		Text: "The two-factor authentication of " + a.Name + " (" + a.Email + ") is removed, and all sessions of the account end. " +
			"First verify, in a way that you trust, that the request comes from this person: afterwards, anybody with the password can set up a new second factor. The person gets an e-mail about it.",
	}
}

func unlockFactorQuestion(a *registry.Account, _ kit.Form) kit.ConfirmData {
	return UnlockQuestion(a, staffPath, staffCrumb)
}
