package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	logoutPath        = "/api/regulator/v1/logout"
	sessionsPath      = "/api/regulator/v1/sessions"
	passwordPath      = "/api/regulator/v1/password"
	resetPath         = "/api/regulator/v1/password-reset"
	resetCompletePath = "/api/regulator/v1/password-reset/complete"
	confirmEmailPath  = "/api/regulator/v1/email/confirm"
	factorPath        = "/api/regulator/v1/second-factor"
	factorConfirmPath = "/api/regulator/v1/second-factor/confirm"
	invitationsPath   = "/api/regulator/v1/invitations"
	acceptPath        = "/api/regulator/v1/invitations/accept"
	teamPath          = "/api/regulator/v1/team"

	freshPassword = "monsoon-91-cloud"
)

// withPeople gives the stack its people service. E-mails are not sent: tests
// create the links.
func (s *stack) withPeople(passwords *secret.Passwords, peppers *secret.Peppers) {
	s.People = &people.People{
		Pool: s.pool, Access: s.Access, Registry: s.Registry, Peppers: peppers, Passwords: passwords, EntityFactor: true, Issuer: "Lineproof REGULATOR",
		PublicURL: "https://lineproof.example", Now: time.Now,
		QueueEmail: func(context.Context, pg.Tx, people.Email) error { return nil },
	}
	s.Access.CheckKeyMaker, s.Access.MakesKeys, s.Access.Notify = s.People.CheckKeyMaker, s.People.MakesKeys, s.People.NotifyOfCredential
}

// person is an account of the bank, or of the staff, with a session.
type person struct {
	id             uuid.UUID
	email, session string
}

// confirmInvited makes an account what it was invited as, as if somebody else had confirmed it.
func (s *stack) confirmInvited(t testing.TB, i people.Invited, role string) {
	t.Helper()
	if i.Pending != uuid.Nil {
		must(s.pool.Exec(t.Context(), `WITH a AS (UPDATE approval SET state = 'lapsed' WHERE id = $2) UPDATE account SET disabled_at = NULL, role = nullif($3, '') WHERE id = $1`, i.ID, i.Pending, role))(t)
	}
}

// joined creates an account by an invitation.
func (s *stack) joined(t testing.TB, g people.InviteForm) person {
	t.Helper()
	if g.Email == "" {
		g.Email = string(g.Kind) + "-" + uuid.NewString() + "@people.example"
	}
	i := must(s.People.CreateInvited(t.Context(), g, access.Operator, uuid.Nil))(t)
	s.confirmInvited(t, i, g.Role)
	res := s.do(t, post(acceptPath, "", `{"token":"`+s.link(t, people.Invitation, i.ID)+`","name":"Zainab Sule","password":"`+password+`"}`))
	if res.Code != http.StatusOK {
		t.Fatalf("accepting answered %d: %s", res.Code, res.Body)
	}
	return person{i.ID, g.Email, s.open(t, access.SessionForm{Account: i.ID, Entity: g.Entity})}
}

func (s *stack) admin(t testing.TB) person {
	t.Helper()
	return s.joined(t, people.InviteForm{Kind: registry.AdminAccount, Entity: s.bank.ID})
}

func (s *stack) member(t testing.TB) person {
	t.Helper()
	return s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.bank.ID})
}

func (s *stack) administrator(t testing.TB) person {
	t.Helper()
	return s.joined(t, people.InviteForm{Kind: registry.StaffAccount, Role: "administrator"})
}

// link returns the token of a link.
func (s *stack) link(t testing.TB, kind people.EmailKind, account uuid.UUID) string {
	t.Helper()
	link, _, err := s.People.Link(t.Context(), kind, account)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.Reveal(), "#")
	return token
}

// enrolled enables two-factor authentication and returns an unused code. It is
// the next code, and the first one is the current: both are still accepted if
// the time step changes between here and the server, which an older code would
// not be.
func (s *stack) enrolled(t testing.TB, p person) string {
	t.Helper()
	begun := s.do(t, post(factorPath, p.session, ""))
	shared := field(t, begun.Body.Bytes(), "data", "secret")
	if res := s.do(t, post(factorConfirmPath, p.session, `{"otp":"`+codeAt(t, shared, 0)+`"}`)); res.Code != http.StatusOK {
		t.Fatalf("confirming answered %d: %s", res.Code, res.Body)
	}
	return codeAt(t, shared, 30*time.Second)
}

// withFactor gives an account two-factor authentication, which changes of the team need, without
// a code that anybody knows.
func (s *stack) withFactor(t testing.TB, p person) person {
	t.Helper()
	must(s.pool.Exec(t.Context(), `INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, '', now(), now())`, p.id))(t)
	must(s.pool.Exec(t.Context(), `UPDATE account SET verified_at = now(), verified_by = 'email' WHERE id = $1`, p.id))(t) // so that it counts at once
	return p
}

func codeAt(t testing.TB, shared string, d time.Duration) string {
	t.Helper()
	return must(totp.GenerateCode(shared, time.Now().Add(d)))(t)
}

// peoplePasses and peopleTakes are the rows of the matrix for the operations on
// people: which credentials pass, and which are of the right kind but lack the
// permission.
func peoplePasses() map[string][]string {
	all := []string{"session admin", "session administrator", "session reviewer", "session auditor"}
	limited := append([]string{"session limited"}, all...)
	return map[string][]string{
		"POST " + logoutPath:                      limited,
		"GET " + sessionsPath:                     all,
		"DELETE " + sessionsPath:                  all,
		"DELETE " + sessionsPath + "/{sessionId}": all,
		"POST " + passwordPath:                    all,
		"POST " + provePath:                       limited,
		"POST " + resetPath:                       nil,
		"POST " + resetCompletePath:               nil,
		"POST " + confirmEmailPath:                nil,
		"POST " + factorPath:                      limited,
		"DELETE " + factorPath:                    limited,
		"POST " + factorConfirmPath:               limited,
		"POST " + invitationsPath:                 {"session admin", "session administrator"},
		"POST " + acceptPath:                      nil,
		"GET " + teamPath:                         all,
		"DELETE " + teamPath + "/{accountId}":     {"session admin", "session administrator"},
	}
}

func peopleTakes() map[string][]string {
	limited := []string{"session limited"}
	others := append([]string{"session reviewer", "session auditor"}, limited...)
	return map[string][]string{
		"GET " + sessionsPath:                     limited,
		"DELETE " + sessionsPath:                  limited,
		"DELETE " + sessionsPath + "/{sessionId}": limited,
		"POST " + passwordPath:                    limited,
		"POST " + invitationsPath:                 others,
		"GET " + teamPath:                         limited,
		"DELETE " + teamPath + "/{accountId}":     others,
	}
}

// peopleRequest returns a request that succeeds with a valid credential, or nil
// for a route that is not about people. A request that would change the account
// of the credential uses another account with the same permissions.
func peopleRequest(t *testing.T, s *stack, route, credential string) *http.Request {
	t.Helper()
	if _, ours := peoplePasses()[route]; !ours {
		return nil
	}
	like, standing := s.twin(t, credential)
	method, path, _ := strings.Cut(route, " ")
	if standing && (path == invitationsPath || path == teamPath+"/{accountId}") {
		s.withFactor(t, like)
	}
	r := without(method, path, "")
	switch route {
	case "DELETE " + sessionsPath + "/{sessionId}":
		r = without(method, sessionsPath+"/"+s.idOf(t, like.session).String(), "")
	case "POST " + passwordPath:
		r = post(path, "", `{"password":"`+password+`","newPassword":"`+freshPassword+`"}`)
	case "POST " + provePath:
		r = post(path, "", `{"password":"`+password+`"}`)
	case "POST " + resetPath:
		r = post(path, "", `{"email":"nobody@people.example"}`)
	case "POST " + resetCompletePath:
		r = post(path, "", `{"token":"`+s.link(t, people.Reset, s.member(t).id)+`","newPassword":"`+freshPassword+`"}`)
	case "POST " + confirmEmailPath:
		_, email := s.onboarded(t, s.token(t))
		account := must(s.Registry.AccountByEmail(t.Context(), s.pool, email))(t)
		r = post(path, "", `{"token":"`+s.link(t, people.Confirmation, account.ID)+`"}`)
	case "DELETE " + factorPath:
		body := `{}`
		if standing {
			body = `{"password":"` + password + `","otp":"` + s.enrolled(t, like) + `"}`
		}
		r = remove(path, "", body)
	case "POST " + factorConfirmPath:
		body := `{}`
		if standing {
			begun := s.do(t, post(factorPath, like.session, ""))
			body = `{"otp":"` + codeAt(t, field(t, begun.Body.Bytes(), "data", "secret"), 0) + `"}`
		}
		r = post(path, "", body)
	case "POST " + invitationsPath:
		r = post(path, "", `{"email":"guest-`+uuid.NewString()+`@people.example","kind":"member","entityUid":"`+s.place(t, like).String()+`"}`)
	case "POST " + acceptPath:
		i := must(s.People.CreateInvited(t.Context(), people.InviteForm{Email: "guest-" + uuid.NewString() + "@people.example", Kind: registry.MemberAccount, Entity: s.bank.ID}, access.Operator, uuid.Nil))(t)
		s.confirmInvited(t, i, "")
		r = post(path, "", `{"token":"`+s.link(t, people.Invitation, i.ID)+`","name":"G","password":"`+password+`"}`)
	case "DELETE " + teamPath + "/{accountId}":
		r = without(method, teamPath+"/"+s.joined(t, people.InviteForm{Kind: registry.MemberAccount, Entity: s.place(t, like)}).id.String(), "")
	}
	if credential != "" && standing {
		credential = like.session
	}
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	return r
}

// twin returns an account with the permissions of a valid session, and whether
// the credential is one.
func (s *stack) twin(t *testing.T, credential string) (person, bool) {
	t.Helper()
	who, err := s.Access.Authenticate(t.Context(), credential, netip.MustParseAddr("192.0.2.1"))
	if err != nil || who.Kind != access.Session {
		return person{session: s.admin(t).session}, false
	}
	account := must(s.Registry.Account(t.Context(), s.pool, who.Account))(t)
	p := s.joined(t, people.InviteForm{Kind: account.Kind, Entity: account.Entity, Role: strings.Replace(account.Role, "administrator", "auditor", 1)})
	if account.Role != "" {
		super(t, s, `UPDATE account SET role = '`+account.Role+`' WHERE id = '`+p.id.String()+`'`)
	}
	p.session = s.open(t, access.SessionForm{Account: p.id, Entity: account.Entity, Limited: who.Limited})
	return p, true
}

// place returns the entity of a person, or the bank if there is none.
func (s *stack) place(t testing.TB, p person) uuid.UUID {
	t.Helper()
	if p.id == uuid.Nil {
		return s.bank.ID
	}
	if own := must(s.Registry.Account(t.Context(), s.pool, p.id))(t).Entity; own != uuid.Nil {
		return own
	}
	return s.bank.ID
}

// idOf returns the id of a session.
func (s *stack) idOf(t testing.TB, session string) (id uuid.UUID) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT id FROM session WHERE mac = $1`, s.Access.Peppers.Sign(secret.ForCredentials, session)).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// remove returns a DELETE with a body.
func remove(path, bearer, body string) *http.Request {
	r := post(path, bearer, body)
	r.Method = http.MethodDelete
	return r
}

// large is a body over the limit of every operation.
func large(r *http.Request) {
	text := `{"email":"` + strings.Repeat("x", 17<<10) + `"}`
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
}
