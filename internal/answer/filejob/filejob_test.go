package filejob_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Every row of a file has one line in the result, in the order of the file: its answer as
// the journal has it, or why it could not be read.
func TestResultHasOneLineForEachRow(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 100)
	since := time.Now().AddDate(0, 0, -10).UTC().Format(time.DateOnly)
	id := e.send("number,since,externalId\n" +
		"+2348030000001,,first\n" +
		"08030000007," + since + ",second\n" +
		"not a number,,third\n" +
		"\n" +
		"08030000002,2080-01-01,fourth\n" +
		"08030000005,1985-03-01,old\n" +
		"\"0803 000 0003\",,\"fi\"\"fth, quoted\"\n" +
		"08030000004\n")
	j := e.finish(id)
	if j.State != filejob.Done || j.Rows != 7 || j.Answered != 4 || j.Rejected != 3 {
		t.Fatalf("the job: %+v", j)
	}
	var got []string
	for _, l := range e.result(id) {
		got = append(got, strings.Join([]string{l["line"], l["phoneNumber"], l["status"], l["mobileNetwork"], l["changedSince"], l["changes"], l["externalId"], l["error"], l["column"]}, "|"))
		if l["error"] != "" {
			continue
		}
		entry, err := journal.Get(t.Context(), e.Pool, uuid.MustParse(l["requestId"]))
		if err != nil {
			t.Fatal(err)
		}
		if entry.PhoneNumber != l["phoneNumber"] || entry.Status != l["status"] || entry.At.Format("2006-01-02T15:04:05.000Z") != l["verificationTimestamp"] || entry.Purpose != "payment" ||
			entry.PurposeText != "salaries" || entry.Key != e.key || entry.Entity != e.bank.Entity || entry.ExternalID != l["externalId"] || entry.Correlator != id.String() {
			t.Errorf("the record %+v is not that of the line %v", entry, l)
		}
		if entry.Extra != "" {
			var extra struct{ KnownThrough string }
			if err := json.Unmarshal([]byte(entry.Extra), &extra); err != nil || extra.KnownThrough != l["knownThrough"] {
				t.Errorf("knownThrough is %q, recorded is %s", l["knownThrough"], entry.Extra)
			}
		}
	}
	want := []string{
		"2|+2348030000001|NORMAL|MTN||| first||", "3|08030000007|SWAPPED|MTN|yes|SIM|second||", "4||||||third|BAD_FORMAT|number", "6||||||fourth|FUTURE|since",
		"7|08030000005|NORMAL|MTN|yes|HOLDER SIM|old||", "8|0803 000 0003|NORMAL|MTN|||fi\"fth, quoted||", "9||||||| BAD_COLUMNS|",
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "| ", "|")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the result (-want +got):\n%s", diff)
	}
}

// The sent file is deleted when the job ends, and the result when its time is over.
func TestFilesAreDeletedInTime(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send(fileOf(5))
	if n := e.storedFiles(); n != 1 {
		t.Fatalf("%d files before the job, want that which was sent", n)
	}
	e.finish(id)
	if err := e.CleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := e.storedFiles(); n != 1 || len(e.result(id)) != 5 {
		t.Fatalf("%d files after the job, want the result alone", n)
	}
	e.ahead = time.Hour + time.Second
	if err := e.CleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Result(t.Context(), e.bank, id); fault.CodeOf(err) != fault.Gone || e.storedFiles() != 0 {
		t.Errorf("after its time the result gives %v, and there are %d files", err, e.storedFiles())
	}
	waits, err := e.Create(t.Context(), e.bank, e.key, "", by)
	if err != nil {
		t.Fatal(err)
	}
	e.ahead += 25 * time.Hour
	if err := e.CleanUp(t.Context()); err != nil || e.job(waits.ID).State != filejob.Cancelled {
		t.Errorf("a job without a file is %s after a day, %v", e.job(waits.ID).State, err)
	}
}

// A cancelled job ends: nothing is recorded after that, and there is no result.
func TestCancelledJobHasNoResult(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send(fileOf(5))
	if j, err := e.Cancel(t.Context(), e.bank, id, by); err != nil || j.State != filejob.Cancelled {
		t.Fatalf("Cancel = %+v, %v", j, err)
	}
	if _, err := e.Cancel(t.Context(), e.bank, id, by); err != nil {
		t.Errorf("the second Cancel = %v", err)
	}
	e.finish(id)
	if n, _ := e.records(id); n != 0 {
		t.Errorf("%d records of a job that was cancelled before it began", n)
	}
	if _, err := e.Result(t.Context(), e.bank, id); fault.CodeOf(err) != fault.IncompatibleState {
		t.Errorf("the result = %v", err)
	}
	if err := e.CleanUp(t.Context()); err != nil || e.storedFiles() != 0 {
		t.Errorf("%d files are left, %v", e.storedFiles(), err)
	}
}

// A file that needs more of the year's budget than is left spends nothing and is not
// answered; the rows of one that fits are counted once, however often they come.
func TestFileSpendsTheBudgetOfTheYearOrNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	e.budget = 1_000
	over := e.send(fileOf(2_000))
	if j := e.finish(over); j.State != filejob.Failed || !strings.Contains(j.Reason, "different numbers a year") || j.Answered != 0 {
		t.Fatalf("a file over the budget: %+v", j)
	}
	for range 3 {
		if j := e.finish(e.send(fileOf(900))); j.State != filejob.Done {
			t.Fatalf("a file within the budget: %+v", j)
		}
	}
	if j := e.finish(over); j.State != filejob.Failed {
		t.Errorf("a job that failed is %s", j.State)
	}
}

// A job whose key is revoked ends before its next row is answered.
func TestRevokedKeyEndsTheJob(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send(fileOf(5))
	e.keyEnded = true
	if j := e.finish(id); j.State != filejob.Failed || !strings.Contains(j.Reason, "API key") || j.Answered != 0 {
		t.Errorf("the job: %+v", j)
	}
}

// Another organisation, and the other mode, see nothing of a job.
func TestJobsBelongToTheirOrganisation(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send(fileOf(5))
	e.finish(id)
	for _, o := range []filejob.Owner{{Entity: uuid.New(), Mode: "live"}, {Entity: e.bank.Entity, Mode: "test"}} {
		if _, err := e.Job(t.Context(), o, id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Job = %v", err)
		}
		if _, err := e.Result(t.Context(), o, id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Result = %v", err)
		}
		if _, err := e.Cancel(t.Context(), o, id, by); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("Cancel = %v", err)
		}
		if list, err := e.Jobs(t.Context(), o, uuid.Nil, 10); len(list) != 0 || err != nil {
			t.Errorf("Jobs = %v, %v", list, err)
		}
	}
}

// When a record is erased, the result that has it is deleted, and no other.
func TestErasedRecordIsInNoResult(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	met, other := e.send(fileOf(5)), e.send(fileOf(5))
	e.finish(met)
	erase := func(id uuid.UUID) {
		e.exec(`INSERT INTO journal_erased (request_id, at, hash, erasure) SELECT request_id, at, hash, gen_random_uuid() FROM journal_entry WHERE correlator = $1 AND number = 2348030000003`, id.String())
	}
	erase(met)
	if err := e.CleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Result(t.Context(), e.bank, met); fault.CodeOf(err) != fault.Gone {
		t.Errorf("the result with an erased record gives %v", err)
	}
	if len(e.result(other)) != 5 || e.storedFiles() != 1 {
		t.Errorf("%d files are left, want the other result", e.storedFiles())
	}
}

// The result of a file without rows has its header line.
func TestResultOfNoRowsHasItsHeader(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send("number\n")
	if j := e.finish(id); j.State != filejob.Done || len(e.result(id)) != 0 {
		t.Errorf("the job: %+v", j)
	}
}
