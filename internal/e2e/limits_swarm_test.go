package e2e_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// swarmSize is how many keys an entity has, and from how many addresses they are
// used.
const swarmSize = 200

// swarm is one entity that asks with many keys, from as many addresses, on
// several nodes, faster than it may.
type swarm struct {
	nodes []string
	keys  []access.NewKey
	every time.Duration // between two questions of one of them
}

// heard is an answer: it was decided about somewhere between the two moments.
type heard struct {
	sent, at time.Time
	status   int // 0 if there was none
}

// newSwarm makes an entity that asks rate times a second in all.
func newSwarm(t *testing.T, w *world, rate int, nodes ...*process) *swarm {
	t.Helper()
	c := &swarm{every: swarmSize * time.Second / time.Duration(rate)}
	for _, p := range nodes {
		c.nodes = append(c.nodes, p.public)
	}
	bank := must(w.registry.CreateAsker(t.Context(), "Swarm", "RC 200", access.Operator, uuid.Nil))(t)
	for i := range swarmSize {
		form := access.KeyForm{Entity: bank.ID, Name: "key " + strconv.Itoa(i), Mode: "live", Purpose: "kyc"}
		c.keys = append(c.keys, must(w.keeper.CreateKey(t.Context(), form, access.Operator, uuid.Nil))(t))
	}
	return c
}

// dialFrom connects from an address of this machine.
func dialFrom(from, to string) (wire, error) {
	d := net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.Dial("tcp", to)
	if err != nil {
		return wire{}, fmt.Errorf("e2e: connect from %s: %w", from, err)
	}
	return wire{address: to, conn: conn, in: bufio.NewReader(conn)}, nil
}

// run lets all ask until stop is closed, and returns what they heard in the
// order of time.
func (c *swarm) run(t *testing.T, stop <-chan struct{}) []heard {
	t.Helper()
	var found [swarmSize][]heard
	var all sync.WaitGroup
	for i, key := range c.keys {
		from, to := fmt.Sprintf("127.0.%d.%d", 1+i/100, 1+i%100), c.nodes[i%len(c.nodes)]
		conn, err := dialFrom(from, to)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer conn.close()
			next := time.After(rand.N(c.every))
			for {
				select {
				case <-stop:
					return
				case <-next:
				}
				next = time.After(c.every)
				if conn.conn == nil {
					if conn, err = dialFrom(from, to); err != nil {
						found[i] = append(found[i], heard{time.Now(), time.Now(), 0})
						continue
					}
				}
				number := strconv.FormatInt(firstLine+rand.Int64N(knownLines), 10)
				sent := time.Now()
				a, err := conn.send(post(verifyPath, "application/json", []byte(`{"phoneNumber":"+`+number+`"}`), "Authorization", "Bearer "+key.Text.Reveal()))
				if err != nil || a.status == http.StatusTooManyRequests && (a.header.Get("Retry-After") == "" || a.header.Get("RateLimit") == "") {
					a.status = 0
				}
				found[i] = append(found[i], heard{sent, time.Now(), a.status})
			}
		})
	}
	all.Wait()
	whole := slices.Concat(found[:]...)
	slices.SortFunc(whole, func(a, b heard) int { return a.sent.Compare(b.sent) })
	return whole
}

// byStatus counts the answers.
func byStatus(all []heard) map[int]int {
	n := make(map[int]int)
	for _, h := range all {
		n[h.status]++
	}
	return n
}

// passed returns those that were let through.
func passed(all []heard) []heard {
	return slices.DeleteFunc(slices.Clone(all), func(h heard) bool { return h.status != http.StatusOK })
}

// onlyLimited fails the test for every answer but 200 and a 429 that says when to
// come back and what is left.
func onlyLimited(t *testing.T, all []heard) {
	t.Helper()
	for status, n := range byStatus(all) {
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Errorf("%d times %d, where 0 is no answer or a 429 without its headers", n, status)
		}
	}
}

// busiest returns the most that were surely let through within a window, and
// when that began: those that were sent and answered inside it.
func busiest(all []heard, window time.Duration) (most int, begin time.Time) {
	let := passed(all)
	for i, first := range let {
		n := 0
		for _, h := range let[i:] {
			if h.sent.Sub(first.sent) > window {
				break
			}
			if h.at.Sub(first.sent) <= window {
				n++
			}
		}
		if n > most {
			most, begin = n, first.sent
		}
	}
	return most, begin
}
