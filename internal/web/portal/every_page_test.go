package portal_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// everything is a portal in which every page of the route table has something to show.
type everything struct {
	*stack

	visitors map[string]visitor
	more     []string          // pages of the operator that show a route in another state
	own      map[string]string // the ids of what the operator has, by their names in the route table
	desk     map[string]string // the ids that pages of staff take instead
}

// openedPage is a page as somebody got it.
type openedPage struct {
	name string // its route, and who opened it
	path string
	role string
	body string
	root *html.Node
}

// newEverything creates one of everything.
func newEverything(t *testing.T) *everything {
	t.Helper()
	s := newStack(t)
	e := &everything{stack: s, visitors: map[string]visitor{}}
	for _, role := range everybody {
		e.visitors[role] = s.as(t, role)
	}
	e.visitors["administrator"] = s.promoted(t, e.visitors["administrator"])
	e.visitors["colleague"] = s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID})
	telco := s.enrolled(t, e.visitors["telco"])
	e.own = s.belongings(t, telco)
	s.lock(t, e.own["account"])
	// A network has one open file at a time; that of belongings was never read.
	must(s.pool.Exec(t.Context(), `UPDATE supply_import SET state = 'cancelled'`))(t)
	_, held := s.held(t, telco)
	e.own["import"] = held.String()
	s.publish(t)
	s.openFor(t, telco) // which the first session can end
	for _, state := range []string{"active", "paused"} {
		e.more = append(e.more, "/portal/webhooks/"+e.sentTo(t, state).String())
	}
	newInvited := people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID, Email: "invited@people.example"}
	must(s.People.CreateInvited(t.Context(), newInvited, access.Operator, uuid.Nil))(t)
	s.moved(t, e.own["document"], "", "received", "scanning", "clean")
	e.desk = e.deskIDs(t)
	s.corrected(t, s.telco, uuid.MustParse(e.own["request"]), testNumber, 1)
	return e
}

// sentTo creates a webhook endpoint of the operator in a state, to which something was sent.
func (e *everything) sentTo(t *testing.T, state string) (id uuid.UUID) {
	t.Helper()
	owner := feed.Owner{Entity: e.telco.ID, Mode: access.Test}
	id = must(e.webhooks.Create(t.Context(), owner, webhook.NewForm{Name: "core banking", URL: "https://hooks.telco.example/" + state}, webhook.By{Actor: access.Operator}))(t).ID
	must(e.pool.Exec(t.Context(), `UPDATE hook_endpoint SET state = $2 WHERE id = $1`, id, state))(t)
	must(e.pool.Exec(t.Context(), `INSERT INTO hook_attempt (endpoint_id, n, at, kind, message, first_seq, last_seq, events, status, error, took_ms, answer)
		VALUES ($1, 1, now(), 'events', '1-1_1-2', 1, 2, 2, 503, 'no', 12, '')`, id))(t)
	return id
}

// deskIDs creates what only staff see.
func (e *everything) deskIDs(t *testing.T) map[string]string {
	t.Helper()
	_, event := e.heldEvent(t, lifeNumber)
	staff := e.as(t, "reviewer").id.String()
	e.lock(t, staff)
	newGuest(people.InviteForm{Kind: registry.StaffAccount, Role: "reviewer"})(t, e.stack)
	newSearch(t, e.stack)
	mandate := access.MandateForm{Entity: e.telco.ID, Principal: "Corner Shop", Document: "letter 1", Until: e.Now().Add(time.Hour)}
	boss := e.visitors["administrator"]
	plan := e.handIn(t, "/portal/desk/new-plan", boss.session, map[string]string{"upload": e.planText(t) + "234914,NEW,Newcomer,2026-03-01,\n", "source": "A letter"})
	wantGo(t, e.handIn(t, "/portal/desk/plan", boss.session, hidden(plan.Body.String())), "/portal/desk/plan")
	draft := must(e.Approvals.List(t.Context(), false, 1))(t)[0].Subject.String()
	e.found(t, e.telco, "density", "slowed", nil)
	bank := newBank(t, e.stack)
	must(e.Registry.Revoke(t.Context(), bank, "No licence", access.Operator, uuid.Nil))(t)
	asked := must(e.Registry.Restore(t.Context(), bank, "Renewed", actorOf(boss), uuid.Nil))(t)
	return map[string]string{
		"entity": e.telco.ID.String(), "client": e.telcoClient(t).String(), "network": "MTN", "topic": "SIM", "event": event, "draft": draft, "page": "1",
		"mandate": must(e.Access.AddMandate(t.Context(), mandate, access.Operator, uuid.Nil))(t).String(),
		"list":    e.heldList(t, e.telco, "customers").String(), "order": newBlacklisting(t, e.stack).String(), "job": e.heldFile(t).String(),
		"approval": newRestoration(t, e.stack).String(), "asked": asked.Pending.String(), "staff": staff,
	}
}

// lock locks the two-factor authentication of an account.
func (s *stack) lock(t testing.TB, account string) {
	t.Helper()
	s.enrolled(t, visitor{id: uuid.MustParse(account)})
	must(s.pool.Exec(t.Context(), `UPDATE second_factor SET wrong_codes = 100, locked_at = now() WHERE account_id = $1`, account))(t)
}

// at puts ids that exist into a path of the route table.
func (e *everything) at(t *testing.T, path string) string {
	t.Helper()
	ids := []map[string]string{e.own}
	if strings.HasPrefix(path, "/portal/desk/") {
		ids = []map[string]string{e.desk, e.own}
		path = strings.Replace(path, "/staff/{account}", "/staff/{staff}", 1)
		path = strings.Replace(path, "{approval}/break-glass", "{asked}/break-glass", 1) // of one's own request
	}
	for _, some := range ids {
		for name, id := range some {
			path = strings.ReplaceAll(path, "{"+name+"}", id)
		}
	}
	if strings.Contains(path, "{") {
		t.Fatalf("%s takes an id of which there is none: create one in newEverything", path)
	}
	return path
}

// who lists the roles that may open a route. What has an id belongs to the operator.
func (e *everything) who(row portal.Row) (roles []string) {
	for _, role := range append([]string{"colleague"}, mayOpen[row.Who]...) {
		ofBank := role == "admin" || role == "member"
		switch {
		case role == "colleague" && row.Who != "entity" && row.Who != "operator":
		case role == "limited" && !row.Limited:
		case ofBank && strings.Contains(row.Path, "{"):
		case strings.Contains(row.Path, "{") && row.Who == "person" && role != "telco":
		default:
			roles = append(roles, role)
		}
	}
	return roles
}

// notPages are routes of GET that show no page of their own, and what they are.
var notPages = map[string]string{
	"/portal/":                                         "leads to a home",
	"/portal/messages/{message}":                       "leads to what the message is about",
	"/portal/export/receipts/{request}":                "a file",
	"/portal/export/verify-receipt.html":               "a file",
	"/portal/export/journal.csv":                       "a file",
	"/portal/export/journal.ndjson":                    "a file",
	"/portal/export/usage.csv":                         "a file",
	"/portal/export/audit.csv":                         "a file",
	"/portal/export/plan.csv":                          "a file",
	"/portal/documents/{document}/content":             "a file",
	"/portal/files/{job}/result.csv":                   "a file",
	"/portal/supply/imports/{import}/refused.csv":      "a file",
	"/portal/supply/imports/{import}/receipt":          "a file",
	"/portal/desk/supply/imports/{import}/refused.csv": "a file",
	"/portal/desk/documents/{document}/content":        "a file",
	"/portal/desk/documents/{document}/pages/{page}":   "a picture",
	"/portal/files/{job}/progress":                     "a part of a page",
	"/portal/supply/imports/{import}/progress":         "a part of a page",
	"/portal/desk/supply/imports/{import}/progress":    "a part of a page",
}

// steps are forms whose answer is a page of its own, of which some lead on to other forms.
func (e *everything) steps(t *testing.T) []step {
	t.Helper()
	telco := must(e.Registry.Entity(t.Context(), e.telco.ID))(t)
	look := url.Values{"phoneNumber": {lifeNumber}, "reason": {lifeReason}}
	return []step{
		{"administrator", numbersPath, look},
		{"reviewer", prepareOrder, orderOf("BAR")},
		{"auditor", searching, searchFor(telco.Name)},
		{"auditor", "/portal/desk/journal/record", url.Values{"reason": {searchReason}, "requestId": {e.own["request"]}}},
		{"administrator", "/portal/desk/new-policy", url.Values{"swappedHours": {"120"}, "note": {"Direction of June"}, "base": {"1"}}},
		{"telco", "/portal/journal", url.Values{"phoneNumber": {testNumber}}},
		{"telco", "/portal/requests", url.Values{"phoneNumber": {"0803 123 4567"}}},
		{"telco", "/portal/try", url.Values{"phoneNumber": {testNumber}, "make": {"yes"}}},
		{"telco", "/portal/new-key", url.Values{"name": {"app"}, "mode": {"test"}}},
		{"member", "/portal/security/factor", url.Values{}},
	}
}

type step struct {
	role, path string
	fields     url.Values
}

// pages opens every page of the route table as everybody who may, and those that answer a
// form. A route that is in no list here fails the test.
func (e *everything) pages(t *testing.T) (all []openedPage) {
	t.Helper()
	for _, row := range e.Rows() {
		if row.Method != http.MethodGet {
			continue
		}
		shown := 0
		for _, role := range e.who(row) {
			path := e.at(t, row.Path)
			res := e.get(t, path, e.visitors[role].session)
			isHTML := strings.HasPrefix(res.Header().Get("Content-Type"), "text/html") && res.Header().Get("Content-Disposition") == ""
			switch {
			case res.Code == http.StatusOK && isHTML && strings.Contains(res.Body.String(), "<html"):
				shown++
				all = append(all, newOpenedPage(t, row.Path+" as "+role, path, role, res.Body.String()))
			case res.Code >= http.StatusInternalServerError && notPages[row.Path] == "":
				t.Errorf("%s as %s answered %d", path, role, res.Code)
			}
		}
		if is := notPages[row.Path]; shown == 0 && is == "" {
			t.Errorf("%s shows no page to anybody: say in notPages what it is, or create in newEverything what it shows", row.Path)
		} else if shown > 0 && is != "" {
			t.Errorf("%s shows a page, and is listed as %s", row.Path, is)
		}
	}
	for _, path := range e.more {
		res := e.get(t, path, e.visitors["telco"].session)
		wantPage(t, res, http.StatusOK)
		all = append(all, newOpenedPage(t, path+" as telco", path, "telco", res.Body.String()))
	}
	for _, st := range e.steps(t) {
		res := e.post(t, st.path, e.visitors[st.role].session, st.fields)
		if res.Code != http.StatusOK {
			t.Errorf("POST %s as %s answered %d", st.path, st.role, res.Code)
			continue
		}
		all = append(all, newOpenedPage(t, "POST "+st.path+" as "+st.role, st.path, st.role, res.Body.String()))
	}
	return all
}

func newOpenedPage(t *testing.T, name, path, role, body string) openedPage {
	t.Helper()
	return openedPage{name, path, role, body, must(html.Parse(strings.NewReader(body)))(t)}
}

// find returns the elements of a page that have one of the names.
func (p openedPage) find(names ...string) (found []*html.Node) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && slices.Contains(names, n.Data) {
			found = append(found, n)
		}
	}
	return found
}

// attribute returns the value of an attribute, and whether it is there.
func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// rowAt returns the row of the route table that serves a path.
func (e *everything) rowAt(method, path string) (portal.Row, bool) {
	for _, row := range e.Rows() {
		if row.Method == method && fits(row.Path, path) {
			return row, true
		}
	}
	return portal.Row{}, false
}

// fits reports whether a path is one of a route.
func fits(route, path string) bool {
	parts, given := strings.Split(route, "/"), strings.Split(path, "/")
	if len(parts) != len(given) {
		return false
	}
	for i, part := range parts {
		if part != given[i] && (!strings.HasPrefix(part, "{") || given[i] == "") {
			return false
		}
	}
	return true
}
