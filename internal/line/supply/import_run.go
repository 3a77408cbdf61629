package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Source is where the rows of an import come from.
type Source struct {
	Open func() (io.ReadCloser, error)

	chunk int          // rows in one transaction; 0 means chunkAPI or chunkCLI
	turns *pause.Turns // of the imports in the service; nil means that the run neither waits nor pauses
}

// How many rows are applied in one transaction, by the import's source. In the
// service chunks are small, because other imports and requests wait for them.
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
	seen         *phone.Set // the numbers of a snapshot so far
	unreadable   *phone.Set // numbers whose row was refused for its form; they are not missing
	lastSnapshot time.Time  // asOf of the network's last applied snapshot
	runningLines int64      // running tenures of the network when the run started
	planNumbers  int64      // numbers of the numbering plan, of all networks
	progressAt   time.Time  // when onProgress was called last

	examples *filerows.Examples // of what the check has found, for a file that is held

	loadsAhead    bool                                   // numbers are loaded while the chunk before is written
	appliedChunks atomic.Int64                           // how many this run has committed; the reading goroutine reads it
	recentChanges [4]map[phone.Number]*linechange.Change // of the chunks applied last; more than are read ahead
}

func (r *importRun) chunkSize() int {
	switch {
	case r.src.chunk > 0:
		return r.src.chunk
	case r.im.Source == "cli":
		return chunkCLI
	default:
		return chunkAPI
	}
}

// Run runs an import until it is finished or held, and returns it. The run can be
// stopped at any moment, by ctx or by killing the process: the next run resumes
// after the last committed chunk. OnProgress, if it is not nil, is called about
// once a second.
func (s *Service) Run(ctx context.Context, uid uuid.UUID, src Source, onProgress func(Import)) (Import, error) {
	return s.run(ctx, uid, src, onProgress, &pg.SessionLocks{Pool: s.Pool})
}

func (s *Service) run(ctx context.Context, uid uuid.UUID, src Source, onProgress func(Import), locks *pg.SessionLocks) (Import, error) {
	unlock, err := lockImport(ctx, locks, uid)
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

// lockImport keeps an import from being run by two processes. If the lock is lost during
// the run, saveProgress and setState notice when another process has continued it.
func lockImport(ctx context.Context, locks *pg.SessionLocks, uid uuid.UUID) (unlock func(), err error) {
	unlock, err = locks.Lock(ctx, "lineproof import "+uid.String())
	if errors.Is(err, pg.ErrLocked) {
		return nil, errBusy
	}
	return unlock, err
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
		if err := r.checkInTime(ctx); err != nil {
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
	r.planNumbers = r.countPlanNumbers()
	if r.lastSnapshot, err = lastSnapshot(ctx, s.Pool, r.im.Network); err != nil {
		return err
	}
	r.supplier = &resolvedSupplier{
		Supplier: Supplier{Authorities: []line.Authority{r.im.Authority}, Network: r.rules.plan.Code(r.im.Network), Client: r.im.client.UUID},
		network:  r.im.Network, supplierIDs: map[line.Authority]int32{r.im.Authority: r.im.supplier}, //nolint:exhaustive // an import has one
	}
	err = s.Pool.QueryRow(ctx, `SELECT coalesce((SELECT lines FROM network_lines WHERE network = $1), 0)`, r.im.Network).Scan(&r.runningLines)
	if err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	return nil
}
