// Package together sends the same request many times at once, and compares how often
// it succeeded with how often it took effect.
package together

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
)

// Times says how often a request takes effect when it arrives many times at once.
type Times int

// The kinds of request that change something.
const (
	Once  Times = iota // one succeeds, and the others are told why not
	Each               // every success is an effect of its own
	Ended              // what has ended stays ended: any number may succeed, and one takes effect
)

// copies is how often a request is sent at the same moment.
const copies = 32

// Rounds returns how often each request is sent: LINEPROOF_E2E_ROUNDS, or usual.
func Rounds(tb testing.TB, usual int) int {
	tb.Helper()
	text := os.Getenv("LINEPROOF_E2E_ROUNDS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatalf("LINEPROOF_E2E_ROUNDS: %v", err)
	}
	return n
}

// Send sends copies of a request at the same moment.
func Send(tb testing.TB, to http.Handler, r *http.Request) []*httptest.ResponseRecorder {
	tb.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		tb.Fatal(err)
	}
	answers, gate := make([]*httptest.ResponseRecorder, copies), make(chan struct{})
	var all sync.WaitGroup
	for i := range answers {
		answers[i] = httptest.NewRecorder()
		one := r.Clone(tb.Context())
		one.Body = io.NopCloser(bytes.NewReader(body))
		all.Go(func() {
			<-gate
			to.ServeHTTP(answers[i], one)
		})
	}
	close(gate)
	all.Wait()
	return answers
}

// Judge compares the answers that were a success with the effects that were counted.
// No answer may be an error of the server.
func Judge(tb testing.TB, what string, want Times, answers []*httptest.ResponseRecorder, success func(*httptest.ResponseRecorder) bool, effects int) {
	tb.Helper()
	succeeded, failed, statuses := 0, false, map[int]int{}
	for _, res := range answers {
		statuses[res.Code]++
		failed = failed || res.Code >= http.StatusInternalServerError
		if success(res) {
			succeeded++
		}
	}
	right := map[Times]bool{Once: succeeded == 1 && effects == 1, Each: succeeded > 0 && effects == succeeded, Ended: succeeded > 0 && effects <= 1}
	if failed || !right[want] {
		tb.Errorf("%s succeeded %d times and took effect %d times; the statuses are %v", what, succeeded, effects, statuses)
	}
}
