package httpapi_test

import (
	"crypto/sha256"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/receipt"
)

// importReceiptAnswers are the responses with the receipt of a file.
func importReceiptAnswers(own, other, deaf func(t *testing.T, s *stack, mtn string) string) map[string]answer {
	read := func(who func(t *testing.T, s *stack, mtn string) string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			s.withLog(t)
			return get(importsPath+"/"+s.receiptedImport(t)+"/receipt", who(t, s, s.operator(t)))
		})
	}
	// open is about an import, applied or not, that the log does not have.
	open := func(applied, log bool, query string) asker {
		return inLines(func(t *testing.T, s *stack) *http.Request {
			mtn := s.operator(t)
			id := s.sent(t, sendFile("?kind=events", mtn, spottyFile))
			if applied {
				s.work(t, id)
			}
			if log {
				s.withLog(t)
			}
			return get(importsPath+"/"+id+"/receipt"+query, mtn)
		})
	}
	return lost("imports_receipt", read(own), map[string]answer{
		"imports_receipt_ok": {200, read(own)},
		"imports_receipt_ok_tlog_proof": {200, func(t *testing.T, s *stack) *http.Request {
			r := read(own)(t, s)
			r.Header.Set("Accept", "text/plain")
			return r
		}},
		"imports_receipt_bad_query":  {400, open(true, true, "?pq=2")},
		"imports_receipt_no_scope":   {403, read(deaf)},
		"imports_receipt_of_another": {404, read(other)},
		"imports_receipt_no_log":     {404, open(true, false, "")},
		"imports_receipt_no_id": {404, inLines(func(t *testing.T, s *stack) *http.Request {
			return get(importsPath+"/7/receipt", s.operator(t))
		})},
		"imports_receipt_not_applied": {409, open(false, true, "")},
		"imports_receipt_pending":     {503, open(true, true, "")},
	})
}

// receiptedImport returns the id of a file of MTN that was applied and is in the public log.
func (s *stack) receiptedImport(t *testing.T) string {
	t.Helper()
	super(t, s, `UPDATE supply_import SET state = 'cancelled' WHERE state IN ('checking', 'held', 'applying')`)
	_, publish := s.withLog(t)
	id := s.sent(t, sendFile("?kind=events", s.operator(t), spottyFile))
	s.work(t, id)
	publish()
	return id
}

// The receipt of a file proves who supplied it, its hash, and how many of its rows were
// refused; as text it proves the same.
func TestReceiptOfAFileVerifies(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	id := s.receiptedImport(t)
	policy := must(receipt.NewPolicy(s.logKey))(t)
	path := importsPath + "/" + id + "/receipt"
	v := must(must(receipt.ParseSupply(s.do(t, get(path, s.operator(t))).Body.Bytes()))(t).Verify(policy))(t)
	im := must(s.Lines.Import(t.Context(), uuid.MustParse(id)))(t)
	if v.Import != id || v.Supplier != "MTN" || v.Kind != "events" || v.Rows != im.Rows || v.Refused != im.Counts.Refused || v.Rows == 0 || v.Refused == 0 ||
		v.File != sha256.Sum256([]byte(spottyFile)) || !v.AsOf.IsZero() || time.Since(v.At) > time.Minute || v.Origin != logOrigin {
		t.Errorf("it proves %+v", v)
	}
	plain := get(path, s.operator(t))
	plain.Header.Set("Accept", "text/plain")
	if same := must(must(receipt.ParseSupply(s.do(t, plain).Body.Bytes()))(t).Verify(policy))(t); !reflect.DeepEqual(same, v) {
		t.Errorf("as text it proves %+v, want %+v", same, v)
	}
}
