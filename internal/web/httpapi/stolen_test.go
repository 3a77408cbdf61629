package httpapi_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// stolenPage says in words what the list says.
const stolenPage = "../../../docs/reference/stolen-credentials.md"

// apiThief is somebody with a credential of the API that is not theirs.
type apiThief struct {
	name string
	// bearer returns the credential, a new one for each request: some requests end sessions.
	bearer func() string
	entity uuid.UUID // of the owner, or any
	kind   theft
}

// theft is what was stolen.
type theft uint8

const (
	oldSession theft = iota // the password was entered more than five minutes ago
	phishedPassword
	leakedKey
)

// apiThieves returns the thieves, in the order of the list.
func (s *stack) apiThieves(t *testing.T) []apiThief {
	t.Helper()
	telco, email := s.onboarded(t, s.token(t))
	telcoID := uuid.MustParse(telco)
	telcoAdmin := must(s.Registry.AccountByEmail(t.Context(), s.pool, email))(t).ID
	stolen := func(id uuid.UUID) func() string {
		s.withFactor(t, person{id: id})
		return func() string { return s.sessionFor(t, id, true) }
	}
	phished := func(kind registry.AccountKind, entity uuid.UUID) func() string {
		p := s.joined(t, people.InviteForm{Kind: kind, Entity: entity})
		return func() string { return s.sessionFor(t, p.id, false) }
	}
	staff := func(role string) func() string {
		p, _ := s.twin(t, s.staff(t, role))
		return stolen(p.id)
	}
	key := func(rights ...string) func() string {
		form := access.KeyForm{Entity: s.bank.ID, Name: "stolen", Mode: access.Live, Purpose: "fraud", Rights: rights}
		made := must(s.Access.CreateKey(t.Context(), form, access.Operator, uuid.Nil))(t).Text.Reveal()
		return func() string { return made }
	}
	return []apiThief{
		{"session of a bank admin", stolen(s.admin(t).id), s.bank.ID, oldSession},
		{"session of a telco admin", stolen(telcoAdmin), telcoID, oldSession},
		{"session of an administrator", staff("administrator"), s.bank.ID, oldSession},
		{"session of a reviewer", staff("reviewer"), s.bank.ID, oldSession},
		{"password of a bank member", phished(registry.MemberAccount, s.bank.ID), s.bank.ID, phishedPassword},
		{"password of a bank admin", phished(registry.AdminAccount, s.bank.ID), s.bank.ID, phishedPassword},
		{"password of a telco member", phished(registry.MemberAccount, telcoID), telcoID, phishedPassword},
		{"password of a telco admin", phished(registry.AdminAccount, telcoID), telcoID, phishedPassword},
		{"live key without rights", key(), s.bank.ID, leakedKey},
		{"live key with every right", key("watch", "feed", "jobs"), s.bank.ID, leakedKey},
	}
}

// sessionFor opens a session of an account, in which the password was entered just now or, if
// it is old, six minutes ago.
func (s *stack) sessionFor(t *testing.T, account uuid.UUID, old bool) string {
	t.Helper()
	a := must(s.Registry.Account(t.Context(), s.pool, account))(t)
	session := s.open(t, access.SessionForm{Account: a.ID, Entity: a.Entity})
	if old {
		s.aged(t, person{id: a.ID})
	}
	return session
}

var pathID = regexp.MustCompile(`\{[^}]+\}`)

// The results of a request by a thief.
const (
	opens         = "opens"
	needsPassword = "password"
	needsFactor   = "factor"
	closed        = "-"
)

// triedBy sends a request as a thief, nearly always without a body, and says in a word what came back. What
// is wrong with the request does not matter: somebody who sends a right one gets further.
func (s *stack) triedBy(t *testing.T, route string, thief apiThief) string {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // of the stream
	defer cancel()
	r := without(method, pathID.ReplaceAllString(path, uuid.NewString()), thief.bearer())
	if path == uploadPath { // the handler decides who may, after it has read the form
		r = upload(thief.bearer(), append(documentParts(), part{"entityUid", "", thief.entity.String()})...)
	}
	res := s.do(t, r.WithContext(ctx))
	switch {
	case refusedWith(res, "PASSWORD_REQUIRED"):
		return needsPassword
	case refusedWith(res, "INCOMPLETE_ACCOUNT"):
		return needsFactor
	case res.Code == http.StatusForbidden, res.Code == http.StatusUnauthorized:
		return closed
	case res.Code >= http.StatusInternalServerError:
		t.Errorf("%s with the %s answered %d: %s", route, thief.name, res.Code, res.Body)
	}
	return opens
}

// Every operation is tried with every stolen credential. What opens is written in
// testdata/stolen.txt, and in words in docs/reference/stolen-credentials.md: an operation that
// opens to a thief fails this test until somebody has written it down in both.
func TestStolenCredentialsOpenInTheAPIOnlyWhatIsWritten(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	s.People.StaffFactor = true
	actions, _ := (&httpapi.API{}).Actions()
	thieves := s.apiThieves(t)
	var lines []string
	opened := map[string][]string{}
	for _, route := range slices.Sorted(maps.Keys(actions)) {
		if actions[route] == stepup.Anonymous || strings.HasSuffix(route, metadataPath) {
			continue // takes no credential
		}
		method, path, _ := strings.Cut(route, " ")
		var line strings.Builder
		fmt.Fprintf(&line, "%-6s %-58s", method, path)
		for _, thief := range thieves {
			result := s.triedBy(t, route, thief)
			fmt.Fprintf(&line, " %-8s", result)
			if result == opens && (thief.kind == leakedKey || actions[route] != "") {
				opened[thief.name] = append(opened[thief.name], route)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
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
		if line := openedLine(thief, opened[thief.name], actions); !strings.Contains(page, line) {
			t.Errorf("%s lacks the line\n%s", stolenPage, line)
		}
	}
}

// openedLine is what the page says of a thief: the operations that a key opens, and the changes
// that a session opens, in the words of package stepup.
func openedLine(thief apiThief, routes []string, actions map[string]stepup.Action) string {
	var words []string
	if thief.kind == leakedKey {
		for _, route := range routes {
			words = append(words, "`"+route+"`")
		}
	} else {
		for _, rule := range stepup.Table {
			if slices.ContainsFunc(routes, func(route string) bool { return actions[route] == rule.Action }) {
				words = append(words, rule.What+forTests(&rule, thief.kind == phishedPassword))
			}
		}
	}
	return "| API | " + thief.name + " | " + strings.Join(words, "; ") + " |"
}

// forTests says of what needs a second factor for live things that it opens for tests alone.
func forTests(rule *stepup.Rule, noFactor bool) string {
	if noFactor && rule.Factor == stepup.ForLive {
		return " (for tests only)"
	}
	return ""
}
