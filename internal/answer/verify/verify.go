// Package verify answers the request that the service exists for: what is the
// status of the line with this phone number, and which network serves it?
//
// # No answer without a record
//
// An answer is returned only after its record is committed to the journal. If
// the journal cannot store the record, the caller gets an error and learns
// nothing about the line.
//
// # Batches
//
// Requests that wait at the same time share one transaction: one look-up of all
// their lines, one journal batch, one commit. While a batch is committed, whatever
// has arrived in the meantime is looked up as the next one, so that the cores work
// while the disk does; up to [Verifier.MaxInFlight] batches are on their way, and at
// most one of them is being looked up. There is no timer: on an idle service a single
// request is committed at once, and under load the batches grow.
//
// # Fairness
//
// The queue has one lane per entity (the calling organisation), and a batch
// takes from the lanes in turn, so that a burst of one entity delays only that
// entity. When the queue is full, a new request takes the place of the newest
// request in the longest lane. It is refused instead if its own lane, with it,
// would be as long as the longest one.
//
// # Deadlines
//
// A request must be answered within [Verifier.Timeout] of its arrival. A batch
// works under the deadline of its oldest request, less a quarter of the timeout:
// its statements end by then, and the COMMIT may use the last quarter. Requests that have used more than half of their
// timeout when their batch starts are refused with [ErrTimeout] first, because
// their short deadline would apply to the whole batch. Every batch ends by its
// deadline and refuses late requests when it starts, so no request needs a timer
// of its own.
//
// # Overload
//
// A burst, or the requests that arrive while the disk stalls, may fill the queue
// up to [Verifier.MaxQueue]; they are answered a little later. But when the
// queue has held a sixteenth of MaxQueue or more for longer than half of the
// timeout, without becoming shorter, its limit is that sixteenth until it is
// shorter again, and a request beyond it is treated as in a full queue; see
// [congestion].
//
// # Refused batches
//
// When the database refuses a batch because of its content, the two halves are
// tried separately, and so on, so that only the requests that cannot be recorded
// fail. The number of attempts per batch is limited.
package verify

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry/span"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

var (
	// ErrBusy reports that the queue has no room for the request, or that the
	// request had to leave it for one of an entity that has fewer waiting.
	ErrBusy = fault.New(fault.Unavailable, "The service is overloaded. Send the request again after the time in the Retry-After header.")

	// ErrTimeout reports a request that was not answered before its deadline.
	ErrTimeout = fault.New(fault.Unavailable, "The request timed out. Send it again after the time in the Retry-After header.")
)

// Request is one request to verify a phone number.
type Request struct {
	Entity    uuid.UUID // the organisation that the key belongs to
	Key       uuid.UUID
	Mode      string // of the key: live or test
	Number    phone.Number
	RawNumber string    // the phone number as the caller wrote it
	Since     time.Time // if set, the answer says whether the line has changed since this time (whole seconds)
	Include   Include
	Grace     bool // the key was accepted from the cache, because the database was down

	Purpose     string // of the key: a code of the policy
	PurposeText string // of the key, in its own words
	Correlator  string
	ExternalID  string // the caller's own id of the question
	OnBehalfOf  string // for whom an agent asks
}

// Answer is the answer that the caller gets.
type Answer struct {
	RequestID uuid.UUID
	At        time.Time // whole milliseconds
	Status    line.Status
	Reason    line.Reason // why the status is UNALLOCATED or UNKNOWN
	Network   string
	Extra     Extra
	// ExtraJSON is Extra as the journal record holds it, one JSON object: the
	// caller gets exactly these bytes. It is empty when no extra was requested.
	ExtraJSON string
	// Receipt promises a receipt, if one was requested. It is not part of the record, which
	// it contains.
	Receipt logreceipt.Promise
}

// Verifier answers requests. All fields but Breaker and Promises are required.
type Verifier struct {
	Journal     *journal.Journal
	Breaker     *pg.Breaker // while it is open, requests are refused at once; failed batches are reported to it
	Lines       *linestore.Resolver
	Simulator   *sandbox.Simulator // answers for test numbers
	Promises    *logreceipt.Signer // nil: there are no receipts
	Now         func() time.Time
	MaxBatch    int           // requests in one commit
	MaxInFlight int           // commits in progress at the same time
	MaxQueue    int           // requests that wait during a burst
	Timeout     time.Duration // from the arrival of a request to its answer

	batchCalls atomic.Int64 // calls of VerifyAll in progress

	mu         sync.Mutex
	queue      queue
	congestion congestion
	inFlight   int  // batches on their way
	lookingUp  bool // one of them is being looked up, and not committed yet
	lastBatch  int  // size of the one that started last
}

// Verify looks up the line of a number, records the answer, and then returns it.
func (v *Verifier) Verify(ctx context.Context, r Request) (Answer, error) {
	if r.isTest() {
		if err := v.checkTestNumbers(ctx, []Request{r})[0]; err != nil {
			return Answer{}, err
		}
	}
	p := newPending(r, time.Now().Add(v.Timeout))
	if err := v.enqueue(ctx, p); err != nil {
		return Answer{}, err
	}
	return v.await(ctx, p)
}

// VerifyAll answers several requests of one key. Each request has its own answer
// or its own error, at the same index. If the last result is not nil, no request
// was accepted and the slices are nil.
func (v *Verifier) VerifyAll(ctx context.Context, requests []Request) ([]Answer, []error, error) {
	if len(requests) > 0 && requests[0].isTest() { // one key, so all have the same mode
		return v.verifyAllTest(ctx, requests)
	}
	return v.verifyAll(ctx, requests)
}

// verifyAll queues the requests in chunks, and waits for each chunk. All calls in
// progress together hold at most half of the queue that is not congested: several callers
// with large batches are no overload. The requests share one deadline. If the first chunk is refused, the
// whole call is.
func (v *Verifier) verifyAll(ctx context.Context, requests []Request) ([]Answer, []error, error) {
	answers, errs := make([]Answer, 0, len(requests)), make([]error, 0, len(requests))
	deadline := time.Now().Add(v.Timeout)
	v.batchCalls.Add(1)
	defer v.batchCalls.Add(-1)
	for len(requests) > 0 {
		size := max(int64(v.overloadLimit()/2)/v.batchCalls.Load(), 1)
		chunk := requests[:min(size, int64(len(requests)))]
		requests = requests[len(chunk):]
		waiting := make([]*pending, len(chunk))
		for i := range chunk {
			waiting[i] = newPending(chunk[i], deadline)
		}
		refused := v.enqueue(ctx, waiting...)
		if refused != nil && len(answers) == 0 {
			return nil, nil, refused
		}
		for _, p := range waiting {
			answer, err := Answer{}, refused
			if refused == nil {
				answer, err = v.await(ctx, p)
			}
			answers, errs = append(answers, answer), append(errs, err)
		}
	}
	return answers, errs, nil
}

// await returns the outcome of a queued request. When the caller's context ends
// first, the request is abandoned: it is dropped if it is still in the queue. If
// it is already part of a batch, the journal may get a record of an answer that
// was never delivered.
func (v *Verifier) await(ctx context.Context, p *pending) (answer Answer, err error) {
	_, end := span.Start(ctx, "wait for the record")
	defer func() { end(err) }()
	select {
	case <-p.done:
		return p.answer, p.err
	case <-ctx.Done():
		v.mu.Lock()
		p.abandoned = true
		v.mu.Unlock()
		return Answer{}, ErrTimeout.Because(ctx.Err())
	}
}

// Warm does the database work of a batch, without any request. After an outage
// it prepares the connection (plans, caches) before the first batch uses it.
func (v *Verifier) Warm(ctx context.Context, tx pg.Tx) error {
	if _, err := v.Lines.LookupAll(ctx, tx, nil, v.Now()); err != nil {
		return err
	}
	return v.Journal.Warm(ctx, tx)
}
