package filejob

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// check reads the file, counts its rows, spends the budgets, all of it or nothing, and holds
// the file if it looks like a scan.
func (r *jobRun) check(ctx context.Context) error {
	reader, closeAll, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	var numbers []phone.Number
	var rejected int64
	rows := make([]linefile.Row, checkRows)
	for {
		started := time.Now()
		n, refused, err := reader.Next(rows)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for i := range rows[:n] {
			numbers = append(numbers, rows[i].Number)
		}
		if rejected += int64(len(refused)); int64(len(numbers))+rejected > r.MaxRows {
			return fault.New(fault.PayloadTooLarge, "The file has more than "+strconv.FormatInt(r.MaxRows, 10)+" rows. Send it in parts.")
		}
		if most := 2 * r.MaxRows; reader.Place() > most {
			return fault.New(fault.PayloadTooLarge, "The file has more than "+strconv.FormatInt(most, 10)+" lines, most of them empty. Leave out empty lines.")
		}
		if err := r.turns.Do(ctx, time.Since(started), ctx.Err); err != nil {
			return err
		}
	}
	c, err := r.caller(ctx)
	if err != nil {
		return err
	}
	if err := r.checkStopped(&c); err != nil {
		return err
	}
	return r.admit(ctx, &c, numbers, int64(len(numbers))+rejected)
}

func (r *jobRun) checkStopped(c *Caller) error {
	if r.job.Owner.Mode != "live" {
		return nil
	}
	return r.Guard.CheckStopped(r.job.Owner.Entity, c.Budget)
}

// answer answers the rows after those that are recorded, chunk by chunk.
func (r *jobRun) answer(ctx context.Context) error {
	reader, closeAll, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	if r.job.place > 0 {
		if err := reader.Skip(r.job.place); err != nil {
			return err
		}
	}
	rows := r.buffer()
	for {
		started := time.Now()
		n, refused, err := reader.Next(rows)
		if errors.Is(err, io.EOF) {
			return pg.InTx(ctx, r.Pool, func(tx pg.Tx) error { return change(ctx, tx, &r.job, `state = $4`, Writing) })
		}
		if err != nil {
			return err
		}
		if n == 0 && len(refused) == 0 {
			continue // empty lines, which belong to the next chunk
		}
		c := chunk{rows: rows[:n], rejected: int64(len(refused)), place: reader.Place()}
		if err := r.turns.Do(ctx, time.Since(started), func() error { return r.record(ctx, &c) }); err != nil {
			return err
		}
	}
}

// chunk is the part of a file that is recorded in one transaction.
type chunk struct {
	rows     []linefile.Row
	rejected int64
	place    int64 // the line of the file after it
}

// record answers and records a chunk, and that the job has come so far: both or neither.
func (r *jobRun) record(ctx context.Context, c *chunk) error {
	ctx, cancel := context.WithTimeout(ctx, ChunkTime)
	defer cancel()
	who, err := r.caller(ctx)
	if err != nil {
		return err
	}
	if err := r.checkStopped(&who); err != nil {
		return err
	}
	requests := r.requests(c.rows, &who)
	unanswered, reasons := []int64{}, []string{}
	next := r.job
	err = r.writeBatch(ctx, func(from pg.DB) ([]record.Entry, error) {
		entries, errs, err := r.Verifier.AnswerIn(ctx, from, requests)
		for i, problem := range errs {
			if problem != nil {
				unanswered, reasons = append(unanswered, c.rows[i].Place), append(reasons, string(fault.CodeOf(problem)))
			}
		}
		return entries, err
	}, func(tx pg.Tx, b *journal.Prepared) error {
		var epoch, n *int64
		var at *time.Time
		next.place = c.place
		if b != nil {
			epoch, n, at = &b.Epoch, &b.N, &b.At
			next.Answered += int64(len(b.Entries))
		}
		next.Rejected += c.rejected + int64(len(unanswered))
		if err := change(ctx, tx, &r.job, `place = $4, answered = $5, rejected = $6`, next.place, next.Answered, next.Rejected); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO file_job_chunk (job, place, epoch, n, at, unanswered, reasons) VALUES ($1, $2, $3, $4, $5, $6, $7)`, r.job.ID, c.place, epoch, n, at, unanswered, reasons)
		return fault.Wrap(err, "filejob: save a chunk")
	})
	if err != nil {
		return err
	}
	if r.Observe.Rows != nil {
		r.Observe.Rows(next.Answered-r.job.Answered, next.Rejected-r.job.Rejected)
	}
	r.job = next
	return nil
}

// requests returns the rows as requests of the caller. The correlator of each record is
// the id of the job.
func (r *jobRun) requests(rows []linefile.Row, who *Caller) []verify.Request {
	requests := make([]verify.Request, len(rows))
	for i := range rows {
		asked := &rows[i].Asked
		requests[i] = verify.Request{
			Entity: who.Entity, Key: r.job.Key, Mode: who.Mode, Number: rows[i].Number, RawNumber: asked.Sent, Since: asked.Since, ExternalID: asked.ExternalID,
			Purpose: who.Purpose, PurposeText: who.PurposeText, Correlator: r.job.ID.String(),
		}
	}
	return requests
}
