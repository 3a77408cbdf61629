package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// serial makes every request of this process unique.
var serial atomic.Uint64

// caller sends requests to one server, one after the other, and writes its part
// of the ledger.
type caller struct {
	world *fixture
	wire  wire
	page  *page
	rng   *rand.Rand
}

func newCaller(tb testing.TB, w *fixture, address string, l *ledger) *caller {
	tb.Helper()
	return &caller{world: w, wire: wire{address: address}, page: l.page(tb), rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
}

func (c *caller) close() {
	c.wire.close()
	c.page.close()
}

// verify sends one request and records its outcome. The correlator is the
// name of the request: the journal keeps it, so that a record can be traced to
// the request even if no answer came.
func (c *caller) verify() mark {
	number, text := pickNumber(c.rng)
	m := mark{ID: correlator(serial.Add(1)).String(), Asked: &question{text}, Phone: number}
	c.page.write(m)
	a, err := c.wire.send(post(verifyPath, "application/json", encode(m.Asked),
		"Authorization", "Bearer "+c.world.key.Text.Reveal(), "X-Correlator", m.ID))
	var data answerFields
	end := mark{ID: m.ID, Status: a.status, RequestID: a.header.Get("X-Request-Id")}
	if end.Outcome, end.Problem = judge(a, err, &data); end.Outcome == okay {
		end.Told = &data
	}
	c.page.write(end)
	return end
}

// pickNumber returns a number to ask about and how it is written. One in twenty is
// written so that the request must be refused.
func pickNumber(rng *rand.Rand) (number int64, text string) {
	number = int64(firstLine) + rng.Int64N(2*knownLines)
	if rng.IntN(50) == 0 {
		number = 234_903_000_0000 + rng.Int64N(1e7) // far from every line
	}
	text = spell(rng, number)
	if rng.IntN(20) == 0 {
		text += malformed
	}
	return number, text
}

// malformed makes a number invalid.
const malformed = "?"

// newApplication returns an application that conflicts with no other.
func (c *caller) newApplication() mark {
	n := serial.Add(1)
	phone := 234_703_000_0000 + int64(n)
	return mark{ID: fmt.Sprintf("a%d", n), Phone: phone, Applied: &application{
		CAC: fmt.Sprintf("RC %d", 1000+n), Name: fmt.Sprintf("Telco %d", n), IsDocumentRequired: c.rng.IntN(2) == 0,
		AdminName: "Bisi", AdminPhone: spell(c.rng, phone), AdminEmail: mixCase(c.rng, fmt.Sprintf("admin.%d@telco.example", n)),
		AdminPassword: fmt.Sprintf("dry-season-%d", n),
	}}
}

// apply sends an application, under its name as Idempotency-Key, and records
// the outcome.
func (c *caller) apply(m mark) mark {
	c.page.write(m)
	a, err := c.wire.send(post(onboardPath, "application/json", encode(m.Applied),
		"Authorization", "Bearer "+c.world.token, "Idempotency-Key", m.ID))
	var data made
	end := mark{ID: m.ID, Status: a.status, RequestID: a.header.Get("X-Request-Id")}
	if end.Outcome, end.Problem = judge(a, err, &data); end.Outcome == okay {
		end.Made = &data
	}
	c.page.write(end)
	return end
}

// rush puts load on the server until stop is closed or the server has ended, and
// returns a function that waits for that. One worker in four onboards.
func rush(tb testing.TB, w *fixture, address string, l *ledger, workers int, stop <-chan struct{}) (wait func()) {
	tb.Helper()
	var all sync.WaitGroup
	for i := range workers {
		c := newCaller(tb, w, address, l)
		all.Go(func() {
			defer c.close()
			for {
				select {
				case <-stop:
					return
				default:
				}
				var end mark
				if i%4 == 0 {
					end = c.apply(c.newApplication())
				} else {
					end = c.verify()
				}
				if end.Outcome == unsent && c.wire.conn == nil && !reachable(address) {
					return
				}
			}
		})
	}
	return all.Wait
}

// reachable reports whether a server listens at address.
func reachable(address string) bool {
	w := wire{address: address}
	err := w.write(nil)
	w.close()
	return err == nil
}

// mixCase writes an e-mail address in a mixture of cases.
func mixCase(rng *rand.Rand, email string) string {
	return strings.Map(func(r rune) rune {
		if rng.IntN(4) == 0 {
			return []rune(strings.ToUpper(string(r)))[0]
		}
		return r
	}, email)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of strings
	}
	return b
}
