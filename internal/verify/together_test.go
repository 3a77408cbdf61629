package verify_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/verify"
)

// many asks so many questions at once, each with its own number as sent, and
// returns what became of them.
func (a *asking) many(ctx context.Context, n int, change func(i int, q *verify.Question)) ([]verify.Answer, []error) {
	answers, errs := make([]verify.Answer, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		q := verify.Question{Entity: uuid.UUID{1}, Key: uuid.UUID{2}, Mode: "live", Sent: strconv.Itoa(i)}
		q.Number, _ = phone.FromInt(normal)
		if change != nil {
			change(i, &q)
		}
		all.Go(func() { answers[i], errs[i] = a.Ask(ctx, q) })
	}
	all.Wait()
	return answers, errs
}

// hold keeps every commit from happening until the function that it returns is
// called: it takes every connection that there is.
func (a *asking) hold(t *testing.T) (release func()) {
	t.Helper()
	var held []*pgxpool.Conn
	for range a.pool.Config().MaxConns {
		conn, err := a.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	release = sync.OnceFunc(func() {
		for _, conn := range held {
			conn.Release()
		}
	})
	t.Cleanup(release)
	return release
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Errorf("it never came to pass: %s", what)
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}

// Questions that wait at the same moment share commits; each has a record of its
// own that says what its caller was told, in a batch whose root is right.
func TestQuestionsThatWaitTogetherShareACommit(t *testing.T) {
	t.Parallel()
	a := newAsking(t, now)
	release := a.hold(t)
	go func() {
		until(t, "questions wait", func() bool { return a.Waiting() >= 200 })
		release()
	}()
	numbers := []int64{normal, swapped, accused, nobodys, glos}
	answers, errs := a.many(t.Context(), 300, func(i int, q *verify.Question) { q.Number, _ = phone.FromInt(numbers[i%len(numbers)]) })
	want := []string{"NORMAL MTN", "SWAPPED MTN", "BARRED MTN", "UNKNOWN MTN", "UNKNOWN Glo"}
	for i, answer := range answers {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		record, err := journal.Get(t.Context(), a.pool, answer.RequestID)
		if err != nil {
			t.Fatal(err)
		}
		said := string(answer.Status) + " " + answer.Network
		if said != want[i%len(want)] || record.Status+" "+record.MobileNetwork != said || record.PhoneNumber != strconv.Itoa(i) || !record.At.Equal(answer.At) {
			t.Errorf("question %d was answered %s, want %s, and recorded as %+v", i, said, want[i%len(want)], record)
		}
	}
	var batches, entries, places int
	err := a.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_batch), (SELECT sum(count) FROM journal_batch),
		(SELECT count(DISTINCT (e.epoch, e.n, e.idx)) FROM journal_entry e JOIN journal_batch b USING (epoch, n) WHERE e.idx >= 0 AND e.idx < b.count)`).Scan(&batches, &entries, &places)
	if err != nil || batches > 10 || entries != 300 || places != 300 {
		t.Errorf("%d batches count %d entries, %d of which have a place of their own (%v); want 300 in a few batches", batches, entries, places, err)
	}
}

// One record that cannot be written leaves only its own caller without an
// answer.
func TestOneUnwritableRecordHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	a := newAsking(t, now)
	_, err := a.super.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = '22023'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON journal_entry FOR EACH ROW WHEN (NEW.phone_number IN ('13', '77')) EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	a.Batch = 50
	release := a.hold(t)
	go func() {
		until(t, "questions wait", func() bool { return a.Waiting() >= 50 })
		release()
	}()
	answers, errs := a.many(t.Context(), 100, nil)
	for i := range answers {
		bad := i == 13 || i == 77
		if bad != errors.Is(errs[i], journal.ErrNotRecorded) || !bad && errs[i] != nil {
			t.Errorf("question %d: %v", i, errs[i])
		}
	}
	var entries, counted int
	err = a.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_entry), (SELECT sum(count) FROM journal_batch)`).Scan(&entries, &counted)
	if err != nil || entries != 98 || counted != 98 {
		t.Errorf("%d entries, %d counted, %v; want 98", entries, counted, err)
	}
}

// A queue that is full refuses at once; and whoever has filled it gives way to
// somebody else.
func TestFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	a := newAsking(t, now)
	a.Queue, a.Batch = 50, 1
	release := a.hold(t)
	defer release()
	done, first := make(chan []error, 1), make(chan []error, 1)
	go func() {
		_, errs := a.many(t.Context(), 1, nil)
		first <- errs
	}()
	until(t, "one is under way", func() bool { return a.UnderWay() == 1 && a.Waiting() == 0 })
	go func() {
		_, errs := a.many(t.Context(), 79, nil)
		done <- errs
	}()
	until(t, "the queue is full", func() bool { return a.Waiting() == 50 })
	begin := time.Now()
	if _, err := a.Ask(t.Context(), verify.Question{Entity: uuid.UUID{1}}); !errors.Is(err, verify.ErrBusy) || time.Since(begin) > time.Second {
		t.Errorf("one more question of the same caller: %v after %s, want ErrBusy at once", err, time.Since(begin))
	}
	other := make(chan error, 1)
	go func() {
		q := verify.Question{Entity: uuid.UUID{9}, Key: uuid.UUID{9}, Mode: "live", Sent: "other"}
		q.Number, _ = phone.FromInt(normal)
		_, err := a.Ask(t.Context(), q)
		other <- err
	}()
	until(t, "the other caller is let in", func() bool { return a.Lanes() == 2 })
	release()
	errs := append(<-done, <-first...)
	if err := <-other; err != nil {
		t.Errorf("the other caller: %v", err)
	}
	busy := 0
	for _, err := range errs {
		if errors.Is(err, verify.ErrBusy) {
			busy++
		} else if err != nil {
			t.Errorf("a caller heard %v", err)
		}
	}
	if busy != 30 { // 29 found the queue full, one gave way; one was under way
		t.Errorf("%d of 80 were refused, want 30", busy)
	}
}

// A caller who leaves while the question waits is not recorded, for nobody heard
// the answer.
func TestQuestionThatWasLeftIsNotRecorded(t *testing.T) {
	t.Parallel()
	a := newAsking(t, now)
	release := a.hold(t)
	first := make(chan error, 1)
	go func() {
		_, errs := a.many(t.Context(), 1, nil)
		first <- errs[0]
	}()
	until(t, "the first is under way", func() bool { return a.UnderWay() == 1 && a.Waiting() == 0 })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(t, "the second waits", func() bool { return a.Waiting() == 1 })
		cancel()
	}()
	if _, err := a.Ask(ctx, verify.Question{Entity: uuid.UUID{1}, Sent: "left"}); !errors.Is(err, verify.ErrTooLate) {
		t.Errorf("the second hears %v", err)
	}
	release()
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	until(t, "all is done", func() bool { return a.UnderWay() == 0 })
	var n int
	if err := a.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_entry`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d records, %v; want that of the first", n, err)
	}
}

// While commits hang, everybody is told in time that it took too long: those
// whose commit it is, and those who wait behind it.
func TestEverybodyIsToldInTimeWhileCommitsHang(t *testing.T) {
	t.Parallel()
	a := newAsking(t, now)
	a.Patience, a.Batch = 2*time.Second, 5
	release := a.hold(t)
	defer release()
	begin := time.Now()
	_, errs := a.many(t.Context(), 40, nil)
	for _, err := range errs {
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("a caller hears %v", err)
		}
	}
	if took := time.Since(begin); took > a.Patience+time.Second {
		t.Errorf("the last was told after %s, want at most about %s", took, a.Patience)
	}
}
