package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// runGenerator runs the generator in this process and returns its tally.
func runGenerator(t *testing.T, j job) tally {
	t.Helper()
	input, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := generate(t.Context(), input, &out); err != nil {
		t.Fatal(err)
	}
	var events []string
	for d := json.NewDecoder(&out); ; {
		var m message
		if err := d.Decode(&m); err != nil {
			t.Fatalf("after %v: %v", events, err)
		}
		if events = append(events, m.Event); m.Event == eventTally {
			if len(events) != 3 || events[0] != eventBegin || events[1] != eventEnd {
				t.Errorf("the events are %v", events)
			}
			return *m.Tally
		}
	}
}

// server starts an HTTP server with the handler answer and returns its address.
func server(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// With a constant rate, requests that wait behind a slow response count as slow: a
// server that stalls for a third of the time has a p90 that shows it, although only
// as many requests as there are connections were in flight.
func TestConstantRateDoesNotHideStalls(t *testing.T) {
	t.Parallel()

	const stall = 500 * time.Millisecond
	var stalled sync.RWMutex
	var once sync.Once
	begin := time.Now()
	address := server(t, func(http.ResponseWriter, *http.Request) {
		if time.Since(begin) > 600*time.Millisecond {
			once.Do(func() {
				stalled.Lock()
				time.AfterFunc(stall, stalled.Unlock)
			})
		}
		stalled.RLock()
		defer stalled.RUnlock()
	})
	got := runGenerator(t, job{Address: address, Key: "k", First: firstNumber, Lines: 10, Callers: 4, Warm: 100 * time.Millisecond, Window: 1500 * time.Millisecond, Rate: 400})
	if got.Due < 590 || got.Due > 610 || got.Answered != got.Due {
		t.Errorf("%d of %d were answered; 600 should be due", got.Answered, got.Due)
	}
	if got.Latencies.P90 < stall/5 || got.Latencies.Longest < stall*9/10 {
		t.Errorf("a stall of %v is hidden: %+v", stall, got.Latencies)
	}
}

// Every response other than 200 is counted separately, and not as an answer.
func TestResponsesAreCountedByKind(t *testing.T) {
	t.Parallel()

	var n atomic.Int64
	address := server(t, func(w http.ResponseWriter, _ *http.Request) {
		switch n.Add(1) % 4 {
		case 0:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.WriteHeader(http.StatusTeapot)
		}
	})
	got := runGenerator(t, job{Address: address, Key: "k", First: firstNumber, Lines: 10, Callers: 3, Warm: 20 * time.Millisecond, Window: 300 * time.Millisecond})
	all := got.Answered + got.Refused + got.Failed
	around := func(part, of uint64) bool { return part*10 >= of*9 && part*10 <= of*11 || all < 100 }
	if got.Answered == 0 || !around(got.Answered*4, all) || !around(got.Refused*2, all) || !around(got.NoRetryAfter*2, got.Refused) || !around(got.Failed*4, all) {
		t.Errorf("of four equally frequent kinds: %+v", got)
	}
	if got.Example != "status 418" || got.Total < got.Answered || got.CPU <= 0 || got.Window < 300*time.Millisecond {
		t.Errorf("got %+v", got)
	}
}

// A connection that the server resets is counted and reopened; the run continues.
func TestBrokenConnectionsAreCounted(t *testing.T) {
	t.Parallel()

	var n atomic.Int64
	address := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%5 == 0 {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // it is one
				_ = conn.Close()
			}
		}
	})
	got := runGenerator(t, job{Address: address, Key: "k", First: firstNumber, Lines: 10, Callers: 2, Warm: 10 * time.Millisecond, Window: 400 * time.Millisecond})
	if got.Failed == 0 || got.Answered < 2*got.Failed {
		t.Errorf("got %+v", got)
	}
}
