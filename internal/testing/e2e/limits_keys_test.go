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

// keyCount is how many keys an entity has, and from how many addresses they are
// used.
const keyCount = 200

// manyKeys is one entity that sends requests with many keys, from as many addresses,
// on several nodes, faster than its limit.
type manyKeys struct {
	nodes []string
	keys  []access.NewKey
	every time.Duration // between two requests of one of them
}

// limitAnswer is a response: the limit was decided at some time between the two.
type limitAnswer struct {
	sent, at time.Time
	status   int // 0 if there was none
}

// newManyKeys creates an entity that sends rate requests per second in total.
func newManyKeys(t *testing.T, w *fixture, rate int, nodes ...*instance) *manyKeys {
	t.Helper()
	c := &manyKeys{every: keyCount * time.Second / time.Duration(rate)}
	for _, p := range nodes {
		c.nodes = append(c.nodes, p.public)
	}
	bank := must(w.registry.CreateRelyingParty(t.Context(), "Swarm", "RC 200", access.Operator, uuid.Nil))(t)
	for i := range keyCount {
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

// run sends requests until stop is closed, and returns the responses in the order of
// time.
func (c *manyKeys) run(t *testing.T, stop <-chan struct{}) []limitAnswer {
	t.Helper()
	var found [keyCount][]limitAnswer
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
						found[i] = append(found[i], limitAnswer{time.Now(), time.Now(), 0})
						continue
					}
				}
				number := strconv.FormatInt(firstLine+rand.Int64N(knownLines), 10)
				sent := time.Now()
				a, err := conn.send(post(verifyPath, "application/json", []byte(`{"phoneNumber":"+`+number+`"}`), "Authorization", "Bearer "+key.Text.Reveal()))
				if err != nil || a.status == http.StatusTooManyRequests && (a.header.Get("Retry-After") == "" || a.header.Get("RateLimit") == "") {
					a.status = 0
				}
				found[i] = append(found[i], limitAnswer{sent, time.Now(), a.status})
			}
		})
	}
	all.Wait()
	whole := slices.Concat(found[:]...)
	slices.SortFunc(whole, func(a, b limitAnswer) int { return a.sent.Compare(b.sent) })
	return whole
}

// byStatus counts the answers.
func byStatus(all []limitAnswer) map[int]int {
	n := make(map[int]int)
	for _, h := range all {
		n[h.status]++
	}
	return n
}

// passed returns those that were accepted.
func passed(all []limitAnswer) []limitAnswer {
	return slices.DeleteFunc(slices.Clone(all), func(h limitAnswer) bool { return h.status != http.StatusOK })
}

// onlyLimited fails the test for every response but 200 and a 429 with Retry-After
// and the remaining quota.
func onlyLimited(t *testing.T, all []limitAnswer) {
	t.Helper()
	for status, n := range byStatus(all) {
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Errorf("%d times %d, where 0 is no answer or a 429 without its headers", n, status)
		}
	}
}

// busiest returns the maximum number that were certainly accepted within a window,
// and the start of it: those that were sent and answered inside it.
func busiest(all []limitAnswer, window time.Duration) (most int, begin time.Time) {
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
