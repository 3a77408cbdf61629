package supply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Source is where the rows of an import come from.
type Source struct {
	Open func() (io.ReadCloser, error)
	Once bool // a pipe

	chunk int // rows of one transaction; 0 means as many as the import's source suggests
}

// How many rows one transaction takes. A running import goes on in chunks of
// the size that it began with. In the service they are small, and after each
// there is a rest as long as it took, because questions are being answered
// beside them on the same cores.
const (
	chunkAPI = 1_000
	chunkCLI = 100_000
)

// runner deals with one import.
type runner struct {
	desk  *Desk
	im    Import
	src   Source
	rules rules
	voice *voice
	watch func(Import)

	reader *linefile.Reader
	seen   *seen        // for a snapshot
	spoilt *seen        // numbers whose row is refused for its form: they are not missing
	last   time.Time    // of which the snapshot before speaks
	lines  int64        // running tenures of the network at the beginning
	told   time.Time    // when watch was called last
	newest line.Instant // effective time of the events that were kept

	ahead   bool                      // lines are fetched while the chunk before is written
	applied atomic.Int64              // chunks
	recent  [4]map[phone.Number]*work // the lines of the last ones; more than are read ahead
}

func (r *runner) chunk() int {
	switch {
	case r.src.chunk > 0:
		return r.src.chunk
	case r.im.Source == "api":
		return chunkAPI
	default:
		return chunkCLI
	}
}

// Run deals with an import until it is over or waits for staff, and returns how
// it stands. It can be stopped at any moment, by ctx or by a kill: run again, it
// goes on where the last committed chunk ends. Watch, if it is not nil, is told
// of progress.
func (d *Desk) Run(ctx context.Context, uid uuid.UUID, src Source, watch func(Import)) (Import, error) {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return Import{}, fmt.Errorf("supply: take a connection: %w", err)
	}
	defer conn.Release()
	// The lock is the connection's: it is gone with the process, however that ends.
	var mine bool
	key := "lineproof import " + uid.String()
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`, key).Scan(&mine); err != nil {
		return Import{}, fmt.Errorf("supply: lock an import: %w", err)
	}
	if !mine {
		return Import{}, errBusy
	}
	defer func() {
		unlock, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if _, err := conn.Exec(unlock, `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, key); err != nil {
			_ = conn.Conn().Close(unlock)
		}
	}()
	if watch == nil {
		watch = func(Import) {}
	}
	r := &runner{desk: d, src: src, watch: watch}
	if r.im, err = d.Import(ctx, uid); err != nil {
		return Import{}, err
	}
	err = r.run(ctx)
	if f, ok := errors.AsType[*fault.Error](err); ok && (f.Code == fault.InvalidArgument || f.Code == fault.IncompatibleState || f.Code == fault.PayloadTooLarge || f.Code == fault.UnsupportedMediaType) && r.im.Open() {
		err = r.reject(ctx, f.Message)
	}
	if err != nil {
		return r.im, err
	}
	return d.Import(ctx, uid)
}

func (r *runner) run(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	switch {
	case r.im.State == Checking:
		if err := r.check(ctx); err != nil {
			return err
		}
	case r.im.State == Applying && len(r.im.checked) > 0:
		if err := r.recognise(ctx); err != nil {
			return err
		}
	}
	if r.im.State == Applying {
		return r.apply(ctx)
	}
	return nil
}

// prepare reads the rules by which the import is judged.
func (r *runner) prepare(ctx context.Context) (err error) {
	d := r.desk
	if r.rules, err = d.rulesAt(ctx, d.Pool, d.now()); err != nil {
		return err
	}
	if r.last, err = lastSnapshot(ctx, d.Pool, r.im.Network); err != nil {
		return err
	}
	r.voice = &voice{
		Speaker: Speaker{Authorities: []line.Authority{line.Operator}, Network: r.rules.plan.Code(r.im.Network), Client: r.im.client.UUID},
		network: r.im.Network, supplier: map[line.Authority]int32{line.Operator: r.im.supplier}, //nolint:exhaustive // files are operators'
	}
	err = d.Pool.QueryRow(ctx, `SELECT coalesce((SELECT lines FROM supply_coverage WHERE network = $1), 0)`, r.im.Network).Scan(&r.lines)
	if err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	return nil
}

// open begins to read the file.
func (r *runner) open() (closeFile func(), err error) {
	in, err := r.src.Open()
	if err != nil {
		return nil, fmt.Errorf("supply: open the file: %w", err)
	}
	r.reader, err = linefile.Open(in, linefile.Options{Kind: r.im.Kind, Region: r.desk.Region, AsOf: r.im.AsOf, Now: r.rules.now})
	if err != nil {
		_ = in.Close() // nothing was written
		return nil, err
	}
	r.seen, r.spoilt = newSeen(), newSeen()
	return func() { _ = in.Close() }, nil
}

// recognise reads the file of an import that goes on. It must be the one that
// was checked: nothing of any other is applied.
func (r *runner) recognise(ctx context.Context) error {
	closeFile, err := r.open()
	if err != nil {
		return otherFile(err)
	}
	defer closeFile()
	defer func() { _ = r.reader.Close() }()
	for err == nil && ctx.Err() == nil {
		const far = 1 << 20
		err = r.reader.Skip(r.reader.Place() + far)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, _, err = r.reader.Next(make([]linefile.Row, 1)) // says how it ended
	if digest := r.reader.Digest(); errors.Is(err, io.EOF) && !bytes.Equal(digest[:], r.im.checked) {
		return errOtherFile
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return otherFile(err)
}

// otherFile is the error of a file that is refused where another one was read
// before.
func otherFile(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code != fault.Aborted {
		return errOtherFile.Because(err)
	}
	return err
}

// reject ends the import: the file as a whole is of no use.
func (r *runner) reject(ctx context.Context, why string) error {
	return r.settle(ctx, Rejected, why, nil)
}

// settle ends a phase that is not applying rows.
func (r *runner) settle(ctx context.Context, state, reason string, digest []byte) error {
	now := r.desk.now()
	over := state != Held && state != Applying
	c := &r.im.Counts
	err := r.desk.inLongTx(ctx, func(tx pg.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE supply_import SET state = $2, reason = $3, updated_at = $4, finished_at = CASE WHEN $5 THEN $4::timestamptz END,
			started_at = CASE WHEN $2 = 'applying' THEN NULL ELSE started_at END,
			rows = $6, added = $7, changed = $8, unchanged = $9, ended = $10, duplicates = $11, no_effect = $12, ported_out = $13, refused = $14,
			file_digest = coalesce($15, file_digest) WHERE id = $1 AND state = $16`,
			r.im.id, state, reason, now, over, r.im.Rows, c.Added, c.Changed, c.Unchanged, c.Ended, c.Duplicates, c.NoEffect, c.PortedOut, c.Refused, digest,
			r.im.State)
		if err != nil {
			return fmt.Errorf("supply: settle an import: %w", err)
		}
		if done.RowsAffected() == 0 {
			return errBusy
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.im.State, r.im.Reason, r.im.checked = state, reason, digest
	return nil
}

// progress tells whoever watches, and the table, how far the import is.
func (r *runner) progress(ctx context.Context, always bool) error {
	if !always && time.Since(r.told) < time.Second {
		return nil
	}
	r.told = time.Now()
	r.im.Updated = r.desk.now()
	r.watch(r.im)
	if r.im.State != Checking {
		return nil // written with the chunk
	}
	done, err := r.desk.Pool.Exec(ctx, `UPDATE supply_import SET rows = $2, updated_at = $3, started_at = coalesce(started_at, $3)
		WHERE id = $1 AND state = 'checking'`, r.im.id, r.im.Rows, r.im.Updated)
	if err != nil {
		return fmt.Errorf("supply: write progress: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errBusy
	}
	return nil
}

// finish closes an import whose rows are all applied: only now does the supply
// reach further.
func (r *runner) finish(ctx context.Context, digest []byte) error {
	now := r.desk.now()
	err := r.desk.inLongTx(ctx, func(tx pg.Tx) error {
		through, complete := r.im.AsOf, time.Time{}
		switch {
		case r.im.Kind == linefile.Snapshot:
			complete = r.im.AsOf
		case r.im.Rows > 0 && r.im.Rows == r.im.Counts.Refused:
			through = time.Time{} // every event was refused: nothing was supplied
		case through.IsZero() && r.newest != line.Never:
			through = r.newest.Time()
		case through.IsZero() && r.im.Rows == 0:
			through = now // nothing to report
		}
		if !through.IsZero() {
			if err := cover(ctx, tx, r.im.Network, complete, through, now); err != nil {
				return err
			}
		}
		done, err := tx.Exec(ctx, `UPDATE supply_import SET state = 'applied', phase = '', updated_at = $2, finished_at = $2, file_digest = $3
			WHERE id = $1 AND state = 'applying'`, r.im.id, now, digest)
		if err != nil {
			return fmt.Errorf("supply: finish an import: %w", err)
		}
		if done.RowsAffected() == 0 {
			return errBusy
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: audit.Actor{Kind: audit.System}, Action: audit.ImportApplied, Subject: r.im.ID})
	})
	if err != nil {
		return err
	}
	r.im.State = Finished
	return r.progress(ctx, true)
}
