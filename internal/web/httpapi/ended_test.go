package httpapi_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// Ended is called once for every verify request, with its entity and its
// status, also if it was refused; and for no other request.
func TestEveryVerifyRequestIsReported(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 1})
	var mu sync.Mutex
	var ends []httpapi.End
	s.Ended = func(e httpapi.End) {
		mu.Lock()
		defer mu.Unlock()
		ends = append(ends, e)
	}
	s.do(t, asking(s.key, knownNumber))
	s.do(t, asking(s.key, "0803"))                                                    // malformed
	s.do(t, asking(s.key, swappedNumber))                                             // beyond the budget
	s.do(t, post(verifyPath+"-batch", s.key, `{"phoneNumbers":["`+knownNumber+`"]}`)) // not a single question
	s.do(t, asking("lp_live_nobody", knownNumber))                                    // nobody's
	s.do(t, get("/api/regulator/v1/api-keys", s.key))                                 // no question
	want := []struct {
		status int
		single bool
	}{{http.StatusOK, true}, {http.StatusBadRequest, true}, {http.StatusTooManyRequests, true}, {http.StatusOK, false}}
	if len(ends) != len(want) {
		t.Fatalf("told of %d ends, want %d: %+v", len(ends), len(want), ends)
	}
	for i, e := range ends {
		if e.Status != want[i].status || e.Single != want[i].single || e.Entity != s.bank.ID || e.Mode != "live" || e.Took <= 0 {
			t.Errorf("end %d is %+v, want %+v", i, e, want[i])
		}
	}
}
