package e2e_test

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// An answer is in a checkpoint that both witnesses have signed within seconds, also while a
// transaction stays open that has written: the goals are 2 s for half of the answers and 10 s
// for 999 of 1,000. A log that waited for the oldest transaction would have none of those
// answers, which is checked, too.
func TestAnswersAreWitnessedSoon(t *testing.T) {
	rate, length := size(t, "LINEPROOF_E2E_RATE", 100), time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 4))*time.Second
	w := newFixture(t, startDurable(t)())
	l := newRestoredLog(t, w)
	node := start(t, w, l.settings...)
	load := &openLoop{world: w, address: node.public, rate: rate}
	idle := func(ctx context.Context) error { return pass(ctx, length) }
	load.run(t, &phase{name: "while it warms up"}, func(ctx context.Context) error { return pass(ctx, time.Second) })

	for _, name := range []string{"no transaction is open", "a transaction is open"} {
		var open pgx.Tx
		var oldest int64
		if name == "a transaction is open" {
			open = must(w.pool.Begin(t.Context()))(t)
			_ = must(open.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0`))(t) // as a session of another program has it
			if err := open.QueryRow(t.Context(), `SELECT pg_current_xact_id()::text::bigint`).Scan(&oldest); err != nil {
				t.Fatal(err)
			}
		}
		begin, watch := time.Now(), l.watch(node)
		p := &phase{name: name}
		load.run(t, p, idle)
		p.report(t)
		delays := watch.delays(begin)
		if len(delays) < rate*int(length/time.Second)*9/10 {
			t.Fatalf("%s: only %d answers", name, len(delays))
		}
		half, most := delays[len(delays)/2], delays[len(delays)*999/1000]
		t.Logf("%s: %d answers; from the time of the record to a checkpoint with both signatures p50 %s, p99.9 %s, longest %s", name, len(delays), half, most, delays[len(delays)-1])
		if half > process.Goal(2*time.Second) || most > process.Goal(10*time.Second) {
			t.Errorf("%s: p50 %s, p99.9 %s", name, half, most)
		}
		if open == nil {
			continue
		}
		var earlier int // answers that a log that waits for the oldest transaction would have
		if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_batch WHERE at >= $1 AND xact::text::bigint < $2`, begin, oldest).Scan(&earlier); err != nil {
			t.Fatal(err)
		}
		if earlier > 0 {
			t.Errorf("%d batches are older than the open transaction", earlier)
		}
		if err := open.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var answers, entries int64
	if err := w.pool.QueryRow(t.Context(), `SELECT (SELECT sum(count) FROM journal_batch)::bigint, (SELECT count(*) FROM log_entry)`).Scan(&answers, &entries); err != nil {
		t.Fatal(err)
	}
	public := bytesBelow(t, filepath.Join(w.data, "log"))
	t.Logf("%d answers in %d entries of the log; its public files have %d bytes, %.2f for an answer and %.0f for an entry", answers, entries, public, float64(public)/float64(answers), float64(public)/float64(entries))
}

// bytesBelow adds up the sizes of the files in a directory and below it.
func bytesBelow(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// watched is when which size of a log was signed by all witnesses.
type watched struct {
	log  *restoredLog
	node *instance
	stop func()

	mu    sync.Mutex
	sizes []int64 // ascending
	times []time.Time
}

// watch looks at the checkpoint until the delays are asked for.
func (l *restoredLog) watch(node *instance) *watched {
	ctx, cancel := context.WithCancel(l.t.Context())
	v := &watched{log: l, node: node}
	var ended sync.WaitGroup
	ended.Go(func() {
		for ctx.Err() == nil {
			v.look(ctx)
			_ = pass(ctx, 20*time.Millisecond) // ended by stop
		}
	})
	v.stop = func() { cancel(); ended.Wait() }
	return v
}

func (v *watched) look(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.node.public+logPath+"checkpoint", http.NoBody)
	if err != nil {
		return
	}
	res, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		return // it is looked at again
	}
	defer res.Body.Close()
	signed, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return
	}
	if _, seen, err := v.log.policy.Open(string(signed)); err != nil || len(seen) < len(v.log.witnesses) {
		return
	}
	size := openCheckpoint(v.log.t, signed, v.log.key).N
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.sizes); n == 0 || size > v.sizes[n-1] {
		v.sizes, v.times = append(v.sizes, size), append(v.times, time.Now())
	}
}

// delays waits until all answers since a time are witnessed, and returns how long each took
// from the time of its record, which is before it is committed; the shortest first.
func (v *watched) delays(since time.Time) (all []time.Duration) {
	t := v.log.t
	t.Helper()
	var batches, last int64
	read := func(sql string, into ...any) {
		if err := v.log.w.pool.QueryRow(t.Context(), sql, since).Scan(into...); err != nil {
			t.Fatal(err)
		}
	}
	read(`SELECT count(*) FROM journal_batch WHERE at >= $1`, &batches)
	process.Until(t, "all batches are in the log", func() bool {
		var logged int64
		read(`SELECT count(*), coalesce(max(idx), 0) FROM log_entry WHERE at >= $1 AND kind = 1`, &logged, &last)
		return logged >= batches
	})
	process.Until(t, "all of it is witnessed", func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return len(v.sizes) > 0 && v.sizes[len(v.sizes)-1] > last
	})
	v.stop()
	rows := must(v.log.w.pool.Query(t.Context(), `SELECT l.idx, b.at, b.count FROM journal_batch b JOIN log_entry l ON (l.epoch, l.n, l.at) = (b.epoch, b.n, b.at) WHERE b.at >= $1`, since))(t)
	var idx int64
	var at time.Time
	var count int
	_, err := pgx.ForEachRow(rows, []any{&idx, &at, &count}, func() error {
		place, _ := slices.BinarySearch(v.sizes, idx+1)
		for range count {
			all = append(all, v.times[place].Sub(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
