package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clients sends verifications without a pause over many connections while faults
// are injected, and continues when the service is back. Every response is in its
// ledger.
type clients struct {
	world   *fixture
	address string
	tape    *compactLedger
	// again repeats a request after a 503 under the same correlator, for servers that
	// recognise repeated requests.
	retry bool

	stop     chan struct{}
	all      sync.WaitGroup
	answered atomic.Int64
	putOff   atomic.Int64 // with 503
	noAnswer atomic.Int64 // without a response
	slowest  atomic.Int64 // refusal with 503, in nanoseconds
	watch    atomic.Pointer[watch]

	mu         sync.Mutex
	recent     []string // the ids of answers since the last call of since
	unexpected []string // responses that no caller should ever get
}

// watch waits for the first answer to a request sent after a given time.
type watch struct {
	after time.Time
	found chan time.Time
}

// pauseBeforeRetry is how long a client waits after a 503 or a failed connection. It
// is much less than Retry-After says: these clients are not polite.
const pauseBeforeRetry = 20 * time.Millisecond

func newClients(w *fixture, address string, tp *compactLedger) *clients {
	return &clients{world: w, address: address, tape: tp, stop: make(chan struct{})}
}

// begin starts the given number of clients.
func (c *clients) begin(tb testing.TB, callers int) {
	tb.Helper()
	for range callers {
		tr := c.tape.track(tb)
		conn := &wire{address: c.address}
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		c.all.Go(func() {
			defer tr.close()
			defer conn.close()
			for c.running() {
				if mark := c.ask(conn, tr, rng); mark == markUnavailable || mark == markUnsent {
					c.wait()
				}
			}
		})
	}
}

// end stops the clients and returns when the last one has its response.
func (c *clients) end() {
	close(c.stop)
	c.all.Wait()
}

func (c *clients) running() bool {
	select {
	case <-c.stop:
		return false
	default:
		return true
	}
}

func (c *clients) wait() {
	select {
	case <-c.stop:
	case <-time.After(pauseBeforeRetry):
	}
}

// ask sends one request and records its outcome.
func (c *clients) ask(conn *wire, tr *workerLog, rng *rand.Rand) byte {
	number, text := pickNumber(rng)
	id := correlator(serial.Add(1))
	tr.sent(id, number, text)
	request := questionOf(c.world, id, text)
	mark := c.send(conn, tr, id, text, request)
	if c.retry && mark == markUnavailable {
		c.wait()
		mark = c.send(conn, tr, id, text, request)
	}
	return mark
}

// questionOf returns a request as it is sent.
func questionOf(w *fixture, id correlator, text string) []byte {
	return post(verifyPath, "application/json", []byte(`{"phoneNumber":"`+text+`"}`),
		"Authorization", "Bearer "+w.key.Text.Reveal(), "X-Correlator", id.String())
}

// send sends a request once.
func (c *clients) send(conn *wire, tr *workerLog, id correlator, text string, request []byte) byte {
	begin := time.Now()
	a, err := conn.send(request)
	var data answerFields
	mark, wrong := markOf(a, err, text, &data)
	tr.ended(mark, id, data)
	switch mark {
	case markAnswered:
		c.answeredAt(begin, data.RequestID)
	case markUnavailable:
		c.putOff.Add(1)
		took := int64(time.Since(begin))
		for old := c.slowest.Load(); took > old && !c.slowest.CompareAndSwap(old, took); old = c.slowest.Load() {
		}
	case markNoAnswer:
		c.noAnswer.Add(1)
	}
	if wrong != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.unexpected) < 10 {
			c.unexpected = append(c.unexpected, fmt.Sprintf("question %s: %s", id, wrong))
		}
	}
	return mark
}

// answeredAt counts an answer to a request sent at begin.
func (c *clients) answeredAt(begin time.Time, id string) {
	c.answered.Add(1)
	c.mu.Lock()
	c.recent = append(c.recent, id)
	c.mu.Unlock()
	if w := c.watch.Load(); w != nil && begin.After(w.after) && c.watch.CompareAndSwap(w, nil) {
		w.found <- time.Now()
	}
}

// next returns a channel with the time of the first answer to a request that is
// sent from now on.
func (c *clients) next() <-chan time.Time {
	w := &watch{time.Now(), make(chan time.Time, 1)}
	c.watch.Store(w)
	return w.found
}

// since returns the ids of the answers since it was last called.
func (c *clients) since() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := c.recent
	c.recent = nil
	return ids
}

// markOf returns the outcome of a request, and what is wrong with it. Allowed are
// an answer, a 4xx for a malformed request, a 503, and a broken connection.
func markOf(a answer, err error, text string, into *answerFields) (mark byte, wrong string) {
	end, problem := judge(a, err, into)
	bad := strings.HasSuffix(text, malformed)
	switch end {
	case okay:
		if bad {
			wrong = "a malformed number was answered"
		}
		return markAnswered, wrong
	case refused:
		if !bad || a.status != http.StatusBadRequest {
			wrong = fmt.Sprintf("%d %s", a.status, problem)
		}
		return markRefused, wrong
	case unsent:
		return markUnsent, ""
	case unknown:
	}
	switch {
	case err != nil:
		return markNoAnswer, ""
	case a.status != http.StatusServiceUnavailable:
		return markNoAnswer, fmt.Sprintf("%d %s", a.status, problem)
	case a.header.Get("Retry-After") == "":
		return markUnavailable, "503 without Retry-After"
	}
	return markUnavailable, ""
}
