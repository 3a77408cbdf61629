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

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// verifyMany sends n requests at once, each with its index as the number as sent,
// and returns their answers and errors.
func (a *verifier) verifyMany(ctx context.Context, n int, change func(i int, q *verify.Request)) ([]verify.Answer, []error) {
	answers, errs := make([]verify.Answer, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		q := verify.Request{Entity: uuid.UUID{1}, Key: uuid.UUID{2}, Mode: "live", RawNumber: strconv.Itoa(i)}
		q.Number, _ = phone.FromInt(normal)
		if change != nil {
			change(i, &q)
		}
		all.Go(func() { answers[i], errs[i] = a.Verify(ctx, q) })
	}
	all.Wait()
	return answers, errs
}

// blockCommits takes every connection of the pool, so that nothing is committed
// until release is called.
func (a *verifier) blockCommits(t *testing.T) (release func()) {
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

// waitUntil waits for a condition.
func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Errorf("timed out waiting until %s", what)
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}

// Requests that wait at the same time share commits. Each has its own record with
// the answer that its caller got, and its own index in a batch.
func TestRequestsThatWaitTogetherShareACommit(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	release := a.blockCommits(t)
	go func() {
		waitUntil(t, "requests wait", func() bool { return a.Waiting() >= 200 })
		release()
	}()
	numbers := []int64{normal, swapped, flagged, unlisted, gloLine}
	answers, errs := a.verifyMany(t.Context(), 300, func(i int, q *verify.Request) { q.Number, _ = phone.FromInt(numbers[i%len(numbers)]) })
	want := []string{"NORMAL MTN", "SWAPPED MTN", "BARRED MTN", "UNKNOWN MTN", "UNKNOWN Glo"}
	for i, answer := range answers {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		record, err := journal.Get(t.Context(), a.pool, answer.RequestID)
		if err != nil {
			t.Fatal(err)
		}
		got := string(answer.Status) + " " + answer.Network
		if got != want[i%len(want)] || record.Status+" "+record.MobileNetwork != got || record.PhoneNumber != strconv.Itoa(i) || !record.At.Equal(answer.At) {
			t.Errorf("request %d was answered %s, want %s, and recorded as %+v", i, got, want[i%len(want)], record)
		}
	}
	var batches, entries, indexes int
	err := a.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_batch), (SELECT sum(count) FROM journal_batch),
		(SELECT count(DISTINCT (e.epoch, e.n, e.idx)) FROM journal_entry e JOIN journal_batch b USING (epoch, n) WHERE e.idx >= 0 AND e.idx < b.count)`).Scan(&batches, &entries, &indexes)
	if err != nil || batches > 10 || entries != 300 || indexes != 300 {
		t.Errorf("%d batches count %d entries, %d of which have an index of their own (%v); want 300 in a few batches", batches, entries, indexes, err)
	}
}

// A record that the database refuses fails only its own request.
func TestRefusedRecordFailsOnlyItsOwnRequest(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	_, err := a.super.Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = '22023'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON journal_entry FOR EACH ROW WHEN (NEW.phone_number IN ('13', '77')) EXECUTE FUNCTION refuse()`)
	if err != nil {
		t.Fatal(err)
	}
	a.MaxBatch = 50
	release := a.blockCommits(t)
	go func() {
		waitUntil(t, "requests wait", func() bool { return a.Waiting() >= 50 })
		release()
	}()
	answers, errs := a.verifyMany(t.Context(), 100, nil)
	for i := range answers {
		bad := i == 13 || i == 77
		if bad != errors.Is(errs[i], journal.ErrNotRecorded) || !bad && errs[i] != nil {
			t.Errorf("request %d: %v", i, errs[i])
		}
	}
	var entries, counted int
	err = a.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM journal_entry), (SELECT sum(count) FROM journal_batch)`).Scan(&entries, &counted)
	if err != nil || entries != 98 || counted != 98 {
		t.Errorf("%d entries, %d counted, %v; want 98", entries, counted, err)
	}
}

// A full queue refuses at once, and a caller that has filled it loses a place to
// another caller.
func TestFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	a.MaxQueue, a.MaxBatch = 50, 1
	release := a.blockCommits(t)
	defer release()
	done, first := make(chan []error, 1), make(chan []error, 1)
	go func() {
		_, errs := a.verifyMany(t.Context(), 1, nil)
		first <- errs
	}()
	waitUntil(t, "one is in flight", func() bool { return a.InFlight() == 1 && a.Waiting() == 0 })
	go func() {
		_, errs := a.verifyMany(t.Context(), 79, nil)
		done <- errs
	}()
	waitUntil(t, "the queue is full", func() bool { return a.Waiting() == 50 })
	start := time.Now()
	if _, err := a.Verify(t.Context(), verify.Request{Entity: uuid.UUID{1}}); !errors.Is(err, verify.ErrBusy) || time.Since(start) > time.Second {
		t.Errorf("one more request of the same caller: %v after %s, want ErrBusy at once", err, time.Since(start))
	}
	other := make(chan error, 1)
	go func() {
		q := verify.Request{Entity: uuid.UUID{9}, Key: uuid.UUID{9}, Mode: "live", RawNumber: "other"}
		q.Number, _ = phone.FromInt(normal)
		_, err := a.Verify(t.Context(), q)
		other <- err
	}()
	waitUntil(t, "the other caller is queued", func() bool { return a.Lanes() == 2 })
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
			t.Errorf("unexpected error: %v", err)
		}
	}
	if busy != 30 { // 29 found the queue full, one was evicted; one was in flight
		t.Errorf("%d of 80 were refused, want 30", busy)
	}
}

// A request that is abandoned while it waits is not recorded, because no answer
// is delivered.
func TestAbandonedRequestIsNotRecorded(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	release := a.blockCommits(t)
	first := make(chan error, 1)
	go func() {
		_, errs := a.verifyMany(t.Context(), 1, nil)
		first <- errs[0]
	}()
	waitUntil(t, "the first is in flight", func() bool { return a.InFlight() == 1 && a.Waiting() == 0 })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitUntil(t, "the second waits", func() bool { return a.Waiting() == 1 })
		cancel()
	}()
	if _, err := a.Verify(ctx, verify.Request{Entity: uuid.UUID{1}, RawNumber: "abandoned"}); !errors.Is(err, verify.ErrTimeout) {
		t.Errorf("the second request: %v", err)
	}
	release()
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "all loops have ended", func() bool { return a.InFlight() == 0 })
	var n int
	if err := a.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_entry`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d records, %v; want only that of the first request", n, err)
	}
}

// While commits hang, every request fails by its deadline: those in the hanging
// batch, and those that wait behind it.
func TestEveryRequestFailsInTimeWhileCommitsHang(t *testing.T) {
	t.Parallel()
	a := newVerifier(t, now)
	a.Timeout, a.MaxBatch = 2*time.Second, 5
	release := a.blockCommits(t)
	defer release()
	start := time.Now()
	_, errs := a.verifyMany(t.Context(), 40, nil)
	for _, err := range errs {
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("unexpected error: %v", err)
		}
	}
	if took := time.Since(start); took > a.Timeout+time.Second {
		t.Errorf("the last request failed after %s, want at most about %s", took, a.Timeout)
	}
}
