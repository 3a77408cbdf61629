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

// crowd asks questions without a pause, from many connections at once, while
// the service is hurt. It goes on where it is when the service comes back. What
// it is told is on its tape.
type crowd struct {
	world   *world
	address string
	tape    *tape
	// again has a question that was put off sent once more under its correlator,
	// for servers that say they know it again.
	again bool

	stop     chan struct{}
	all      sync.WaitGroup
	answered atomic.Int64
	putOff   atomic.Int64 // with 503
	silent   atomic.Int64 // without an answer
	slowest  atomic.Int64 // refusal with 503, in nanoseconds
	watch    atomic.Pointer[watch]

	mu      sync.Mutex
	recent  []string // the ids of answers since somebody asked
	strange []string // answers that no caller should ever get
}

// watch waits for the first answer to a question that was sent after a moment.
type watch struct {
	after time.Time
	found chan time.Time
}

// rest is how long a caller waits who was put off or met nobody. It is much
// less than the service asks for: the crowd is not polite.
const rest = 20 * time.Millisecond

func newCrowd(w *world, address string, tp *tape) *crowd {
	return &crowd{world: w, address: address, tape: tp, stop: make(chan struct{})}
}

// begin lets so many callers begin.
func (c *crowd) begin(tb testing.TB, callers int) {
	tb.Helper()
	for range callers {
		tr := c.tape.track(tb)
		conn := &wire{address: c.address}
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		c.all.Go(func() {
			defer tr.close()
			defer conn.close()
			for c.goesOn() {
				if mark := c.ask(conn, tr, rng); mark == markLater || mark == markUnsent {
					c.wait()
				}
			}
		})
	}
}

// end returns when the last caller has its answer.
func (c *crowd) end() {
	close(c.stop)
	c.all.Wait()
}

func (c *crowd) goesOn() bool {
	select {
	case <-c.stop:
		return false
	default:
		return true
	}
}

func (c *crowd) wait() {
	select {
	case <-c.stop:
	case <-time.After(rest):
	}
}

// ask sends one question and writes down how it ended.
func (c *crowd) ask(conn *wire, tr *track, rng *rand.Rand) byte {
	number, text := pickNumber(rng)
	id := correlator(serial.Add(1))
	tr.sent(id, number, text)
	request := questionOf(c.world, id, text)
	mark := c.send(conn, tr, id, text, request)
	if c.again && mark == markLater {
		c.wait()
		mark = c.send(conn, tr, id, text, request)
	}
	return mark
}

// questionOf returns a question as it goes over the wire.
func questionOf(w *world, id correlator, text string) []byte {
	return post(verifyPath, "application/json", []byte(`{"phoneNumber":"`+text+`"}`),
		"Authorization", "Bearer "+w.key.Text.Reveal(), "X-Correlator", id.String())
}

// send sends a question once.
func (c *crowd) send(conn *wire, tr *track, id correlator, text string, request []byte) byte {
	begin := time.Now()
	a, err := conn.send(request)
	var data told
	mark, wrong := markOf(a, err, text, &data)
	tr.ended(mark, id, data)
	switch mark {
	case markAnswered:
		c.heard(begin, data.RequestID)
	case markLater:
		c.putOff.Add(1)
		took := int64(time.Since(begin))
		for old := c.slowest.Load(); took > old && !c.slowest.CompareAndSwap(old, took); old = c.slowest.Load() {
		}
	case markSilent:
		c.silent.Add(1)
	}
	if wrong != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.strange) < 10 {
			c.strange = append(c.strange, fmt.Sprintf("question %s: %s", id, wrong))
		}
	}
	return mark
}

// heard counts an answer to a question that was sent at begin.
func (c *crowd) heard(begin time.Time, id string) {
	c.answered.Add(1)
	c.mu.Lock()
	c.recent = append(c.recent, id)
	c.mu.Unlock()
	if w := c.watch.Load(); w != nil && begin.After(w.after) && c.watch.CompareAndSwap(w, nil) {
		w.found <- time.Now()
	}
}

// next returns where the time of the first answer to a question appears that
// is sent from now on.
func (c *crowd) next() <-chan time.Time {
	w := &watch{time.Now(), make(chan time.Time, 1)}
	c.watch.Store(w)
	return w.found
}

// since returns the ids of the answers since it was last called.
func (c *crowd) since() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := c.recent
	c.recent = nil
	return ids
}

// markOf says how a question ended, and what is wrong with that. A caller may
// get an answer, a definite no if the question is malformed, or be put off; a
// connection may break.
func markOf(a answer, err error, text string, into *told) (mark byte, wrong string) {
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
		return markSilent, ""
	case a.status != http.StatusServiceUnavailable:
		return markSilent, fmt.Sprintf("%d %s", a.status, problem)
	case a.header.Get("Retry-After") == "":
		return markLater, "503 without Retry-After"
	}
	return markLater, ""
}
