package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// Test numbers have dates, too, in the form that the policy has for the purpose of the
// test key: of a line that was swapped, of one that was ported, and of an old supply.
func TestTestNumbersHaveDates(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	keyFor := func(purpose string) string {
		t.Helper()
		return must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "k", Mode: "test", Purpose: purpose}, access.Operator, uuid.Nil))(t).Text.Reveal()
	}
	payment, collection := keyFor("payment"), keyFor("collection")
	for _, tc := range []struct {
		key, number, status string
		want                [3]string // the precision of tenureStart, lastSimChange and lastPort
	}{
		{payment, testNumber, "NORMAL", [3]string{"month", "month", "never"}},
		{collection, testNumber, "NORMAL", [3]string{"withheld", "withheld", "withheld"}},
		{payment, "+2347290000022", "SWAPPED", [3]string{"month", "month", "never"}},
		{payment, "+2347290000023", "PORTED", [3]string{"month", "month", "month"}},
		{payment, "+2347290000031", "UNKNOWN", [3]string{"unknown", "unknown", "unknown"}},
		{payment, "+2347290000032", "SWAPPED", [3]string{"unknown", "unknown", "unknown"}}, // its supply is old
	} {
		res := s.do(t, post(verifyPath, tc.key, `{"phoneNumber":"`+tc.number+`","include":["dates"]}`))
		var answer struct {
			Data struct {
				Status string
				Dates  map[string]struct{ Precision string }
			}
		}
		if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || res.Code != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", tc.number, res.Code, res.Body, err)
		}
		got := answer.Data.Dates
		if have := [3]string{got["tenureStart"].Precision, got["lastSimChange"].Precision, got["lastPort"].Precision}; have != tc.want || answer.Data.Status != tc.status {
			t.Errorf("%s is %s with %v, want %s with %v", tc.number, answer.Data.Status, have, tc.status, tc.want)
		}
	}
}
