package archivefile

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// maxWorkers bounds how many slices or parts of a day are in memory at once.
const maxWorkers = 8

func workers() int { return min(runtime.GOMAXPROCS(0), maxWorkers) }

// InOrder runs tasks on several cores, and passes their results on one by one, in the
// order in which the tasks were given.
type InOrder[T any] struct {
	group *errgroup.Group
	pass  func(T) error
	given int

	mu      sync.Mutex
	next    int       // the task whose result is passed on next
	waiting map[int]T // the results of later tasks
}

// NewInOrder returns a runner of tasks that passes their results to a function. The
// context of the tasks ends with the first error.
func NewInOrder[T any](ctx context.Context, pass func(T) error) (*InOrder[T], context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers())
	return &InOrder[T]{group: group, pass: pass, waiting: make(map[int]T)}, ctx
}

// Run gives a task to the next core that is free, and waits for one.
func (o *InOrder[T]) Run(task func() (T, error)) {
	place := o.given
	o.given++
	o.group.Go(func() error {
		result, err := task()
		if err != nil {
			return err
		}
		return o.finish(place, result)
	})
}

func (o *InOrder[T]) finish(place int, result T) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting[place] = result
	for {
		result, finished := o.waiting[o.next]
		if !finished {
			return nil
		}
		delete(o.waiting, o.next)
		o.next++
		if err := o.pass(result); err != nil {
			return err
		}
	}
}

// Wait returns when all results were passed on, or with the first error.
func (o *InOrder[T]) Wait() error { return o.group.Wait() }
