// Package httpapi is the JSON transport.
//
// Every request takes the same steps: it is given an id and a line in the log,
// the route table names the credentials that may open it, the door checks them,
// the handler reads the request and calls one method of a domain package, and
// the envelope goes out. Handlers return errors; one table turns them into
// answers. Nothing answers outside the envelope.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/rehearsal"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
)

// API serves the operations. All fields but Proxies, PublicURL and Traced are
// required.
type API struct {
	Keeper    *access.Keeper
	Registry  *registry.Registry
	People    *people.People
	Documents *document.Store
	Verifier  *verify.Verifier
	Record    func(context.Context, uuid.UUID) (journal.Entry, error) // finds a record, wherever it is kept
	Lines     *supply.Desk
	Rehearsal *rehearsal.Desk
	Guard     *guard.Guard // counts what is asked and refuses what is too much; nil for nobody
	Answers   *idempotency.Store
	Region    *phone.Region
	Log       *slog.Logger
	Metrics   *telemetry.Metrics
	Docs      http.Handler // the reference for people
	Ended     func(End)    // told how each request to verify ended, once it is known who asked; nil for nobody

	RegulatorCode  string
	PublicURL      string // under which the service is known, without a slash at its end; "" where nobody said
	ImportMaxBytes int64  // of a file of lines or events, as it is sent
	Timeouts       Timeouts
	Limits         Limits
	Proxies        []netip.Prefix // whose X-Forwarded-For is believed
	Traced         bool           // somebody collects traces

	ordering sync.Mutex // held while an order is given
	refusals thinner    // of the routes that are asked most
	floods   thinner    // of logins that are put off
}

// End is how a request to verify ended.
type End struct {
	Entity uuid.UUID
	Mode   string // of the key
	Single bool   // one question, and not a batch of them
	Status int    // of HTTP
	Took   time.Duration
}

// Timeouts bound how long a handler may take. Past it the caller hears 503.
type Timeouts struct {
	Upload  time.Duration
	Import  time.Duration // of files of lines or events, on their way in and out
	Request time.Duration // of everything else
}

// route is one row of the route table.
type route struct {
	method  string
	path    string
	admits  []access.Kind  // none means that no credential is asked for
	scopes  []access.Scope // of which a client's token needs one
	roles   []access.Role  // of which a session needs one; none means that any session will do
	timeout time.Duration  // 0 where the operation keeps its own time, within the server's bounds for reading and writing
	serve   func(http.ResponseWriter, *http.Request) error
}

// name is what log and metrics call the route.
func (rt route) name() string { return rt.method + " " + rt.path }

// quiet reports whether a success of the route needs no line in the log, because
// it has a record in the journal.
func (rt route) quiet() bool { return rt.path == verifyPath || rt.path == batchPath }

const (
	verifyPath = "/api/v1/phone/api/phone-numbers/verify"
	batchPath  = "/api/v1/phone/api/phone-numbers/verify-batch"

	verifyRoute = http.MethodPost + " " + verifyPath
)

// routes is the whole surface of the API. api/openapi.yaml describes the same
// rows, and a test compares the two.
func (a *API) routes() []route {
	t := a.Timeouts
	person := []access.Kind{access.Session}
	client, session, key := []access.Kind{access.Client}, []access.Kind{access.Session, access.Client}, []access.Kind{access.APIKey}
	scope := func(one ...access.Scope) []access.Scope { return one }
	deciders := []access.Role{access.Administrator, access.Reviewer}
	return []route{
		{http.MethodPost, tokenPath, nil, nil, nil, t.Request, a.issueToken},
		{http.MethodPost, revokePath, nil, nil, nil, t.Request, a.revokeToken},
		{http.MethodGet, metadataPath, nil, nil, nil, t.Request, a.showMetadata},
		{http.MethodPost, "/api/regulator/v1/onboard-entity", client, scope(access.EntityOnboard), nil, t.Request, a.onboardEntity},
		{http.MethodPost, "/api/regulator/v1/upload-document", session, scope(access.DocumentUpload), nil, t.Upload, a.uploadDocument},
		{http.MethodGet, documentsPath, session, scope(access.DocumentUpload), nil, t.Request, a.listDocuments},
		{http.MethodGet, documentsPath + "/{documentId}", session, scope(access.DocumentUpload), nil, t.Request, a.showDocument},
		{http.MethodGet, documentsPath + "/{documentId}/content", person, nil, nil, t.Upload, a.sendContent},
		{http.MethodPost, documentsPath + "/{documentId}/review", person, nil, deciders, t.Request, a.reviewDocument},
		{http.MethodPost, loginPath, nil, nil, nil, t.Request, a.logIn},
		{http.MethodPost, logoutPath, person, nil, nil, t.Request, a.logOut},
		{http.MethodGet, sessionsPath, person, nil, nil, t.Request, a.listSessions},
		{http.MethodDelete, sessionsPath, person, nil, nil, t.Request, a.endSessions},
		{http.MethodDelete, sessionsPath + "/{sessionId}", person, nil, nil, t.Request, a.endSession},
		{http.MethodPost, passwordPath, person, nil, nil, t.Request, a.changePassword},
		{http.MethodPost, resetPath, nil, nil, nil, t.Request, a.askReset},
		{http.MethodPost, resetCompletePath, nil, nil, nil, t.Request, a.completeReset},
		{http.MethodPost, confirmEmailPath, nil, nil, nil, t.Request, a.confirmEmail},
		{http.MethodPost, factorPath, person, nil, nil, t.Request, a.beginFactor},
		{http.MethodDelete, factorPath, person, nil, nil, t.Request, a.removeFactor},
		{http.MethodPost, factorConfirmPath, person, nil, nil, t.Request, a.confirmFactor},
		{http.MethodPost, invitationsPath, person, nil, nil, t.Request, a.invite},
		{http.MethodPost, acceptPath, nil, nil, nil, t.Request, a.acceptInvitation},
		{http.MethodGet, teamPath, person, nil, nil, t.Request, a.showTeam},
		{http.MethodDelete, teamPath + "/{accountId}", person, nil, nil, t.Request, a.removeFromTeam},
		{http.MethodGet, keysPath, person, nil, nil, t.Request, a.listKeys},
		{http.MethodPost, keysPath, person, nil, nil, t.Request, a.createKey},
		{http.MethodPost, keysPath + "/{keyId}/roll", person, nil, nil, t.Request, a.rollKey},
		{http.MethodDelete, keysPath + "/{keyId}", person, nil, nil, t.Request, a.revokeKey},
		{http.MethodPost, verifyPath, key, nil, nil, 0, a.verifyNumber},
		{http.MethodPost, batchPath, key, nil, nil, 0, a.verifyBatch},
		{http.MethodGet, "/api/v1/phone/api/phone-numbers/verifications/{requestId}", key, nil, nil, t.Request, a.showVerification},
		{http.MethodGet, clockPath, key, nil, nil, t.Request, a.showClock(a.Rehearsal)},
		{http.MethodPost, clockPath, key, nil, nil, t.Request, a.moveClock(a.Rehearsal)},
		{http.MethodPost, "/api/v1/lines/events", client, scope(access.LineSupply, access.LinePort, access.LineFlag), nil, t.Request, a.tellEvents},
		{http.MethodPost, "/api/v1/lines/orders", session, scope(access.LineOrder), deciders, t.Request, a.giveOrder},
		{http.MethodPost, importsPath, client, scope(access.LineSupply), nil, t.Import, a.receiveImport},
		{http.MethodGet, importsPath, session, scope(access.LineSupply), access.Roles, t.Request, a.listImports},
		{http.MethodGet, importsPath + "/{importId}", session, scope(access.LineSupply), access.Roles, t.Request, a.showImport},
		{http.MethodGet, importsPath + "/{importId}/refused", session, scope(access.LineSupply), access.Roles, t.Import, a.sendRefused},
		{http.MethodGet, "/api/v1/lines/supply", session, scope(access.LineSupply), access.Roles, t.Request, a.showSupply},
		{http.MethodPost, "/api/v1/lines/history", session, scope(access.LineSupply), access.Roles, t.Request, a.showHistory},
	}
}

var (
	errNoRoute = fault.New(fault.NotFound, "There is no such operation. The operations are listed at /docs.")
	errMethod  = fault.New(fault.MethodNotAllowed, "The operation does not take this method. The Allow header says which it takes.")
)

// Handler returns the API as one handler. Paths are matched to the letter: a
// multiplexer that redirects a path to its clean form would answer outside the
// envelope.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	methods := make(map[string][]string)
	for _, rt := range a.routes() {
		mux.Handle(rt.method+" "+rt.path, a.door(rt))
		methods[rt.path] = append(methods[rt.path], rt.method)
	}
	for p, allowed := range methods {
		slices.Sort(allowed)
		mux.HandleFunc(p, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			a.fail(w, r, errMethod)
		})
	}
	none := func(w http.ResponseWriter, r *http.Request) { a.fail(w, r, errNoRoute) }
	mux.HandleFunc("/", none)
	for _, p := range []string{"/docs", "/docs/", "/openapi.yaml", "/openapi.json"} {
		mux.Handle(p, a.Docs)
	}
	return a.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "" || r.URL.Path[0] != '/' || path.Clean(r.URL.Path) != r.URL.Path {
			none(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}
