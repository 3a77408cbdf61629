package erasure_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
)

func ofPerson(e *record.Entry) bool { return e.Number == person }

// After the erasure of a number, in the database and in the archive, no byte of the
// personal parts is left, every other record is as it was, and everything still verifies.
func TestErasedNumberIsGoneFromDatabaseAndArchive(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.order(t, erasure.Order{Number: person, Ground: erasure.Request})
	if left := d.bytesLeft(t, d.marks()...); len(left) == 0 {
		t.Fatal("the search for bytes finds nothing before the erasure either")
	}
	e, err := d.Run(t.Context(), id)
	if err != nil || e.State != erasure.Finished || e.Records != 240 || e.Held != 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	if n := d.check(t); n != 240 {
		t.Errorf("%d records are erased", n)
	}
	d.records(t, ofPerson)
	days, err := journal.DaysToRewrite(t.Context(), d.Archiver.Pool)
	if err != nil || len(days) != 1 || !days[0].Equal(d.days[5]) {
		t.Errorf("the files of %v still have bytes, %v", days, err)
	}
	// Tomorrow, the file of today is written anew, too.
	d.Archiver.Now = func() time.Time { return time.Now().AddDate(0, 0, 2) }
	if _, err := d.RunAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := d.bytesLeft(t, d.marks()...); len(left) > 0 {
		t.Errorf("%d marks are left, the first is %s", len(left), left[0])
	}
	d.check(t)
}

// A transaction that began before the erasure can still see the records. The file of
// their day is not said to be clean before they are gone from it.
func TestOlderTransactionDelaysTheErasureOfTheFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Archiver.OldTransactions = time.Second
	id := d.order(t, erasure.Order{Number: person, Ground: erasure.Request})
	old, err := d.super.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := old.QueryRow(t.Context(), `SELECT count(*) FROM entity`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if e, err := d.Run(t.Context(), id); err == nil || e.State == erasure.Finished || !strings.Contains(err.Error(), "a transaction that began before the erasure") {
		t.Errorf("%+v, %v", e, err)
	}
	if err := old.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Archiver.OldTransactions = 0
	if _, err := d.RunAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Archiver.Now = func() time.Time { return time.Now().AddDate(0, 0, 2) }
	if _, err := d.RunAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := d.bytesLeft(t, d.marks()...); len(left) > 0 {
		t.Errorf("%d marks are left, the first is %s", len(left), left[0])
	}
}

// A day whose erased records are archived later is archived with them.
func TestErasedRecordsAreArchived(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.Run(t.Context(), d.order(t, erasure.Order{Number: person, Ground: erasure.Court})); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Archiver.Archive(t.Context(), d.days[3]); err != nil {
		t.Fatal(err)
	}
	d.check(t)
	d.records(t, ofPerson)
}

// Single records are erased by their ids; ids without a record are passed over.
func TestRecordsAreErasedByTheirIDs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	chosen := map[uuid.UUID]bool{d.entries[2].RequestID: true, d.entries[203].RequestID: true, d.entries[404].RequestID: true}
	ids := []uuid.UUID{record.NewRequestID(time.Now()), uuid.New()}
	for id := range chosen {
		ids = append(ids, id)
	}
	e, err := d.Run(t.Context(), d.order(t, erasure.Order{RequestIDs: ids, Ground: erasure.Mistake}))
	if err != nil || e.Records != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	d.records(t, func(e *record.Entry) bool { return chosen[e.RequestID] })
}

// What is erased without an erasure is damaged, and so is a record of which only a part
// is erased.
func TestErasedWithoutAnErasureIsAFinding(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if _, err := d.Run(t.Context(), d.order(t, erasure.Order{RequestIDs: []uuid.UUID{d.entries[300].RequestID, d.entries[301].RequestID}, Ground: erasure.Mistake})); err != nil {
		t.Fatal(err)
	}
	forged := &d.entries[302]
	inner := forged.InnerHash()
	blank := `UPDATE journal_entry SET number = 0, phone_number = '', correlator = '', external_id = '', on_behalf_of = '', options = '', extra = '', nonce = $2 WHERE request_id = $1`
	for name, plant := range map[string]func(){
		"no erasure covers it": func() { d.exec(t, blank, forged.RequestID, inner[:]) },
		"the text is still there": func() {
			d.exec(t, `UPDATE journal_entry SET correlator = 'x' WHERE request_id = $1`, d.entries[300].RequestID)
		},
		"its row is gone": func() { d.exec(t, `DELETE FROM journal_erased WHERE request_id = $1`, d.entries[301].RequestID) },
	} {
		before, err := (&journal.Checker{Pool: d.Archiver.Pool, Limit: 5}).Check(t.Context(), time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		plant()
		after, err := (&journal.Checker{Pool: d.Archiver.Pool, Limit: 5}).Check(t.Context(), time.Time{}, time.Time{})
		if err != nil || after.Found <= before.Found {
			t.Errorf("%s: %d findings before and %d after, %v", name, before.Found, after.Found, err)
		}
	}
}

// A record under a hold stays, whether the hold is on the number or on the organisation
// that asked; when the hold has ended, it can be erased.
func TestHoldKeepsRecords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	by := d.administrator(t)
	onNumber, err := d.PlaceHold(t.Context(), person, uuid.Nil, "order 1 of the court", by)
	if err != nil {
		t.Fatal(err)
	}
	onEntity, err := d.PlaceHold(t.Context(), 0, held, "order 2 of the court", by)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.PlaceHold(t.Context(), person, held, "order 3 of the court", by); !errors.Is(err, erasure.ErrHoldScope) {
		t.Errorf("a hold on both: %v", err)
	}
	for _, step := range []struct {
		end           uuid.UUID
		records, held int64
	}{{uuid.Nil, 0, 240}, {onNumber, 234, 6}, {onEntity, 6, 0}} {
		if step.end != uuid.Nil {
			if err := d.EndHold(t.Context(), step.end, by); err != nil {
				t.Fatal(err)
			}
		}
		e, err := d.Run(t.Context(), d.order(t, erasure.Order{Number: person, Ground: erasure.Request}))
		if err != nil || e.Records != step.records || e.Held != step.held {
			t.Fatalf("%+v, %v; want %+v", e, err, step)
		}
	}
	d.records(t, ofPerson)
	d.check(t)
}

// The policy's retention erases whole days, and of a day with a record under a hold
// everything else.
func TestRetentionErasesOldDays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if e, err := d.Retain(t.Context(), d.days[0]); err != nil || e.ID != uuid.Nil {
		t.Fatalf("nothing is due: %+v, %v", e, err)
	}
	if e, err := d.Retain(t.Context(), d.days[3].Add(time.Hour)); err != nil || e.State != erasure.Finished {
		t.Fatalf("%+v, %v", e, err)
	}
	old := func(before time.Time) func(e *record.Entry) bool {
		return func(e *record.Entry) bool { return e.At.Before(before) }
	}
	d.records(t, old(d.days[3]))
	if _, err := d.PlaceHold(t.Context(), 0, held, "order 4 of the court", d.administrator(t)); err != nil {
		t.Fatal(err)
	}
	e, err := d.Retain(t.Context(), d.days[5])
	if err != nil || e.Records != 198 || e.Held != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	kept := func(e *record.Entry) bool { return old(d.days[5])(e) && (old(d.days[3])(e) || e.Entity != held) }
	d.records(t, kept)
	if n := d.check(t); n != 498 {
		t.Errorf("%d records are erased", n)
	}
}

// After a restore to a time before the erasure, everything is erased again, also where
// the archive had been written anew meanwhile.
func TestErasedAgainAfterARestore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, save := range []string{"journal_entry", "journal_archive"} {
		d.exec(t, "CREATE TABLE before_"+save+" AS SELECT * FROM "+save)
	}
	if _, err := d.Run(t.Context(), d.order(t, erasure.Order{Number: person, Ground: erasure.Request})); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"journal_erased", "journal_erased_day", "journal_rewrite", "journal_replaced", "erasure"} {
		d.exec(t, "DELETE FROM "+table)
	}
	for _, restore := range []string{"journal_entry", "journal_archive"} {
		d.exec(t, "DELETE FROM "+restore)
		d.exec(t, "INSERT INTO "+restore+" SELECT * FROM before_"+restore)
		d.exec(t, "DROP TABLE before_"+restore)
	}
	if n, err := d.Again(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d erasures, %v", n, err)
	}
	d.records(t, ofPerson)
	if n := d.check(t); n != 240 {
		t.Errorf("%d records are erased", n)
	}
	if n, err := d.Again(t.Context()); err != nil || n != 1 {
		t.Errorf("a second time: %d, %v", n, err)
	}
}

// Wherever a run stops, the next one continues.
func TestInterruptedRunIsContinued(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.order(t, erasure.Order{Number: person, Ground: erasure.Request})
	stops := 0
	for limit := 1; ; limit++ {
		ctx, stop := context.WithCancel(t.Context())
		steps := 0
		step := func() {
			if steps++; steps == limit {
				stop()
			}
		}
		d.Archiver.OnProgress = func(time.Time, string, int64) { step() }
		d.OnSearch = func(int64) { step() }
		e, err := d.Run(ctx, id)
		stop()
		if err == nil && e.State == erasure.Finished {
			break
		}
		if stops++; stops > 100 {
			t.Fatalf("it does not end: %v", err)
		}
	}
	if stops < 3 {
		t.Errorf("it was stopped %d times, which proves little", stops)
	}
	d.records(t, ofPerson)
	d.check(t)
}
