// Package bankapi has the operations of API keys beside verify: files of numbers,
// watch-lists, the feed of events, webhook endpoints, and the test clock. Package httpapi mounts them in its route table: it has
// checked the credential, its rights and its limits before an operation is called.
package bankapi

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/distribute"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/filejob"
	"github.com/lineproof/lineproof/internal/impact"
	"github.com/lineproof/lineproof/internal/keyright"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/watchlist"
	"github.com/lineproof/lineproof/internal/webhook"
)

// API serves the operations. All fields are required.
type API struct {
	Lists   *watchlist.Service
	Jobs    *filejob.Service
	Feed    *feed.Service
	Notices *impact.Notices
	Sandbox *sandbox.Service
	Tests   *distribute.Tests
	Region  *phone.Region
	// Webhooks are the endpoints to which feeds are sent.
	Webhooks *webhook.Service
	// Closing is closed when the service stops: whoever waits or streams is let go.
	Closing <-chan struct{}

	mu      sync.Mutex
	streams map[uuid.UUID]int // open streams of each organisation on this node
}

// Field is one field of a JSON body, and where its value goes.
type Field struct {
	Name     string
	Text     *string
	Present  *bool // of a text: set if the field is there
	Flag     *bool
	List     *[]string
	MaxItems int // of a list
}

// Call is one call of an operation, by a key that may call it.
type Call struct {
	Key   uuid.UUID
	Owner watchlist.Owner
	By    webhook.By // the key and the request, for the audit trail
	// Respond sends a success in the envelope.
	Respond func(data any) error
	// Decode reads a JSON body of at most limit bytes. The error is about the body as a
	// whole, or has the violations of all fields, also those that check found.
	Decode func(limit int64, check func(*fault.Form), fields ...Field) error
	// Query reads the query string. The form has what is wrong so far.
	Query func(names ...string) (url.Values, *fault.Form, error)
	// File returns the body of a request that sends a file.
	File func() (io.Reader, error)
	// FileError turns an error of reading the file into that for the caller.
	FileError func(error) error
	// StillValid returns an error when the key is no longer valid.
	StillValid func(context.Context) error
}

func (c *Call) feedOwner() feed.Owner { return feed.Owner{Entity: c.Owner.Entity, Mode: c.Owner.Mode} }

// Limit says how long an operation may take.
type Limit int

// The limits.
const (
	Short Limit = iota // as any request
	File               // as long as a file may take
	Own                // the operation limits itself
)

// Operation is one operation.
type Operation struct {
	Method, Path string
	Right        string // that the key needs; "" for none
	Limit        Limit
	Serve        func(http.ResponseWriter, *http.Request, *Call) error
}

// The paths.
const (
	listsPath   = "/api/v1/watch-lists"
	listPath    = listsPath + "/{listId}"
	membersPath = listPath + "/members"
	feedPath    = "/api/v1/feed"
	streamPath  = feedPath + "/stream"
	acksPath    = feedPath + "/acknowledgements"
	clockPath   = "/api/v1/test/clock"
)

// Operations lists all operations.
func (a *API) Operations() []Operation {
	return slices.Concat(a.webhookOperations(), a.jobOperations(), []Operation{
		{http.MethodPost, listsPath, keyright.Watch, Short, a.createList},
		{http.MethodGet, listsPath, keyright.Watch, Short, a.showLists},
		{http.MethodGet, listPath, keyright.Watch, Short, a.showList},
		{http.MethodDelete, listPath, keyright.Watch, File, a.deleteList},
		{http.MethodPut, membersPath, keyright.Watch, File, a.replaceMembers},
		{http.MethodPost, membersPath, keyright.Watch, Short, a.changeMembers},
		{http.MethodGet, membersPath, keyright.Watch, File, a.sendMembers},
		{http.MethodGet, feedPath, keyright.Feed, Own, a.readFeed},
		{http.MethodGet, streamPath, keyright.Feed, Own, a.streamFeed},
		{http.MethodPost, acksPath, keyright.Feed, Short, a.acknowledge},
		{http.MethodGet, clockPath, "", Short, a.showClock},
		{http.MethodPost, clockPath, "", Short, a.moveClock},
	})
}

// timestamp is ISO 8601 in UTC with milliseconds, as the contract has it.
const timestamp = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(timestamp) }

// isTest reports whether the call is one of a test key.
func (c *Call) isTest() bool { return c.Owner.Mode == "test" }
