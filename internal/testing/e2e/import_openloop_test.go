package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

const (
	// openConns is how many connections carry the requests. More are seldom
	// under way at a time, and what waits for one of them waits on the clock.
	openConns = 256
	mostPhase = 2 * time.Hour
	// maxFailed bounds the requests without an answer: one in so many.
	maxFailed = 100
)

var errBehind = errors.New("e2e: the answers are a minute behind the rate")

// openLoop sends requests at a steady rate, whether or not earlier requests have
// been answered, as independent callers do. Latency counts from when a request was
// due, not from when it could be sent: waiting behind a slow response counts too.
type openLoop struct {
	world   *fixture
	address string
	rate    int    // a second
	asked   int64  // lines, beside those of every fixture
	include string // fields of the body, after the number
	conns   [openConns]wire
}

// openLoopRequest is one request: when it was due, how long its answer took from then,
// and what was wrong with it.
type openLoopRequest struct {
	due    time.Time
	took   time.Duration
	failed string // why there was no answer
	wrong  string
}

// phase is a period in which requests are sent.
type phase struct {
	name    string
	askings []openLoopRequest
	marks   []landmark
}

// landmark is an event within a phase.
type landmark struct {
	name string
	at   time.Time
}

func (p *phase) mark(name string) { p.marks = append(p.marks, landmark{name, time.Now()}) }

// run asks for as long as what is done in the meantime takes. A phase may be run more
// than once.
func (l *openLoop) run(t *testing.T, p *phase, meanwhile func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mostPhase)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- meanwhile(ctx) }()
	due := make(chan time.Time, 60*l.rate)
	var found [openConns][]openLoopRequest
	var all sync.WaitGroup
	for i := range found {
		l.conns[i].address = l.address
		all.Go(func() {
			for at := range due {
				a := l.ask(&l.conns[i])
				a.due, a.took = at, time.Since(at)
				found[i] = append(found[i], a)
			}
		})
	}
	err := l.pace(due, done)
	close(due)
	all.Wait()
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	for _, f := range found {
		p.askings = append(p.askings, f...)
	}
	p.judge(t)
}

// pace makes requests due until done, and returns how that ended.
func (l *openLoop) pace(due chan<- time.Time, done <-chan error) error {
	begin := time.Now()
	for n := 0; ; n++ {
		next := begin.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
		select {
		case err := <-done:
			return err
		case <-time.After(time.Until(next)):
		}
		select {
		case due <- next:
		default:
			return errBehind
		}
	}
}

// ask sends one request and checks the response.
func (l *openLoop) ask(conn *wire) (a openLoopRequest) {
	number, status, network := int64(firstAsked), string(line.Normal), "Indigo"
	if l.asked > 0 {
		number += rand.Int64N(l.asked)
	}
	if l.asked == 0 || rand.IntN(10) == 0 {
		number = firstLine + rand.Int64N(knownLines)
		status, network, _ = l.world.expected(number)
	}
	body := []byte(`{"phoneNumber":"+` + strconv.FormatInt(number, 10) + `"` + l.include + `}`)
	got, err := conn.send(post(verifyPath, "application/json", body, "Authorization", "Bearer "+l.world.key.Text.Reveal()))
	switch {
	case err != nil:
		a.failed = err.Error()
		return a
	case got.status == http.StatusServiceUnavailable:
		a.failed = string(got.body)
		return a
	case got.status != http.StatusOK:
		a.wrong = fmt.Sprintf("status %d", got.status)
		return a
	}
	var answer struct {
		Data answerFields `json:"data"`
	}
	if err := json.Unmarshal(got.body, &answer); err != nil || answer.Data.Status != status || answer.Data.MobileNetwork != network {
		a.wrong = fmt.Sprintf("%s with %s, where %s with %s is right (%v)", answer.Data.Status, answer.Data.MobileNetwork, status, network, err)
	}
	return a
}

// judge fails the test for wrong answers, and if too many requests have none.
func (p *phase) judge(t *testing.T) {
	t.Helper()
	wrong := 0
	for _, a := range p.askings {
		if a.wrong == "" {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%s: an answer is wrong: %s", p.name, a.wrong)
		}
	}
	if wrong > 5 {
		t.Errorf("%s: %d answers are wrong", p.name, wrong)
	}
	if failed, why := p.failed(); failed*maxFailed > len(p.askings) {
		t.Errorf("%s: %d of %d questions had no answer, such as: %s", p.name, failed, len(p.askings), why)
	}
}

func (p *phase) failed() (n int, why string) {
	for _, a := range p.askings {
		if a.failed != "" {
			n, why = n+1, a.failed
		}
	}
	return n, why
}

// quantile returns the time within which that share of the requests was
// answered. A request without an answer took as long as it took.
func (p *phase) quantile(q float64) time.Duration {
	if len(p.askings) == 0 {
		return 0
	}
	took := make([]time.Duration, len(p.askings))
	for i, a := range p.askings {
		took[i] = a.took
	}
	slices.Sort(took)
	return took[min(int(q*float64(len(took))), len(took)-1)]
}

// report says how long answers took.
func (p *phase) report(t *testing.T) {
	t.Helper()
	failed, _ := p.failed()
	show := func(q float64) time.Duration { return p.quantile(q).Round(10 * time.Microsecond) }
	t.Logf("%-36s %7d questions, %d without an answer: p50 %s, p99 %s, p99.9 %s, longest %s", p.name, len(p.askings), failed,
		show(0.5), show(0.99), show(0.999), show(1))
}

// parts returns the phase in pieces, as its landmarks divide it.
func (p *phase) parts() []phase {
	var pieces []phase
	for i, m := range p.marks {
		end := time.Now()
		if i+1 < len(p.marks) {
			end = p.marks[i+1].at
		}
		piece := phase{name: "  " + m.name}
		for _, a := range p.askings {
			if !a.due.Before(m.at) && a.due.Before(end) {
				piece.askings = append(piece.askings, a)
			}
		}
		if len(piece.askings) > 0 {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}
