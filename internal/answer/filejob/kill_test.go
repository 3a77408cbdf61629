package filejob_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/evidence/journal"
)

// However often a job is stopped, and its connections cut in the middle of a transaction
// or of a commit, every row has one record and one line, and none has two.
func TestKilledJobRecordsEveryRowOnce(t *testing.T) {
	t.Parallel()
	const rows = 2_000
	e := newEnv(t, 100)
	e.SetChunk(25)
	id := e.send(fileOf(rows))
	random := rand.New(rand.NewPCG(1, 2))
	stops, cuts := 0, 0
	for start := time.Now(); e.job(id).State.Open() && time.Since(start) < time.Minute; stops++ {
		ctx, kill := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			e.Run(ctx, slog.New(slog.DiscardHandler))
		}()
		for range 1 + random.IntN(3) {
			<-time.After(time.Duration(random.IntN(120)) * time.Millisecond)
			if random.IntN(2) == 0 {
				cuts++
				e.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename <> 'postgres' AND random() < 0.5`)
			}
		}
		kill()
		<-ended
	}
	j := e.finish(id)
	if j.State != filejob.Done || j.Rows != rows || j.Answered != rows {
		t.Fatalf("the job: %+v", j)
	}
	if all, different := e.records(id); all != rows || different != rows {
		t.Errorf("%d records of %d different rows, want %d", all, different, rows)
	}
	lines := e.result(id)
	if len(lines) != rows {
		t.Fatalf("the result has %d lines, want %d", len(lines), rows)
	}
	for i, l := range lines {
		entry, err := journal.Get(t.Context(), e.Pool, uuid.MustParse(l["requestId"]))
		if err != nil || entry.ExternalID != "row-"+strconv.Itoa(i) || l["externalId"] != entry.ExternalID || l["line"] != strconv.Itoa(i+2) {
			t.Fatalf("line %d is %v, its record %+v, %v", i, l, entry, err)
		}
	}
	if stops < 2 || cuts == 0 {
		t.Errorf("stopped %d times, cut %d times: the test shows nothing", stops, cuts)
	}
}
