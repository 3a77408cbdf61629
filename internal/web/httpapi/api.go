// Package httpapi is the JSON transport.
//
// Every request takes the same steps: it gets an id and a log line (observe),
// the route table says which credentials it needs, authorize checks them, the
// handler reads the request, calls one method of a domain package and sends the
// response in the envelope. Handlers return errors, and package web has the table
// from fault codes to statuses. Only what a standard defines otherwise, and
// files, are sent without the envelope.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/logfiles"
)

// API serves the operations. All fields but Proxies, PublicURL and Traced are
// required.
type API struct {
	Access    *access.Service
	Registry  *registry.Registry
	People    *people.People
	Documents *document.Store
	Verifier  *verify.Verifier
	Record    func(context.Context, uuid.UUID) (record.Entry, error) // finds a verification record, in the database or in the archive
	Lines     *supply.Service
	Bank      *Bank        // watch-lists, feed and test clock
	Guard     *guard.Guard // counts verifications and refuses those over a quota; nil turns it off
	Answers   *idempotency.Store
	Region    *phone.Region
	Log       *slog.Logger
	Metrics   *telemetry.Metrics
	Docs      http.Handler             // the API reference, /docs and /openapi.*, and the documentation, /guide/
	LogFiles  *logfiles.Files          // the public log; nil without one
	Receipts  *logreceipt.Maker        // nil without a public log
	Ended     func(End)                // is called after each verify request of an authenticated caller; may be nil
	Refused   func(requestlog.Refused) // is called after each request with an API key that was refused or failed; may be nil

	RegulatorCode  string
	PublicURL      string // of the service, without a trailing slash; "" if it is not set
	ImportMaxBytes int64  // limit for an import file, as it is sent
	Timeouts       Timeouts
	Limits         Limits
	Proxies        []netip.Prefix // whose X-Forwarded-For is trusted
	Traced         bool           // traces are exported

	orders         pause.TurnsByKey // of one caller, that are created
	allOrders      pause.TurnsByKey // of all callers
	verifyRefusals web.LogSampler   // log lines of refused verifications
	loginRefusals  web.LogSampler   // log lines of refused logins
}

// End is how a request to verify ended.
type End struct {
	Entity uuid.UUID
	Mode   string // of the key: live or test
	Single bool   // one number, not a batch
	Status int    // the HTTP status
	Took   time.Duration

	Key uuid.UUID
	// Answer is the status of the answer about a single number, and Answers has those of a
	// batch.
	Answer  line.Status
	Answers map[line.Status]int64
	Code    fault.Code // of the error; "" for none
}

// Timeouts limit how long a handler may take. After that the caller gets 503.
type Timeouts struct {
	Upload  time.Duration
	Import  time.Duration // sending an import file, and getting its refused rows
	Request time.Duration // everything else
}

// route is one row of the route table.
type route struct {
	method  string
	path    string
	admits  []access.Kind  // none: no credential is needed
	scopes  []access.Scope // a client's token needs one of them
	roles   []access.Role  // a session needs one of them; none: any session will do
	timeout time.Duration  // 0: the operation has a timeout of its own, within the server's read and write timeouts
	action  stepup.Action  // what it changes; "" if nothing
	serve   func(http.ResponseWriter, *http.Request) error
}

// name is the route's name in the log and the metrics.
func (rt route) name() string { return rt.method + " " + rt.path }

// verifies reports whether the route verifies numbers. A request that succeeds needs no log
// line then, because it has a record in the journal.
func (rt route) verifies() bool { return rt.path == verifyPath || rt.path == batchPath }

const (
	verifyPath = "/api/v1/phone/api/phone-numbers/verify"
	batchPath  = "/api/v1/phone/api/phone-numbers/verify-batch"
	uploadPath = "/api/regulator/v1/upload-document"
	eventsPath = "/api/v1/lines/events"

	verifyRoute = http.MethodPost + " " + verifyPath
)

// routes is the route table: all operations of the API. api/openapi.yaml
// describes the same operations, and a test compares the two.
func (a *API) routes() []route {
	t := a.Timeouts
	person := []access.Kind{access.Session}
	client, session, key := []access.Kind{access.Client}, []access.Kind{access.Session, access.Client}, []access.Kind{access.APIKey}
	scope := func(one ...access.Scope) []access.Scope { return one }
	deciders := []access.Role{access.Administrator, access.Reviewer}
	suppliers := scope(access.LineSupply, access.LinePort, access.LineFlag)
	return append(a.bankRoutes(), []route{
		{http.MethodPost, tokenPath, nil, nil, nil, t.Request, stepup.Anonymous, a.issueToken},
		{http.MethodPost, revokePath, nil, nil, nil, t.Request, stepup.Anonymous, a.revokeToken},
		{http.MethodGet, metadataPath, nil, nil, nil, t.Request, "", a.showMetadata},
		{http.MethodPost, "/api/regulator/v1/onboard-entity", client, scope(access.EntityOnboard), nil, t.Request, stepup.ByProgram, a.onboardEntity},
		{http.MethodPost, uploadPath, session, scope(access.DocumentUpload), nil, t.Upload, stepup.UploadDocument, a.uploadDocument},
		{http.MethodGet, documentsPath, session, scope(access.DocumentUpload), nil, t.Request, "", a.listDocuments},
		{http.MethodGet, documentsPath + "/{documentId}", session, scope(access.DocumentUpload), nil, t.Request, "", a.showDocument},
		{http.MethodGet, documentsPath + "/{documentId}/content", person, nil, nil, t.Upload, "", a.sendContent},
		{http.MethodPost, documentsPath + "/{documentId}/review", person, nil, deciders, t.Request, stepup.ReviewDocument, a.reviewDocument},
		{http.MethodPost, loginPath, nil, nil, nil, t.Request, stepup.Anonymous, a.logIn},
		{http.MethodPost, logoutPath, person, nil, nil, t.Request, stepup.EndSession, a.logOut},
		{http.MethodPost, provePath, person, nil, nil, t.Request, stepup.Prove, a.proveSession},
		{http.MethodGet, sessionsPath, person, nil, nil, t.Request, "", a.listSessions},
		{http.MethodDelete, sessionsPath, person, nil, nil, t.Request, stepup.EndSession, a.endSessions},
		{http.MethodDelete, sessionsPath + "/{sessionId}", person, nil, nil, t.Request, stepup.EndSession, a.endSession},
		{http.MethodPost, passwordPath, person, nil, nil, t.Request, stepup.ChangePassword, a.changePassword},
		{http.MethodPost, resetPath, nil, nil, nil, t.Request, stepup.Anonymous, a.requestReset},
		{http.MethodPost, resetCompletePath, nil, nil, nil, t.Request, stepup.Anonymous, a.completeReset},
		{http.MethodPost, confirmEmailPath, nil, nil, nil, t.Request, stepup.Anonymous, a.confirmEmail},
		{http.MethodPost, factorPath, person, nil, nil, t.Request, stepup.BeginFactor, a.beginFactor},
		{http.MethodDelete, factorPath, person, nil, nil, t.Request, stepup.RemoveFactor, a.removeFactor},
		{http.MethodPost, factorConfirmPath, person, nil, nil, t.Request, stepup.ConfirmFactor, a.confirmFactor},
		{http.MethodPost, invitationsPath, person, nil, nil, t.Request, stepup.Invite, a.invite},
		{http.MethodPost, acceptPath, nil, nil, nil, t.Request, stepup.Anonymous, a.acceptInvitation},
		{http.MethodGet, teamPath, person, nil, nil, t.Request, "", a.showTeam},
		{http.MethodDelete, teamPath + "/{accountId}", person, nil, nil, t.Request, stepup.RemovePerson, a.removeFromTeam},
		{http.MethodGet, keysPath, person, nil, nil, t.Request, "", a.listKeys},
		{http.MethodPost, keysPath, person, nil, nil, t.Request, stepup.CreateKey, a.createKey},
		{http.MethodPost, keysPath + "/{keyId}/roll", person, nil, nil, t.Request, stepup.RollKey, a.rollKey},
		{http.MethodDelete, keysPath + "/{keyId}", person, nil, nil, t.Request, stepup.RevokeKey, a.revokeKey},
		{http.MethodPost, keysPath + "/{keyId}/report-leaked", person, nil, nil, t.Request, stepup.ReportKey, a.reportKey},
		{http.MethodPost, verifyPath, key, nil, nil, 0, stepup.ByProgram, a.verifyNumber},
		{http.MethodPost, batchPath, key, nil, nil, 0, stepup.ByProgram, a.verifyBatch},
		{http.MethodGet, "/api/v1/phone/api/phone-numbers/verifications/{requestId}", key, nil, nil, t.Request, "", a.showVerification},
		{http.MethodGet, receiptPath, key, nil, nil, t.Request, "", a.showReceipt},
		{http.MethodPost, eventsPath, client, suppliers, nil, t.Request, stepup.ByProgram, a.reportEvents},
		{http.MethodPost, "/api/v1/lines/orders", session, scope(access.LineOrder), deciders, t.Request, stepup.Order, a.createOrder},
		{http.MethodPost, importsPath, client, suppliers, nil, t.Import, stepup.ByProgram, a.receiveImport},
		{http.MethodGet, importsPath, session, suppliers, access.Roles, t.Request, "", a.listImports},
		{http.MethodGet, importsPath + "/{importId}", session, suppliers, access.Roles, t.Request, "", a.showImport},
		{http.MethodGet, importsPath + "/{importId}/refused", session, suppliers, access.Roles, t.Import, "", a.sendRefused},
		{http.MethodPost, importsPath + "/{importId}/cancel", client, suppliers, nil, t.Request, stepup.ByProgram, a.cancelImport},
		{http.MethodGet, importReceiptPath, client, suppliers, nil, t.Request, "", a.showImportReceipt},
		{http.MethodGet, "/api/v1/lines/supply", session, scope(access.LineSupply), access.Roles, t.Request, "", a.showSupply},
		{http.MethodGet, "/api/v1/lines/conflicts", session, scope(access.LineOrder), access.Roles, t.Request, "", a.listConflicts},
		{http.MethodPost, "/api/v1/lines/history", session, scope(access.LineSupply), access.Roles, t.Request, stepup.LookUp, a.showHistory},
	}...)
}

const guidePath = "/guide/" // of the documentation

var (
	errNoRoute = fault.New(fault.NotFound, "Unknown path. See /docs for the list of operations.")
	errMethod  = fault.New(fault.MethodNotAllowed, "Method not allowed. See the Allow header for the methods that this path takes.")
)

// Handler returns the API as one handler. Paths must match exactly: a mux that
// redirects a path to its clean form would send a response without the envelope.
func (a *API) Handler() http.Handler {
	mux := &web.Mux{NotAllowed: func(w http.ResponseWriter, r *http.Request) { a.fail(w, r, errMethod) }}
	a.allOrders.Most = int(a.Answers.Pool.Config().MaxConns / 2)
	limits := a.bodyLimits()
	for _, rt := range a.routes() {
		a.Metrics.RegisterRoute(rt.name())
		limit, ok := limits[rt.name()]
		if !ok {
			limit = bodyLimit{maxJSON, errTooLarge}
		}
		mux.Route(rt.method, rt.path, a.authorize(rt, limit))
	}
	a.Metrics.RegisterTimes(verifyRoute)
	none := func(w http.ResponseWriter, r *http.Request) { a.fail(w, r, errNoRoute) }
	mux.HandleFunc("/", none)
	for _, p := range []string{"/docs", "/docs/", "/openapi.yaml", "/openapi.json", "/guide", guidePath} {
		mux.Handle(p, a.limitFiles(a.Docs))
	}
	if a.LogFiles != nil {
		files := a.limitFiles(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := a.LogFiles.Serve(w, r); err != nil {
				a.fail(w, r, err)
			}
		}))
		mux.Route(http.MethodGet, logfiles.ListPath, files)
		mux.Route(http.MethodGet, a.LogFiles.Path(), files)
	}
	return a.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !web.IsClean(r.URL.Path, guidePath) {
			none(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}
