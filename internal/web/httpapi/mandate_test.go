package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/journal"
)

// mandate records that the bank may ask on behalf of a principal.
func (s *stack) mandate(t testing.TB, principal string, purposes ...string) uuid.UUID {
	t.Helper()
	f := access.MandateForm{Entity: s.bank.ID, Principal: principal, Purposes: purposes, Until: time.Now().Add(time.Hour), Document: "letter 7"}
	return must(s.Access.AddMandate(t.Context(), f, access.Operator, uuid.Nil))(t)
}

// The record says for which purpose the key asks, on whose behalf, and with which id of
// the caller; in a batch of each number. The answer repeats the id, also when it is
// read again.
func TestRecordHasPurposePrincipalAndExternalID(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.mandate(t, "Harbour Bank", "payment")
	payment := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "k", Mode: "live", Purpose: "payment"}, access.Operator, uuid.Nil))(t).Text.Reveal()
	want := func(data map[string]any, key, purpose, text, principal, external string) {
		t.Helper()
		id, _ := data["requestId"].(string)
		r := must(journal.Get(t.Context(), s.pool, uuid.MustParse(id)))(t)
		if r.Purpose != purpose || r.PurposeText != text || r.OnBehalfOf != principal || r.ExternalID != external {
			t.Errorf("recorded are %q %q %q %q, want %q %q %q %q", r.Purpose, r.PurposeText, r.OnBehalfOf, r.ExternalID, purpose, text, principal, external)
		}
		again := s.do(t, get(verifiedPath+id, key))
		var shown struct{ Data map[string]any }
		if err := json.Unmarshal(again.Body.Bytes(), &shown); err != nil {
			t.Fatal(err)
		}
		for _, answer := range []map[string]any{data, shown.Data} {
			if got, _ := answer["externalId"].(string); got != external {
				t.Errorf("the answer has the externalId %q, want %q", got, external)
			}
		}
	}
	one := func(key, body string) map[string]any {
		t.Helper()
		res := s.do(t, post(verifyPath, key, body))
		var answer struct{ Data map[string]any }
		if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || res.Code != http.StatusOK {
			t.Fatalf("%d %s, %v", res.Code, res.Body, err)
		}
		return answer.Data
	}
	want(one(s.key, `{"phoneNumber":"`+knownNumber+`"}`), s.key, "other", "fraud", "", "")
	want(one(payment, `{"phoneNumber":"`+knownNumber+`","onBehalfOf":" Harbour Bank ","externalId":"7 a"}`), payment, "payment", "", "Harbour Bank", "7 a")

	res := s.do(t, post(batchPath, payment, `{"onBehalfOf":"Harbour Bank","phoneNumbers":[{"phoneNumber":"`+knownNumber+`","externalId":"first"},"`+swappedNumber+`"]}`))
	var batch struct {
		Data struct{ Results []map[string]any }
	}
	if err := json.Unmarshal(res.Body.Bytes(), &batch); err != nil || len(batch.Data.Results) != 2 {
		t.Fatalf("%d %s, %v", res.Code, res.Body, err)
	}
	want(batch.Data.Results[0], payment, "payment", "", "Harbour Bank", "first")
	want(batch.Data.Results[1], payment, "payment", "", "Harbour Bank", "")
}

// Without a valid mandate for the purpose of its key an agent gets no answer, and
// nothing is recorded. Test keys have the same rules.
func TestNoAnswerOnBehalfOfAnotherWithoutAMandate(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	ended := s.mandate(t, "Ended Bank")
	if err := s.Access.EndMandate(t.Context(), ended, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	s.mandate(t, "Credit Bank", "credit")
	other := must(s.Registry.CreateRelyingParty(t.Context(), "Another Bank", "RC 8", access.Operator, uuid.Nil))(t)
	of := access.MandateForm{Entity: other.ID, Principal: "Client of Another Bank", Until: time.Now().Add(time.Hour), Document: "letter 8"}
	must(s.Access.AddMandate(t.Context(), of, access.Operator, uuid.Nil))(t)
	test := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "k", Mode: "test", Purpose: "credit"}, access.Operator, uuid.Nil))(t).Text.Reveal()
	for _, principal := range []string{"Nobody", "Ended Bank", "Credit Bank", "credit bank", "Client of Another Bank"} {
		body := `"onBehalfOf":"` + principal + `"}`
		one := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`",`+body))
		many := s.do(t, post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`"],`+body))
		if one.Code != http.StatusForbidden || many.Code != http.StatusForbidden {
			t.Errorf("%s: %d and %d", principal, one.Code, many.Code)
		}
	}
	var records int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_entry`).Scan(&records); err != nil || records != 0 {
		t.Errorf("%d records, %v", records, err)
	}
	for principal, status := range map[string]int{"Credit Bank": http.StatusOK, "Nobody": http.StatusForbidden} {
		if res := s.do(t, post(verifyPath, test, `{"phoneNumber":"`+testNumber+`","onBehalfOf":"`+principal+`"}`)); res.Code != status {
			t.Errorf("a test key for %s: %d %s", principal, res.Code, res.Body)
		}
	}
}
