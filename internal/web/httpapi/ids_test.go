package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// party is an account of an entity, with a credential of each kind.
type party struct {
	entity, account uuid.UUID
	session         string
	sessionID       uuid.UUID
	key             access.NewKey
	token           string // of a client that supplies for a network of its own
}

func (s *stack) party(t *testing.T, network string) party {
	t.Helper()
	uid, email := s.onboarded(t, s.token(t))
	p := party{entity: uuid.MustParse(uid), session: s.session(t, email), token: s.lineToken(t, network, "line:supply")}
	p.key = s.ownKey(t, p.entity)
	err := s.pool.QueryRow(t.Context(), `SELECT s.id, s.account_id FROM session s JOIN account a ON a.id = s.account_id WHERE a.email = $1`, email).Scan(&p.sessionID, &p.account)
	if err != nil {
		t.Fatal(err)
	}
	s.withFactor(t, person{id: p.account})
	return p
}

// colleague adds a colleague to the party's entity and returns the account.
func (s *stack) colleague(t *testing.T, p party) uuid.UUID {
	t.Helper()
	id := uuid.New()
	super(t, s, `INSERT INTO account (id, kind, entity_id, name, email, email_key, created_at)
		VALUES ('`+id.String()+`', 'member', '`+p.entity.String()+`', 'M', '`+id.String()+`@x.example', '`+id.String()+`@x.example', now())`)
	return id
}

// For another entity, every id of an entity is not found: the same 404 as an
// invented one. Each route with an id is tried, and then with its owner, to
// show that the id is valid.
func TestIdsOfAnotherEntityAreNotFound(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	a, b := s.party(t, "MTN"), s.party(t, "GLO")
	_, publish := s.withLog(t)
	byPerson := func(method, path, body string) func(who party) *http.Request {
		return func(who party) *http.Request {
			if body != "" {
				return post(path, who.session, body)
			}
			return without(method, path, who.session)
		}
	}
	sent := s.sent(t, sendFile("?kind=events", a.token, spottyFile))
	s.work(t, sent)
	unfinished := s.sent(t, sendFile("?kind=events", a.token, spottyFile))
	record := field(t, s.do(t, post(verifyPath, a.key.Text.Reveal(), `{"phoneNumber":"`+knownNumber+`"}`)).Body.Bytes(), "data", "requestId")
	ofImport := func(rest string) func(who party) *http.Request {
		return func(who party) *http.Request { return get(importsPath+"/"+sent+rest, who.token) }
	}
	paper := documentsPath + "/" + s.moved(t, s.paper(t, a.entity.String(), "TAX_ID"), "clean")
	document := "GET " + documentsPath + "/{documentId}"
	ways := map[string]func(who party) *http.Request{
		document:              byPerson(http.MethodGet, paper, ""),
		document + "/content": byPerson(http.MethodGet, paper+"/content", ""),
		rollRoute:             byPerson(http.MethodPost, keysPath+"/"+s.ownTestKey(t, a.entity).ID.String()+"/roll", `{}`),
		reportRoute:           byPerson(http.MethodPost, keysPath+"/"+s.ownKey(t, a.entity).ID.String()+"/report-leaked", ""),
		endKeyRoute:           byPerson(http.MethodDelete, keysPath+"/"+s.ownKey(t, a.entity).ID.String(), ""),
		verifiedRoute: func(who party) *http.Request {
			return get(verifiedPath+record, who.key.Text.Reveal())
		},
		receiptRoute: func(who party) *http.Request {
			publish()
			return get(verifiedPath+record+"/receipt", who.key.Text.Reveal())
		},
		"GET " + importsPath + "/{importId}":         ofImport(""),
		"GET " + importsPath + "/{importId}/refused": ofImport("/refused"),
		"POST " + importsPath + "/{importId}/cancel": func(who party) *http.Request { return post(importsPath+"/"+unfinished+"/cancel", who.token, "") },
		"GET " + importsPath + "/{importId}/receipt": func(who party) *http.Request {
			publish()
			return ofImport("/receipt")(who)
		},
		"DELETE " + teamPath + "/{accountId}":     byPerson(http.MethodDelete, teamPath+"/"+s.colleague(t, a).String(), ""),
		"DELETE " + sessionsPath + "/{sessionId}": byPerson(http.MethodDelete, sessionsPath+"/"+a.sessionID.String(), ""),
	}
	bankKey := func(of party, mode string) string {
		form := access.KeyForm{Entity: of.entity, Name: "feed", Mode: mode, Rights: []string{"watch", "feed", "jobs"}}
		return must(s.Access.CreateKey(t.Context(), form, access.Operator, uuid.Nil))(t).Text.Reveal()
	}
	var read uuid.UUID
	for _, route := range bankRoutes {
		method, path, _ := strings.Cut(route, " ")
		if !strings.Contains(path, "{") {
			continue
		}
		own, mode := path, access.Live
		switch {
		case strings.Contains(path, "{listId}"):
			own = strings.Replace(path, "{listId}", s.list(t, bankKey(a, mode)), 1)
		case strings.Contains(path, "{jobId}"):
			own = strings.Replace(path, "{jobId}", s.job(t, bankKey(a, mode), jobState(path)), 1)
		default:
			mode = access.Test // whose endpoint can be on this machine
			id := read
			if method != http.MethodGet || read == uuid.Nil {
				id = s.oneMoreHook(t, a.entity, mode, hookState(path))
			}
			if method == http.MethodGet { // several requests can read one endpoint
				read = id
			}
			own = strings.Replace(path, "{webhookId}", id.String(), 1)
			s.tellFeed(t, feed.Owner{Entity: a.entity, Mode: mode})
		}
		ways[route] = func(who party) *http.Request {
			switch {
			case method == http.MethodPut:
				return put(own, bankKey(who, mode), "text/csv", []byte(knownNumber))
			case strings.HasSuffix(own, "/resend"):
				return post(own, bankKey(who, mode), `{"first":"1"}`)
			case method == http.MethodPost && (strings.Contains(own, hooksPath) || strings.Contains(own, jobsPath)):
				return post(own, bankKey(who, mode), `{}`)
			case method == http.MethodPost:
				return post(own, bankKey(who, mode), `{"add":["`+knownNumber+`"]}`)
			}
			return without(method, own, bankKey(who, mode))
		}
	}
	var last []string // what ends the owner's own session comes last
	for _, route := range (&httpapi.API{}).Operations() {
		if !strings.Contains(route, "{") || route == "POST "+documentsPath+"/{documentId}/review" {
			continue // the regulator's staff decide about every entity's documents, and nobody else
		}
		if ways[route] == nil {
			t.Errorf("%s takes an id, and nobody has tried it with another's", route)
			continue
		}
		if strings.Contains(route, "{sessionId}") {
			last = append(last, route)
			continue
		}
		s.foreign(t, route, ways[route], a, b)
	}
	for _, route := range last {
		s.foreign(t, route, ways[route], a, b)
	}
}

// foreign tries a route with an id of a: first as b, who must not find it, then
// as a.
func (s *stack) foreign(t *testing.T, route string, ask func(who party) *http.Request, a, b party) {
	t.Helper()
	if res := s.do(t, ask(b)); res.Code != http.StatusNotFound {
		t.Errorf("%s with another's credential answered %d, want 404: %s", route, res.Code, res.Body)
	}
	if res := s.do(t, ask(a)); res.Code != http.StatusOK {
		t.Errorf("%s with its owner's credential answered %d, want 200: %s", route, res.Code, res.Body)
	}
}
