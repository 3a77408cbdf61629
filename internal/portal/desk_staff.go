package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
)

const (
	deskStaffPath   = "/portal/desk/staff"
	staffAgainPath  = "/portal/desk/staff/{account}/invite"
	staffRolePath   = "/portal/desk/staff/{account}/role"
	staffOutPath    = "/portal/desk/staff/{account}/remove"
	staffFactorPath = "/portal/desk/staff/{account}/factor"
)

// deskStaffRoutes are the pages about the staff themselves.
func (p *Portal) deskStaffRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: deskStaffPath, who: staff, serve: p.showStaff},
		{method: post, path: deskStaffPath, who: administrator, serve: p.inviteStaff},
		{method: post, path: staffAgainPath, who: administrator, serve: p.inviteStaffAgain},
		{method: get, path: staffRolePath, who: administrator, serve: p.askStaffRole},
		{method: post, path: staffRolePath, who: administrator, serve: p.giveStaffRole},
		{method: get, path: staffOutPath, who: administrator, serve: p.askRemoveStaff},
		{method: post, path: staffOutPath, who: administrator, serve: p.removeStaff},
		{method: get, path: staffFactorPath, who: administrator, serve: p.askResetFactor},
		{method: post, path: staffFactorPath, who: administrator, serve: p.resetFactor},
	}
}

// staffShown is how many members of staff one page lists.
const staffShown = 100

var (
	staffPage  = view.Page{Title: "Staff", Lead: "Who works for the regulator, and what they may do.", Active: deskStaffPath}
	staffCrumb = []view.Link{{Label: "Staff", Href: deskStaffPath}}

	staffRolePage   = view.Page{Title: "Change a role", Crumbs: staffCrumb, Active: deskStaffPath}
	staffOutPage    = view.Page{Title: "Remove somebody", Crumbs: staffCrumb, Active: deskStaffPath}
	staffFactorPage = view.Page{Title: "Reset a second factor", Crumbs: staffCrumb, Active: deskStaffPath}
)

// showStaff serves GET /portal/desk/staff.
func (p *Portal) showStaff(w http.ResponseWriter, r *http.Request) error {
	d, err := p.staff(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, staffPage, view.DeskStaff(d))
}

func (p *Portal) staff(r *http.Request, form view.Form) (view.DeskStaffData, error) {
	ctx, v := r.Context(), visitOf(r)
	list, err := p.People.Team(ctx, v.who)
	if err != nil {
		return view.DeskStaffData{}, err
	}
	waiting, err := p.Approvals.List(ctx, false, mostWaiting)
	if err != nil {
		return view.DeskStaffData{}, err
	}
	goneLast(list)
	o := orderOf(r, "name", "role", "since")
	arrange(o, list, accountOrder)
	page, at := pageOf(r, list, staffShown, func(a *registry.Account) string { return a.ID.String() })
	ids := make([]uuid.UUID, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	factors, err := p.People.FactorsOf(ctx, ids)
	if err != nil {
		return view.DeskStaffData{}, err
	}
	d := view.DeskStaffData{Form: form, May: v.has(administrator), First: at.first, Next: at.next, Note: at.note, Heads: o.head, Now: p.Now()}
	for i := range page {
		row := staffRow(&page[i], v.who.Account)
		row.Factor = factors[page[i].ID]
		w := slices.IndexFunc(waiting, func(a approval.Approval) bool { return a.Kind == registry.GiveStaffRole && a.Subject == page[i].ID })
		if w >= 0 {
			row.Waits = staffRoleWord(waiting[w].Details["role"])
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

func staffRow(a *registry.Account, self uuid.UUID) view.StaffRow {
	m := memberRow(a, self)
	return view.StaffRow{
		ID: m.ID, Name: m.Name, Email: m.Email, Role: staffRoleWord(a.Role), State: m.State, Tone: m.Tone, Self: m.Self, Invited: m.Invited, Gone: m.Gone, Since: m.Since,
	}
}

// staffRoleWord is a role in words.
func staffRoleWord(role string) string {
	if role == "" {
		return ""
	}
	return strings.ToUpper(role[:1]) + role[1:]
}

// inviteStaff serves POST /portal/desk/staff.
func (p *Portal) inviteStaff(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	g := people.Guest{Email: strings.TrimSpace(r.PostFormValue("email")), Kind: registry.StaffAccount, Role: r.PostFormValue("role")}
	i, err := p.People.Invite(r.Context(), g, v.who, v.id)
	if form, wrong := formOf(r, err); wrong {
		d, failed := p.staff(r, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, staffPage, view.DeskStaff(d))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, deskStaffPath, invitedMessage(i))
}

func invitedMessage(i people.Invited) string {
	if i.Waits != uuid.Nil {
		return "staff.invited.waits"
	}
	return "staff.invited"
}

// member returns the member of staff whom the path names.
func (p *Portal) member(r *http.Request) (registry.Account, error) {
	id, err := idOf(r, "account")
	if err != nil {
		return registry.Account{}, err
	}
	a, err := p.Registry.Account(r.Context(), p.Pool, id)
	if isCode(err, fault.NotFound) || (err == nil && a.Kind != registry.StaffAccount) {
		return registry.Account{}, errNoPage
	}
	return a, err
}

// inviteStaffAgain serves POST /portal/desk/staff/{account}/invite: another
// letter to somebody who has not accepted, or who was removed.
func (p *Portal) inviteStaffAgain(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	a, err := p.member(r)
	if err != nil {
		return err
	}
	i, err := p.People.Invite(r.Context(), people.Guest{Email: a.Email, Kind: a.Kind, Role: a.Role}, v.who, v.id)
	if err != nil {
		return err
	}
	return p.goOn(w, r, deskStaffPath, invitedMessage(i))
}

// asked serves the question before something is done to a member of staff.
func (p *Portal) asked(w http.ResponseWriter, r *http.Request, page view.Page, question func(*registry.Account, view.Form) view.ConfirmData) error {
	a, err := p.member(r)
	if err != nil {
		return err
	}
	return p.show(w, r, page, view.Confirm(question(&a, view.Form{})))
}

// answered does it, and leads back to the list or asks again.
func (p *Portal) answered(w http.ResponseWriter, r *http.Request, page view.Page, question func(*registry.Account, view.Form) view.ConfirmData, message string, do func(*registry.Account) error) error {
	a, err := p.member(r)
	if err != nil {
		return err
	}
	err = do(&a)
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, page, view.Confirm(question(&a, form)))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, deskStaffPath, message)
}

func staffQuestion(a *registry.Account, what, text, label string, kind view.Kind, f view.Form) view.ConfirmData {
	return view.ConfirmData{Text: text, Action: deskStaffPath + "/" + a.ID.String() + "/" + what, Label: label, Kind: kind, Cancel: deskStaffPath, Form: f}
}

func staffRoleQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	q := staffQuestion(a, "role", a.Name+" ("+a.Email+") is "+article(a.Role)+". Choose the role that they shall have.", "Ask for it", view.Primary, f)
	q.Reason, q.Extra = true, view.StaffRole(f, a.Role)
	return q
}

// article writes a role with its article.
func article(role string) string {
	if strings.HasPrefix(role, "a") {
		return "an " + role
	}
	return "a " + role
}

// askStaffRole serves GET /portal/desk/staff/{account}/role, and giveStaffRole
// POST: it waits for a second person.
func (p *Portal) askStaffRole(w http.ResponseWriter, r *http.Request) error {
	return p.asked(w, r, staffRolePage, staffRoleQuestion)
}

func (p *Portal) giveStaffRole(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	return p.answered(w, r, staffRolePage, staffRoleQuestion, "staff.waits", func(a *registry.Account) error {
		return pg.InTx(r.Context(), p.Pool, func(tx pg.Tx) error {
			_, err := p.Registry.GiveRole(r.Context(), tx, a.ID, r.PostFormValue("role"), r.PostFormValue("reason"), v.who.Actor(), v.id)
			return err
		})
	})
}

func removeStaffQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	return staffQuestion(a, "remove", "The account of "+a.Name+" ("+a.Email+") ends, and every session of it. What they asked for and nobody has confirmed can no longer be confirmed.", "Remove", view.Danger, f)
}

// askRemoveStaff serves GET /portal/desk/staff/{account}/remove, and removeStaff
// POST.
func (p *Portal) askRemoveStaff(w http.ResponseWriter, r *http.Request) error {
	return p.asked(w, r, staffOutPage, removeStaffQuestion)
}

func (p *Portal) removeStaff(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	return p.answered(w, r, staffOutPage, removeStaffQuestion, "staff.removed", func(a *registry.Account) error {
		return p.People.Remove(r.Context(), a.ID, v.who, v.id)
	})
}

func resetFactorQuestion(a *registry.Account, f view.Form) view.ConfirmData {
	return staffQuestion(a, "factor", "The second factor of "+a.Name+" ("+a.Email+") is taken away, and every session of the account ends. "+
		"Make sure first that it is the person who asks, by a way that you trust: from then on the password alone lets whoever has it set up a new one. They get a letter about it.", "Reset the second factor", view.Danger, f)
}

// askResetFactor serves GET /portal/desk/staff/{account}/factor, and resetFactor
// POST.
func (p *Portal) askResetFactor(w http.ResponseWriter, r *http.Request) error {
	return p.asked(w, r, staffFactorPage, resetFactorQuestion)
}

func (p *Portal) resetFactor(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	return p.answered(w, r, staffFactorPage, resetFactorQuestion, "staff.factor", func(a *registry.Account) error {
		return p.People.ResetFactorOf(r.Context(), a.ID, v.who, v.id)
	})
}
