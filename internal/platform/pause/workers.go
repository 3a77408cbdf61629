package pause

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// pollInterval is how long Workers wait between two looks for work.
const pollInterval = 500 * time.Millisecond

// Workers do long pieces of work, such as files, each in a goroutine of its own.
type Workers struct {
	Most  int           // pieces at the same time; the others wait for one of them to end
	Retry time.Duration // how long to wait when the look for work failed
	// Do does one piece. One that is not finished is begun again after a time at the earliest.
	Do func(ctx context.Context, id uuid.UUID) (rest time.Duration)

	all     sync.WaitGroup
	mu      sync.Mutex
	running map[uuid.UUID]bool
	rested  map[uuid.UUID]time.Time // when a piece may be begun again
}

// Run calls look again and again until ctx ends, and returns when all work has stopped. Look
// finds the work that waits and calls [Workers.Start] with it. Failed is called with its errors.
func (w *Workers) Run(ctx context.Context, look func(context.Context) error, failed func(error)) {
	defer w.Wait()
	for ctx.Err() == nil {
		if err := look(ctx); err != nil && ctx.Err() == nil {
			failed(err)
			For(ctx, w.Retry)
		}
		For(ctx, pollInterval)
	}
}

// Start begins what neither runs nor rests, in this order and as far as there is room.
func (w *Workers) Start(ctx context.Context, waiting []uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == nil {
		w.running, w.rested = map[uuid.UUID]bool{}, map[uuid.UUID]time.Time{}
	}
	maps.DeleteFunc(w.rested, func(id uuid.UUID, _ time.Time) bool { return !slices.Contains(waiting, id) })
	for _, id := range waiting {
		if len(w.running) >= w.Most {
			return
		}
		if w.running[id] || time.Now().Before(w.rested[id]) {
			continue
		}
		w.running[id] = true
		w.all.Go(func() {
			rest := w.Do(ctx, id)
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.running, id)
			w.rested[id] = time.Now().Add(rest)
		})
	}
}

// Wait waits until all that was started has ended.
func (w *Workers) Wait() { w.all.Wait() }

// Running reports whether a piece is being done.
func (w *Workers) Running(id uuid.UUID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[id]
}

// Rested returns when a piece that was done in vain may be done again; zero if it was not.
func (w *Workers) Rested(id uuid.UUID) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rested[id]
}
