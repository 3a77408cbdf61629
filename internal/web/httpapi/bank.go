package httpapi

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Bank has what the operations of API keys beside verify need: files of numbers,
// watch-lists, the feed of events, webhook endpoints, and the test clock. All fields are
// required.
type Bank struct {
	Lists   *watchlist.Service
	Jobs    *filejob.Service
	Feed    *feed.Service
	Notices *impact.Notices
	Sandbox *sandbox.Service
	Tests   *distribute.Tests
	Region  *phone.Region
	// Webhooks are the endpoints to which feeds are sent.
	Webhooks *webhook.Service
	// ListMaxRows and ListMaxBytes are how many lines and bytes, as it is sent, the file of a
	// whole watch-list may have.
	ListMaxRows, ListMaxBytes int64
	// Closing is closed when the service stops: whoever waits or streams is let go.
	Closing <-chan struct{}

	mu      sync.Mutex
	streams map[uuid.UUID]int // open streams of each organisation on this node
}

const (
	listsPath    = "/api/v1/watch-lists"
	listPath     = listsPath + "/{listId}"
	membersPath  = listPath + "/members"
	feedPath     = "/api/v1/feed"
	streamPath   = feedPath + "/stream"
	acksPath     = feedPath + "/acknowledgements"
	jobsPath     = "/api/v1/jobs"
	jobPath      = jobsPath + "/{jobId}"
	jobFilePath  = jobPath + "/file"
	webhooksPath = "/api/v1/webhooks"
	webhookPath  = webhooksPath + "/{webhookId}"
	clockPath    = "/api/v1/test/clock"
	budgetsPath  = "/api/v1/budgets"
)

// The most bytes of a JSON body that has as many numbers, or ids of events, as are allowed.
const (
	maxMembers         = 1 << 20
	maxAcknowledgement = 64 << 10
)

// What is said of larger bodies.
var (
	errListTooLarge            = fault.New(fault.PayloadTooLarge, "The file is too large. Compress it with gzip or zstd, or divide it among several lists.")
	errJobTooLarge             = fault.New(fault.PayloadTooLarge, "The file is too large. Compress it with gzip or zstd, or send it in parts, each as a job.")
	errMembersTooLarge         = fault.New(fault.PayloadTooLarge, "The body is larger than 1 MiB. Send the numbers in several requests, or replace the whole list.")
	errAcknowledgementTooLarge = fault.New(fault.PayloadTooLarge, "The body is larger than 64 KiB. Send the ids in several requests.")
)

// bankRoutes are the operations of API keys beside verify. A timeout of 0 is one of the
// operation's own.
func (a *API) bankRoutes() []route {
	b, short, file := a.Bank, a.Timeouts.Request, a.Timeouts.Import
	row := func(method, path, right string, timeout time.Duration, serve bankOperation) route {
		action := stepup.ByProgram
		if method == http.MethodGet {
			action = ""
		}
		return route{method, path, []access.Kind{access.APIKey}, nil, nil, timeout, action, a.serveBank(right, serve)}
	}
	return []route{
		row(http.MethodPost, webhooksPath, access.FeedRight, short, b.createWebhook),
		row(http.MethodGet, webhooksPath, access.FeedRight, short, b.showWebhooks),
		row(http.MethodGet, webhookPath, access.FeedRight, short, b.onWebhook(b.showWebhook)),
		row(http.MethodDelete, webhookPath, access.FeedRight, short, b.onWebhook(b.deleteWebhook)),
		row(http.MethodGet, webhookPath+"/attempts", access.FeedRight, short, b.onWebhook(b.showAttempts)),
		row(http.MethodGet, webhookPath+"/refused", access.FeedRight, short, b.onWebhook(b.showRefused)),
		row(http.MethodPost, webhookPath+"/resend", access.FeedRight, 0, b.onWebhook(b.resendWebhook)),
		row(http.MethodPost, webhookPath+"/confirm", access.FeedRight, 0, b.onWebhook(b.confirmWebhook)),
		row(http.MethodPost, webhookPath+"/test", access.FeedRight, 0, b.onWebhook(b.testWebhook)),
		row(http.MethodPost, webhookPath+"/pause", access.FeedRight, short, b.onWebhook(b.pauseWebhook)),
		row(http.MethodPost, webhookPath+"/resume", access.FeedRight, short, b.onWebhook(b.resumeWebhook)),
		row(http.MethodPost, webhookPath+"/roll", access.FeedRight, short, b.onWebhook(b.rollWebhook)),
		row(http.MethodPost, webhookPath+"/replay", access.FeedRight, short, b.onWebhook(b.replayWebhook)),
		row(http.MethodPost, jobsPath, access.JobsRight, short, b.createJob),
		row(http.MethodGet, jobsPath, access.JobsRight, short, b.showJobs),
		row(http.MethodGet, jobPath, access.JobsRight, short, b.showJob),
		row(http.MethodPut, jobFilePath, access.JobsRight, file, b.receiveFile),
		row(http.MethodGet, jobPath+"/result", access.JobsRight, file, b.sendResult),
		row(http.MethodPost, jobPath+"/cancel", access.JobsRight, short, b.cancelJob),
		row(http.MethodPost, listsPath, access.WatchRight, short, b.createList),
		row(http.MethodGet, listsPath, access.WatchRight, short, b.showLists),
		row(http.MethodGet, listPath, access.WatchRight, short, b.showList),
		row(http.MethodDelete, listPath, access.WatchRight, file, b.deleteList),
		row(http.MethodPut, membersPath, access.WatchRight, file, b.replaceMembers),
		row(http.MethodPost, membersPath, access.WatchRight, short, b.changeMembers),
		row(http.MethodGet, membersPath, access.WatchRight, file, b.sendMembers),
		row(http.MethodGet, feedPath, access.FeedRight, 0, b.readFeed),
		row(http.MethodGet, streamPath, access.FeedRight, 0, b.streamFeed),
		row(http.MethodPost, acksPath, access.FeedRight, short, b.acknowledge),
		row(http.MethodGet, budgetsPath, "", short, b.showBudgets),
		row(http.MethodGet, clockPath, "", short, b.showClock),
		row(http.MethodPost, clockPath, "", short, b.moveClock),
	}
}

type bankOperation = func(http.ResponseWriter, *http.Request, *bankCall) error

// bankCall is one call of an operation by a key that has the right for it.
type bankCall struct {
	key   uuid.UUID
	owner watchlist.Owner
	by    webhook.By // the key and the request, for the audit trail

	api *API
	w   http.ResponseWriter
	r   *http.Request
}

// serveBank serves an operation to keys that have a right; "" is for all.
func (a *API) serveBank(right string, serve bankOperation) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		who := principal(r.Context())
		if right != "" && !slices.Contains(who.Rights, right) {
			return access.ErrMissingRight(right)
		}
		by := webhook.By{Actor: audit.Actor{Kind: audit.APIKey, ID: who.ID, From: who.From}, Request: requestID(r.Context())}
		owner := watchlist.Owner{Entity: who.Entity, Mode: who.Mode, Budget: BudgetOf(&who), Actor: by.Actor, Request: by.Request}
		return serve(w, r, &bankCall{key: who.ID, owner: owner, by: by, api: a, w: w, r: r})
	}
}

func (c *bankCall) feedOwner() feed.Owner {
	return feed.Owner{Entity: c.owner.Entity, Mode: c.owner.Mode}
}

func (c *bankCall) isTest() bool { return c.owner.Mode == "test" }

func (c *bankCall) respond(data any) error { return c.api.respond(c.w, c.r, data) }

// decode reads a JSON body. The error is about the body as a whole, or has the violations
// of all fields, also those that check found.
func (c *bankCall) decode(check func(*fault.Form), fields ...field) error {
	found, err := decode(c.r, fields...)
	if err != nil {
		return err
	}
	var wrong fault.Form
	if check != nil {
		check(&wrong)
	}
	return mergeViolations(found, wrong.Err())
}

// decodeOnce is decode for an operation that creates something and takes an Idempotency-Key. Its
// content is the text of the fields.
func (c *bankCall) decodeOnce(operation string, fields ...field) (idempotency.Ticket, error) {
	key, found := idempotencyKey(c.r)
	if err := c.decode(func(wrong *fault.Form) { wrong.Add(found...) }, fields...); err != nil {
		return idempotency.Ticket{}, err
	}
	texts := make([]string, len(fields))
	for i := range fields {
		texts[i] = *fields[i].text
	}
	return idempotency.Ticket{Caller: c.key, Operation: operation, Key: key, Body: []byte(strings.Join(texts, "\x00"))}, nil
}

// file returns the body of a request that sends a file.
func (c *bankCall) file() (io.Reader, error) { return c.r.Body, checkFile(c.r) }

// fileError turns an error of reading the file into that for the caller.
func (*bankCall) fileError(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return bodyError(err, errCutOff)
}

// checkValid returns an error when the key is no longer valid.
func (c *bankCall) checkValid(ctx context.Context) error {
	bearer, _ := bearerOf(c.r)
	_, err := c.api.Access.Authenticate(ctx, bearer, callerAddr(ctx))
	return err
}
