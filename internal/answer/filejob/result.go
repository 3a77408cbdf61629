package filejob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/csvfile"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Columns are the columns of a result. They are part of the contract: further ones are
// added at the end.
var Columns = []string{
	"line", "phoneNumber", "status", "requestId", "mobileNetwork", "verificationTimestamp", "changedSince", "changes", "knownThrough", "externalId", "error", "column", "sinceUsed",
}

// phoneNumberColumn is the place of phoneNumber among them.
const phoneNumberColumn = 1

// erased is the error of a row whose record was erased before the result was written.
const erased = "ERASED"

// contractTime is the form of times in the API contract.
const contractTime = "2006-01-02T15:04:05.000Z"

// write writes the result from the journal, and ends the job. The sent file says which
// lines were rejected. A run that is stopped leaves nothing that can be read, and the next
// one starts again.
func (r *jobRun) write(ctx context.Context) error {
	key := r.job.resultName()
	if err := r.remove(ctx, key); err != nil { // an earlier run may have been stopped after it was written
		return err
	}
	pipe, to := io.Pipe()
	var writer sync.WaitGroup
	writer.Go(func() { _ = to.CloseWithError(r.writeAll(ctx, to)) })
	_, err := r.Files.Put(ctx, key.String(), pipe)
	_ = pipe.Close() // it never fails, and ends the writer if the store has not read everything
	if writer.Wait(); err != nil {
		return err
	}
	// Then the result may be read, although the outcome of a chunk, or of the last step, is unknown.
	if err := pg.Confirm(ctx, r.Pool); err != nil {
		return err
	}
	return pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		now := r.now()
		return change(ctx, tx, &r.job, `state = $4, result = $5, finished_at = $6, kept_until = $7`, Done, key, now, now.Add(r.Keep))
	})
}

// resultName returns the name of the result in the store, which is known before it is
// written, so that none is left without a job.
func (j *Job) resultName() uuid.UUID { return j.storeName("result") }

// storeName returns the name of a file of the job in the store. The owner of the job is part
// of it: a row in which somebody has changed the owner names no file.
func (j *Job) storeName(part string) uuid.UUID {
	return uuid.NewSHA1(j.ID, []byte(j.Owner.Entity.String()+" "+j.Owner.Mode+" "+part))
}

// writeAll writes the lines of all chunks, compressed.
func (r *jobRun) writeAll(ctx context.Context, to io.Writer) error {
	reader, closeAll, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer closeAll()
	z, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("filejob: compress: %w", err)
	}
	out := csvfile.NewProgramWriter(z, phoneNumberColumn)
	_ = out.Write(Columns) // Error returns what failed
	out.Flush()            // also if there are no rows
	if err := out.Error(); err != nil {
		return err
	}
	rows := r.buffer()
	for place := int64(0); place < r.job.place; {
		err := r.turns.Do(ctx, 0, func() error {
			c, err := r.readChunks(ctx, place)
			if err != nil {
				return err
			}
			place = c.place
			for reader.Place() < place {
				n, refused, err := reader.Next(rows[:min(int64(len(rows)), place-reader.Place())])
				if err != nil {
					return err
				}
				if err := c.writeLines(out, rows[:n], refused); err != nil {
					return err
				}
			}
			if len(c.answers) > 0 {
				return errMismatch
			}
			out.Flush()
			return out.Error()
		})
		if err != nil {
			return err
		}
	}
	return z.Close()
}

var errMismatch = errors.New("filejob: the records of a chunk are not those of its rows")

// writeLines writes the lines about some rows of the chunks, in the order of the file.
func (c *recorded) writeLines(out *csvfile.Writer, rows []linefile.Row, refused []linefile.Refusal) error {
	for len(rows)+len(refused) > 0 {
		if len(rows) == 0 || len(refused) > 0 && refused[0].Place < rows[0].Place {
			_ = out.Write(rejectedLine(refused[0].Place, refused[0].ExternalID, refused[0].Reason, refused[0].Field))
			refused = refused[1:]
			continue
		}
		row := &rows[0]
		rows = rows[1:]
		if reason, ok := c.unanswered[row.Place]; ok {
			_ = out.Write(rejectedLine(row.Place, row.Asked.ExternalID, reason, "number"))
			continue
		}
		if len(c.answers) == 0 {
			return errMismatch
		}
		a := &c.answers[0]
		c.answers = c.answers[1:]
		if !a.erased && (a.number != row.Number.Int() || a.externalID != row.Asked.ExternalID) {
			return errMismatch
		}
		line, err := a.line(row.Place)
		if err != nil {
			return err
		}
		_ = out.Write(line)
	}
	return nil // Error returns what failed
}

func rejectedLine(place int64, externalID, reason, column string) []string {
	line := make([]string, len(Columns))
	line[0], line[9], line[10], line[11] = strconv.FormatInt(place, 10), externalID, reason, column
	return line
}

// line returns the line about a row.
func (a *answer) line(place int64) ([]string, error) {
	line := []string{strconv.FormatInt(place, 10), a.phoneNumber, a.status, a.requestID.String(), a.network, a.recordedAt.UTC().Format(contractTime), "", "", "", a.externalID, "", "", ""}
	switch {
	case a.erased:
		line[10] = erased
	case a.extra != "":
		var extra struct {
			ChangedSince string
			Changes      []string
			KnownThrough string
			SinceUsed    string
		}
		if err := json.Unmarshal([]byte(a.extra), &extra); err != nil {
			return nil, fmt.Errorf("filejob: read the extra fields of a record: %w", err)
		}
		line[6], line[7], line[8], line[12] = extra.ChangedSince, strings.Join(extra.Changes, " "), extra.KnownThrough, extra.SinceUsed
	}
	return line, nil
}

var (
	errNoResult  = fault.New(fault.IncompatibleState, "This job has no result yet. Ask for the job until its state is done.")
	errEnded     = fault.New(fault.IncompatibleState, "This job was cancelled or has failed, so there is no result.")
	errDeleted   = fault.New(fault.Gone, "The result of this job was deleted: its time was over, or a number in it was erased. Send the file again.")
	errElsewhere = fault.New(fault.Unavailable, "Another node has the result. Send the request again.")
)

// Result returns the result of a job, CSV compressed with gzip. The caller closes it.
func (s *Service) Result(ctx context.Context, o Owner, id uuid.UUID) (io.ReadCloser, error) {
	j, err := s.Job(ctx, o, id)
	switch {
	case err != nil:
		return nil, err
	case j.State.Open():
		return nil, errNoResult
	case j.State != Done:
		return nil, errEnded
	case !j.HasResult():
		return nil, errDeleted
	}
	in, err := s.Files.Open(ctx, j.resultName().String())
	if errors.Is(err, blob.ErrNotFound) {
		return nil, errElsewhere.Because(err)
	}
	if err != nil {
		return nil, fmt.Errorf("filejob: open a result: %w", err)
	}
	return in, nil
}
