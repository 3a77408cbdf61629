package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
)

// spellings are formats of one number.
var spellings = []string{
	"+2348031234567", "2348031234567", "08031234567", "002348031234567", "8031234567", " +2348031234567", "+2348031234567 ",
	"+234 803 123 4567", "+234-803-123-4567", "+234.803.123.4567", "+234 (803) 123 4567", "+234(803)1234567", "(+234) 803 123 4567",
	"+234 0803 123 4567", "+234 (0) 803 123 4567", "+234(0)8031234567", "+234-0803-123-4567", "+23408031234567", "23408031234567", "0023408031234567",
	"234 803 123 4567", "234-803-123-4567", "234.803.123.4567", "234 (803) 123-4567", "234 (0)803 123 4567",
	"0803 123 4567", "0803-123-4567", "0803.123.4567", "(0803) 123 4567", "(0803)1234567", "0803 1234567", "080 3123 4567", "0 803 123 4567", "0-803-123-4567",
	"00234 803 123 4567", "00234-803-123-4567", "00 234 803 123 4567", "00234(0)8031234567", "00234.803.123.4567",
	"803 123 4567", "803-123-4567", "803.123.4567", "(803) 123 4567", "0803 - 123 - 4567", "+ 234 803 123 4567", "+234  803  1234567",
}

// A number finds the same line in every format, and the answer repeats it byte
// for byte.
func TestEverySpellingFindsTheLineAndIsEchoedByteForByte(t *testing.T) {
	t.Parallel()
	if len(spellings) < 40 {
		t.Fatalf("only %d spellings", len(spellings))
	}
	s := newStack(t)
	for _, sent := range spellings {
		res := s.do(t, post(verifyPath, s.key, asJSON(t, map[string]string{"phoneNumber": sent})))
		if res.Code != http.StatusOK {
			t.Errorf("%q answered %d: %s", sent, res.Code, res.Body)
			continue
		}
		b := res.Body.Bytes()
		if got := field(t, b, "data", "phoneNumber"); got != sent {
			t.Errorf("%q was echoed as %q", sent, got)
		}
		if got := field(t, b, "data", "mobileNetwork") + " " + field(t, b, "data", "status"); got != "MTN NORMAL" {
			t.Errorf("%q found %s", sent, got)
		}
		record := must(journal.Get(t.Context(), s.pool, uuid.MustParse(field(t, b, "data", "requestId"))))(t)
		if record.PhoneNumber != sent || record.Number != 2348031234567 || record.Status != "NORMAL" ||
			record.At.Format("2006-01-02T15:04:05.000Z") != field(t, b, "data", "verificationTimestamp") || record.Key == uuid.Nil || record.Entity != s.bank.ID {
			t.Errorf("%q was recorded as %+v", sent, record)
		}
		if res.Header().Get("X-Request-Id") != record.RequestID.String() {
			t.Errorf("the answer's X-Request-Id is not its record's id")
		}
	}
}

// The optional fields of an answer are in its record byte for byte, and come
// after the five fixed fields.
func TestRecordHasTheOptionalFieldsByteForByte(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, more := range []string{
		`"since":"2026-01-02"`, `"include":["signals"]`, `"include":["coverage"]`, `"include":["dates"]`, `"since":"2026-01-02T03:04:05.678+01:00","include":["coverage","signals"]`,
	} {
		for _, number := range []string{knownNumber, swappedNumber, flaggedNumber, "+2348039999999", "+2348059999999"} {
			res := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+number+`",`+more+`}`))
			if res.Code != http.StatusOK {
				t.Fatalf("%s answered %d: %s", more, res.Code, res.Body)
			}
			b := res.Body.Bytes()
			record := must(journal.Get(t.Context(), s.pool, uuid.MustParse(field(t, b, "data", "requestId"))))(t)
			_, said, _ := strings.Cut(string(b), `"verificationTimestamp":"`+field(t, b, "data", "verificationTimestamp")+`",`)
			if said = strings.TrimSuffix(said, `,"statusCode":"200"}`+"\n"); record.Extra != "{"+said || record.Options == "" {
				t.Errorf("%s said {%s and recorded %s for the options %q", more, said, record.Extra, record.Options)
			}
		}
	}
}

// No answer without a record: if the journal cannot store the entry, the
// response says nothing about the line.
func TestNoAnswerWithoutARecord(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	url := s.pool.Config().ConnString()
	owner := openAs(t, url)
	if _, err := owner.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON journal_entry FOR EACH ROW EXECUTE FUNCTION refuse()`); err != nil {
		t.Fatal(err)
	}
	res := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`))
	if res.Code != http.StatusServiceUnavailable || res.Header().Get("Retry-After") == "" {
		t.Errorf("answered %d with Retry-After %q: %s", res.Code, res.Header().Get("Retry-After"), res.Body)
	}
	var entries, batches int
	if err := s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_entry), (SELECT count(*) FROM journal_batch)`).Scan(&entries, &batches); err != nil {
		t.Fatal(err)
	}
	if entries != 0 || batches != 0 {
		t.Errorf("%d entries and %d batches are left of a refused question", entries, batches)
	}
}
