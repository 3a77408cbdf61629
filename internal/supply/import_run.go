package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linechange"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/phone"
)

// pollInterval is how long RunImports waits between two searches for imports.
const pollInterval = 500 * time.Millisecond

// RunImports runs the imports that were sent to the API, one after the other,
// until ctx ends. Every node may call it: an import is run by a node that has its
// file, and by one process at a time. An import that a killed process left
// unfinished is resumed.
func (s *Service) RunImports(ctx context.Context, log *slog.Logger) {
	since := time.Time{} // the first round deletes the files of all finished imports
	deleted := map[uuid.UUID]bool{}
	for ctx.Err() == nil {
		if err := errors.Join(s.runWaiting(ctx, log), s.deleteFinishedFiles(ctx, since, deleted)); err == nil {
			since = s.now().Add(-time.Hour)
		} else if ctx.Err() == nil {
			log.LogAttrs(ctx, slog.LevelWarn, "imports could not be run or cleaned up, will retry", slog.Any("error", err))
			sleep(ctx, 5*time.Second)
		}
		sleep(ctx, pollInterval)
	}
}

// runWaiting runs every import that is waiting. One that fails does not stop the
// others.
func (s *Service) runWaiting(ctx context.Context, log *slog.Logger) error {
	waiting, err := s.apiImports(ctx, `state IN ('checking', 'applying')`)
	if err != nil {
		return err
	}
	var failed error
	for _, uid := range waiting {
		im, err := s.Run(ctx, uid, Source{Open: func() (io.ReadCloser, error) { return s.Files.Open(ctx, uid.String()) }}, nil)
		switch {
		case errors.Is(err, errBusy), errors.Is(err, blob.ErrNotFound):
			continue // another process runs it, or another node has its file
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		}
		log.LogAttrs(ctx, slog.LevelInfo, "import", slog.String("import", uid.String()), slog.String("state", im.State), slog.Int64("rows", im.Rows),
			slog.Int64("refused", im.Counts.Refused))
	}
	return failed
}

// deleteFinishedFiles deletes the files of imports that finished after a time,
// whether a run ended them here, staff did, or a process that was killed before
// it could delete the file. It adds them to deleted and skips those, because each
// of them would otherwise cost a request to the object store twice a second.
func (s *Service) deleteFinishedFiles(ctx context.Context, since time.Time, deleted map[uuid.UUID]bool) error {
	finished, err := s.apiImports(ctx, `state NOT IN ('checking', 'held', 'applying') AND finished_at >= $1`, since)
	if err != nil {
		return err
	}
	var failed error
	for _, uid := range finished {
		if deleted[uid] {
			continue
		}
		if err := s.Files.Delete(ctx, uid.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
			failed = errors.Join(failed, fmt.Errorf("supply: delete the file of a finished import: %w", err))
			continue
		}
		deleted[uid] = true
	}
	return failed
}

// apiImports lists the imports that were sent to the API and meet a condition.
func (s *Service) apiImports(ctx context.Context, where string, args ...any) ([]uuid.UUID, error) {
	rows, err := s.Pool.Query(ctx, `SELECT uid FROM supply_import WHERE source = 'api' AND `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: find imports: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("supply: find imports: %w", err)
	}
	return list, nil
}

// sleep waits for a duration, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Source is where the rows of an import come from.
type Source struct {
	Open func() (io.ReadCloser, error)

	chunk int // rows in one transaction; 0 means chunkAPI or chunkCLI
}

// How many rows are applied in one transaction, by the import's source. In the
// service chunks are small, and after each the run pauses for as long as the
// chunk took, because the same cores answer requests.
const (
	chunkAPI = 1_000
	chunkCLI = 100_000
)

// importRun is one run of an import: it checks or applies the file, until the
// import is finished or held, or the run is stopped.
type importRun struct {
	service    *Service
	im         Import
	src        Source
	rules      rules
	supplier   *resolvedSupplier
	onProgress func(Import)

	reader       *linefile.Reader
	seen         *numberSet   // the numbers of a snapshot so far
	unreadable   *numberSet   // numbers whose row was refused for its form; they are not missing
	lastSnapshot time.Time    // asOf of the network's last applied snapshot
	runningLines int64        // running tenures of the network when the run started
	progressAt   time.Time    // when onProgress was called last
	newestEvent  line.Instant // newest effective time of the stored events

	loadsAhead    bool                                   // numbers are loaded while the chunk before is written
	appliedChunks atomic.Int64                           // how many this run has committed; the reading goroutine reads it
	recentChanges [4]map[phone.Number]*linechange.Change // of the chunks applied last; more than are read ahead
}

func (r *importRun) chunkSize() int {
	switch {
	case r.src.chunk > 0:
		return r.src.chunk
	case r.im.Source == "api":
		return chunkAPI
	default:
		return chunkCLI
	}
}

// Run runs an import until it is finished or held, and returns it. The run can be
// stopped at any moment, by ctx or by killing the process: the next run resumes
// after the last committed chunk. OnProgress, if it is not nil, is called about
// once a second.
func (s *Service) Run(ctx context.Context, uid uuid.UUID, src Source, onProgress func(Import)) (Import, error) {
	unlock, err := s.lockImport(ctx, uid)
	if err != nil {
		return Import{}, err
	}
	defer unlock()
	if onProgress == nil {
		onProgress = func(Import) {}
	}
	r := &importRun{service: s, src: src, onProgress: onProgress}
	if r.im, err = s.Import(ctx, uid); err != nil {
		return Import{}, err
	}
	err = r.run(ctx)
	if f, ok := errors.AsType[*fault.Error](err); ok && rejectsFile(f) && r.im.Open() {
		err = r.reject(ctx, f.Message)
	}
	if err != nil {
		return r.im, err
	}
	return s.Import(ctx, uid)
}

// lockImport keeps an import from being run by two processes. The lock belongs to a
// session, so it ends with the process, however that ends.
func (s *Service) lockImport(ctx context.Context, uid uuid.UUID) (unlock func(), err error) {
	conn, err := s.Pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("supply: acquire a connection: %w", err)
	}
	var locked bool
	key := "lineproof import " + uid.String()
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`, key).Scan(&locked); err != nil {
		conn.Release()
		return nil, fmt.Errorf("supply: lock an import: %w", err)
	}
	if !locked {
		conn.Release()
		return nil, errBusy
	}
	return func() {
		defer conn.Release()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, key); err != nil {
			_ = conn.Conn().Close(ctx) // which unlocks, too
		}
	}, nil
}

// rejectsFile reports whether an error means that the file as a whole cannot be
// used; after any other error the import can be resumed.
func rejectsFile(err *fault.Error) bool {
	switch err.Code {
	case fault.InvalidArgument, fault.IncompatibleState, fault.PayloadTooLarge, fault.UnsupportedMediaType:
		return true
	default:
		return false
	}
}

func (r *importRun) run(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	switch {
	case r.im.State == Checking:
		if err := r.check(ctx); err != nil {
			return err
		}
	case r.im.State == Applying && len(r.im.fileDigest) > 0:
		if err := r.verifyFile(ctx); err != nil {
			return err
		}
	}
	if r.im.State == Applying {
		return r.apply(ctx)
	}
	return nil
}

// prepare reads what the run needs to know beside the file.
func (r *importRun) prepare(ctx context.Context) (err error) {
	s := r.service
	if r.rules, err = s.rulesAt(ctx, s.Pool, s.now()); err != nil {
		return err
	}
	if r.lastSnapshot, err = lastSnapshot(ctx, s.Pool, r.im.Network); err != nil {
		return err
	}
	r.supplier = &resolvedSupplier{
		Supplier: Supplier{Authorities: []line.Authority{line.Operator}, Network: r.rules.plan.Code(r.im.Network), Client: r.im.client.UUID},
		network:  r.im.Network, supplierIDs: map[line.Authority]int32{line.Operator: r.im.supplier}, //nolint:exhaustive // only operators send files
	}
	err = s.Pool.QueryRow(ctx, `SELECT coalesce((SELECT lines FROM network_lines WHERE network = $1), 0)`, r.im.Network).Scan(&r.runningLines)
	if err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	return nil
}
