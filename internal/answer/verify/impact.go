package verify

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Correction selects the reports whose effect on past answers is looked for: one
// event, a whole imported file, or all that was reported in a period.
type Correction struct {
	Seq      int64     // of an event
	Import   uuid.UUID // of a file
	From, To time.Time // reported from, and before
	// Numbers selects the events about some numbers that were reported from From on. The
	// answers are compared with everything that is known now. Baselines are left out.
	Numbers []int64
	// NotBefore leaves out earlier answers; zero for none.
	NotBefore time.Time
}

// Difference is a past answer that would have been different if everything that
// is known now had been known then.
type Difference struct {
	RequestID  uuid.UUID
	At         time.Time
	Number     int64
	Version    int64     // how many events about the number it was recomputed by
	Entity     uuid.UUID // that received the answer
	Key        uuid.UUID
	Purpose    string   // of the key
	Options    string   // what was requested beyond the number, with the since
	Answered   Said     // as recorded
	Recomputed Said     // by what is known now
	Parts      []string // in which the two differ: status, network, and members of the extra
}

// ImpactResult is the result of [ImpactFinder.Find].
type ImpactResult struct {
	Differences  []Difference // by time
	Same         []Difference // compared, and the same; only with KeepSame
	Numbers      int          // that the events of the correction are about
	Records      int64        // of the journal that were read
	Compared     int64        // answers that the correction concerns
	NotDerivable int64        // answers that cannot be computed again; see [Derive]
}

// ImpactFinder finds the past answers that a correction or a late report would have
// changed. docs/explanation/evidence.md defines what that means.
type ImpactFinder struct {
	Pool       *pgxpool.Pool
	Files      blob.Store // has the archives of the journal
	Lines      *linestore.Resolver
	OnProgress func(records int64) // how many records were read; may be nil
	KeepSame   bool                // also return the answers that do not differ
	Workers    int                 // compare answers at the same time; 0 for one on each core
}

// ErrNoEvent reports an event that does not exist.
var ErrNoEvent = fault.New(fault.NotFound, "There is no such event. The history of a number shows the events and their numbers.")

// answersPerBatch is for how many answers the histories are read at once.
const answersPerBatch = 5_000

// Find returns the answers that a correction would have changed. It reads the
// journal once, and computes both forms of each answer that the correction may
// concern on all cores. In memory it keeps 16 bytes for each number of the
// correction, and the differences.
func (f *ImpactFinder) Find(ctx context.Context, c Correction) (ImpactResult, error) {
	chosen, err := f.choose(ctx, c)
	if err != nil || len(chosen.numbers) == 0 && len(chosen.baselines) == 0 {
		return ImpactResult{}, err
	}
	run := &impactRun{finder: f, selection: chosen}
	run.result.Numbers = len(chosen.numbers)
	if run.coverage, err = linestore.ReadCoverageHistory(ctx, f.Pool); err != nil {
		return ImpactResult{}, err
	}
	versions, err := policy.History(ctx, f.Pool)
	if err != nil {
		return ImpactResult{}, err
	}
	run.terms = line.TermsOf(versions)
	if err := run.search(ctx); err != nil {
		return ImpactResult{}, err
	}
	slices.SortFunc(run.result.Differences, func(a, b Difference) int {
		return cmp.Or(a.At.Compare(b.At), slices.Compare(a.RequestID[:], b.RequestID[:]))
	})
	return run.result, nil
}

// impactRun is one run of an ImpactFinder.
type impactRun struct {
	*selection

	finder   *ImpactFinder
	coverage *linestore.CoverageHistory
	terms    line.TermsAt

	mu     sync.Mutex
	result ImpactResult
}

// search reads the journal and compares what it finds, in batches.
func (r *impactRun) search(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(r.finder.Workers, runtime.GOMAXPROCS(0)))
	batch := make([]record.Entry, 0, answersPerBatch)
	send := func() {
		full := batch
		group.Go(func() error { return r.compare(ctx, full) })
		batch = make([]record.Entry, 0, answersPerBatch)
	}
	s := journal.Search{
		Pool: r.finder.Pool, Files: r.finder.Files, From: r.from, To: r.to, Match: r.mayConcern,
		OnProgress: func(records int64) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.result.Records = max(r.result.Records, records); r.finder.OnProgress != nil {
				r.finder.OnProgress(r.result.Records)
			}
		},
	}
	if len(r.baselines) == 0 {
		s.NumbersOn = r.numbersOn
	}
	err := s.Run(ctx, func(e *record.Entry) error {
		if r.inPeriod(e) {
			batch = append(batch, *e)
		}
		if len(batch) == answersPerBatch {
			send()
		}
		return ctx.Err()
	})
	if err == nil {
		send()
	}
	if failed := group.Wait(); failed != nil {
		return failed
	}
	return err
}
