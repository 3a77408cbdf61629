package filejob

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// recorded is the next chunks with their answers that are not written yet.
type recorded struct {
	place      int64
	answers    []answer
	unanswered map[int64]string
}

// chunksRead is how many chunks are read together. The journal finds a batch by its time, and
// reads what is near it in time, too: much more than one chunk.
const chunksRead = 20

// readChunks reads the chunks that begin at a place, and their records.
func (r *jobRun) readChunks(ctx context.Context, place int64) (c recorded, err error) {
	var (
		b           batches
		key         batchKey
		lines       []int64
		reasons     []string
		destination = []any{&c.place, &key.epoch, &key.n, &key.at, &lines, &reasons}
	)
	c.unanswered = make(map[int64]string)
	err = pg.ForEach(ctx, r.Pool, destination, func() error {
		for i, line := range lines {
			c.unanswered[line] = reasons[i]
		}
		b.add(key)
		return nil
	}, `SELECT place, coalesce(epoch, 0), coalesce(n, 0), coalesce(at, 'epoch'), unanswered, reasons FROM file_job_chunk WHERE job = $1 AND place > $2 ORDER BY place LIMIT $3`,
		r.job.ID, place, chunksRead)
	if err != nil {
		return c, fmt.Errorf("filejob: read chunks: %w", err)
	}
	if c.place == 0 {
		return c, errChanged
	}
	c.answers, err = r.readAnswers(ctx, &b)
	return c, err
}

// answer is the part of a record that is in the result.
type answer struct {
	number                                          int64
	requestID                                       uuid.UUID
	phoneNumber, status, network, externalID, extra string
	recordedAt                                      time.Time
	erased                                          bool // its number is no longer there
}

// batchKey is the key of a batch of the journal; it has no epoch for a chunk without records.
type batchKey struct {
	epoch, n int64
	at       time.Time
}

// batches are the keys of the batches of some chunks, and the time that they span.
type batches struct {
	epochs, ns  []int64
	first, last time.Time
}

func (b *batches) add(key batchKey) {
	if key.epoch == 0 {
		return
	}
	if len(b.ns) == 0 || key.at.Before(b.first) {
		b.first = key.at
	}
	if key.at.After(b.last) { // a clock may go back
		b.last = key.at
	}
	b.epochs, b.ns = append(b.epochs, key.epoch), append(b.ns, key.n)
}

// readAnswers returns the answers of batches, in the order of their rows.
func (r *jobRun) readAnswers(ctx context.Context, b *batches) ([]answer, error) {
	answers, err := pg.Collect(ctx, r.Pool, func(row pgx.CollectableRow) (a answer, err error) {
		err = row.Scan(&a.number, &a.requestID, &a.phoneNumber, &a.status, &a.network, &a.externalID, &a.extra, &a.recordedAt, &a.erased)
		return a, err
	}, `SELECT e.number, e.request_id, e.phone_number, e.status, e.mobile_network, e.external_id, e.extra, e.at, octet_length(e.nonce) > 16
		FROM journal_entry e JOIN unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS batch (epoch, n, place) ON e.epoch = batch.epoch AND e.n = batch.n
		WHERE e.at BETWEEN $3 AND $4 ORDER BY batch.place, e.idx`, b.epochs, b.ns, b.first, b.last)
	return answers, fault.Wrap(err, "filejob: read the records of chunks")
}
