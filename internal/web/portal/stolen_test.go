package portal_test

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
)

var update = flag.Bool("update", false, "rewrite the list of what opens to a thief")

// stolenPage says in words what the list says.
const stolenPage = "../../../docs/reference/stolen-credentials.md"

// portalThief is somebody with a credential of the portal that is not theirs.
type portalThief struct {
	name string
	who  visitor
	// cookie is true where the thief has a session whose owner entered the password more than
	// five minutes ago; otherwise the thief has just signed in with a phished password.
	cookie bool
}

// portalThieves returns the thieves, in the order of the list.
func (e *everything) portalThieves(t *testing.T) []portalThief {
	t.Helper()
	bankAdmin, telcoAdmin := e.enrolled(t, e.visitors["admin"]), e.visitors["telco"]
	administrator, reviewer := e.enrolled(t, e.visitors["administrator"]), e.enrolled(t, e.visitors["reviewer"])
	phished := func(kind registry.AccountKind, entity uuid.UUID) visitor {
		return e.joined(t, people.InviteForm{Kind: kind, Entity: entity})
	}
	return []portalThief{
		{"cookie of a bank admin", bankAdmin, true},
		{"cookie of a telco admin", telcoAdmin, true},
		{"cookie of an administrator", administrator, true},
		{"cookie of a reviewer", reviewer, true},
		{"password of a bank member", phished(registry.MemberAccount, e.bank.ID), false},
		{"password of a bank admin", phished(registry.AdminAccount, e.bank.ID), false},
		{"password of a telco member", phished(registry.MemberAccount, e.telco.ID), false},
		{"password of a telco admin", phished(registry.AdminAccount, e.telco.ID), false},
	}
}

// sessionOf returns what a thief sends: an old session of the owner, or one that the phished
// password has just opened.
func (e *everything) sessionOf(t *testing.T, thief portalThief) string {
	t.Helper()
	session := e.openFor(t, thief.who)
	if thief.cookie {
		e.aged(t, thief.who)
	}
	e.own["session"] = must(e.Access.Sessions(t.Context(), thief.who.id))(t)[0].ID.String()
	return session
}

// The results of a request by a thief.
const (
	opens         = "opens"
	needsPassword = "password"
	needsFactor   = "factor"
	closed        = "-"
)

// tried sends a request of a route as a thief, and says in a word what came back. What is
// wrong with the form does not matter: somebody who fills it in gets further.
func (e *everything) tried(t *testing.T, row portal.Row, thief portalThief) string {
	t.Helper()
	var form url.Values
	if row.Method != http.MethodGet {
		form = url.Values{"confirm": {"no such name"}}
	}
	session := e.sessionOf(t, thief)
	res := e.do(t, newRequest(row.Method, e.at(t, row.Path), session, form))
	body, to := res.Body.String(), res.Header().Get("Location")
	switch {
	case strings.Contains(body, askAgain) && row.Action != stepup.Prove:
		return needsPassword
	case strings.Contains(body, "Set up two-factor authentication first"), to == "/portal/security/factor":
		return needsFactor
	case res.Code == http.StatusForbidden, res.Code == http.StatusNotFound:
		return closed
	case res.Code >= http.StatusInternalServerError:
		t.Errorf("%s %s with the %s answered %d", row.Method, row.Path, thief.name, res.Code)
	}
	return opens
}

// takesAway lists the actions after which something is gone; they are tried last.
var takesAway = []stepup.Action{
	stepup.EndSession, stepup.RevokeKey, stepup.CancelFile, stepup.WithdrawImport,
	stepup.RemovePerson, stepup.RevokeSecret, stepup.PauseWebhook, stepup.DeleteWebhook,
}

// Every route of the portal is tried with every stolen credential. What opens is written in
// testdata/stolen.txt, and in words in docs/reference/stolen-credentials.md: a route that
// opens to a thief fails this test until somebody has written it down in both. What has an id
// belongs to the telco, so that nothing of that may open to a bank.
func TestStolenCredentialsOpenInThePortalOnlyWhatIsWritten(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	thieves := e.portalThieves(t)
	rows := slices.SortedStableFunc(slices.Values(e.Rows()), func(a, b portal.Row) int {
		return cmp.Compare(slices.Index(takesAway, a.Action), slices.Index(takesAway, b.Action))
	})
	slices.SortStableFunc(rows, func(a, b portal.Row) int { return strings.Compare(a.Method, b.Method) })
	lines, opened := make([]string, 0, len(rows)), map[string]map[stepup.Action]bool{}
	for _, row := range rows {
		var line strings.Builder
		fmt.Fprintf(&line, "%-4s %-60s", row.Method, row.Path)
		for _, thief := range thieves {
			result := e.tried(t, row, thief)
			fmt.Fprintf(&line, " %-8s", result)
			if opened[thief.name] == nil {
				opened[thief.name] = map[stepup.Action]bool{}
			}
			opened[thief.name][row.Action] = opened[thief.name][row.Action] || result == opens
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	slices.SortFunc(lines, strings.Compare)
	var head strings.Builder
	head.WriteString("# Each column is a thief:")
	for i, thief := range thieves {
		fmt.Fprintf(&head, "\n# %d. %s", i+1, thief.name)
	}
	got := head.String() + "\n" + strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "stolen.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(string(must(os.ReadFile(golden))(t)), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Errorf("a thief gets another result than is written in %s (numbers: columns)\n%s", golden, line)
		}
	}
	page := string(must(os.ReadFile(stolenPage))(t))
	for _, thief := range thieves {
		if line := openedLine(thief, opened[thief.name]); !strings.Contains(page, line) {
			t.Errorf("%s lacks the line\n%s", stolenPage, line)
		}
	}
}

// openedLine is what the page says of a thief: the changes that open, in the words of package
// stepup.
func openedLine(thief portalThief, opened map[stepup.Action]bool) string {
	var words []string
	for _, rule := range stepup.Table {
		if opened[rule.Action] && rule.Action != stepup.Anonymous {
			what := rule.What
			if !thief.cookie && rule.Factor == stepup.ForLive {
				what += " (for tests only)"
			}
			words = append(words, what)
		}
	}
	return "| portal | " + thief.name + " | " + strings.Join(words, "; ") + " |"
}
