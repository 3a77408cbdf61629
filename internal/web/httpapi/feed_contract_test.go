package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/access"
)

// What a bank hears while it moves its test clock is what the contract says of each type of event.
func TestEventsOfATestClockFitTheContract(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.bankKey(t, access.Test)
	id := s.list(t, key)
	if res := s.do(t, put(listsPath+"/"+id+"/members", key, "text/csv", []byte(testLife+"\n"))); res.Code != http.StatusOK {
		t.Fatalf("the list is not replaced: %s", res.Body)
	}
	if res := s.do(t, post(clockPath, key, `{"reset":true}`)); res.Code != http.StatusOK {
		t.Fatalf("the clock is not reset: %s", res.Body)
	}
	if res := s.do(t, post(clockPath, key, `{"advance":"P400D"}`)); res.Code != http.StatusOK {
		t.Fatalf("the clock is not moved: %s", res.Body)
	}
	r := get(feedPath, key)
	res := s.do(t, r)
	loadContract(t).check(t, r, res)
	for _, family := range []string{"line.v1.swapped", "line.v1.quarantined", "list.v1.applied"} {
		if !strings.Contains(res.Body.String(), `"org.lineproof.`+family+`"`) {
			t.Errorf("the feed has no %s: %s", family, res.Body)
		}
	}
}
