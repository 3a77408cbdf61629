package portal_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	messages "github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// belongings creates one of everything that an organisation can have, and returns the
// ids by the names that the route table has for them.
func (s *stack) belongings(t testing.TB, owner visitor) map[string]string {
	t.Helper()
	key, id := s.madeKey(t, owner, "Lone Palm", "test")
	page := s.sent(t, owner, eventsForm, "", eventsFile)
	var message string
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		return s.People.NotifyAdmins(t.Context(), tx, people.Notice{Kind: people.DocumentRejected, Content: messages.Content{Path: "/portal/documents"}}, s.telco.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM message WHERE account_id = $1`, owner.id).Scan(&message); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"message": message, "refused": s.refusedRequest(t, s.telco.ID, uuid.New()).String(),
		"key": id, "request": s.asked(t, key, "", testNumber)[0], "document": s.uploaded(t, owner, "certificate.pdf", "CAC_CERTIFICATE"),
		"job":     must(s.jobs.Create(t.Context(), filejob.Owner{Entity: s.telco.ID, Mode: access.Test}, s.fileKey(t), "", filejob.By{Actor: access.Operator}))(t).ID.String(),
		"webhook": s.hook(t, s.telco.ID).String(), "import": page[strings.LastIndex(page, "/")+1:], "session": must(s.Access.Sessions(t.Context(), owner.id))(t)[0].ID.String(),
		"secret":  must(s.Access.Secrets(t.Context(), s.telcoClient(t)))(t)[0].ID.String(),
		"account": s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.telco.ID}).id.String(),
	}
}

// What belongs to one organisation does not exist for another. Every route with an id
// is requested with an id that exists: by its owner, for whom it opens, and by a
// person with the same rights in another organisation, who cannot tell it from an id
// that was made up.
func TestNothingOfOthersExists(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	glo := s.onboard(t, "GLO", registry.ApplicationForm{
		Name: "Lagoon Mobile", CAC: "RC 10", AdminName: "Bola Ojo", AdminEmail: "bola@telco.example", AdminPhone: "+2348051112222", AdminPassword: password,
	})
	owner, stranger := s.as(t, "telco"), s.enrolled(t, s.joined(t, people.InviteForm{Kind: registry.AdminAccount, Entity: glo.ID}))
	own := s.belongings(t, owner)
	form := url.Values{"confirm": {"Lone Palm"}, "overlap": {"0"}, "kind": {"admin"}}
	tried := 0
	for _, row := range s.Rows() {
		if !strings.Contains(row.Path, "{") || !slices.Contains([]string{"person", "entity", "manager", "operator", "operator admin"}, row.Who) {
			continue
		}
		path, made := row.Path, row.Path
		for name, id := range own {
			path, made = strings.ReplaceAll(path, "{"+name+"}", id), strings.ReplaceAll(made, "{"+name+"}", uuid.NewString())
		}
		if strings.Contains(path, "{") {
			t.Fatalf("%s takes an id of which there is none", row.Path)
		}
		tried++
		theirs, nobodys := s.do(t, newRequest(row.Method, path, stranger.session, form)), s.do(t, newRequest(row.Method, made, stranger.session, form))
		if theirs.Code != http.StatusNotFound || nobodys.Code != http.StatusNotFound {
			t.Errorf("%s %s answered %d for what is another's, and %d for what is nobody's", row.Method, row.Path, theirs.Code, nobodys.Code)
		}
		if row.Method == http.MethodGet {
			if mine := s.get(t, path, owner.session); mine.Code == http.StatusNotFound {
				t.Errorf("%s does not open to its owner", row.Path)
			}
		}
	}
	if tried < 15 {
		t.Errorf("only %d rows were tried", tried)
	}
	if res := s.get(t, "/portal/keys/"+own["key"], owner.session); strings.Contains(res.Body.String(), "Revoked") {
		t.Error("a stranger has revoked the key")
	}
}
