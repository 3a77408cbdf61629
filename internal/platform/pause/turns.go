// This part of the package lets long work in the service happen piece by piece, in fair turns, and
// leaves time to requests.

package pause

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
)

// maxCharged is the longest time that is charged for work outside a turn. Reading
// a chunk takes a few milliseconds; when it takes longer, it mostly waits for the
// store of files, and the imports of others must not wait for that.
const maxCharged = 200 * time.Millisecond

// maxTurn is how long others wait for the end of a turn. A chunk takes a few tens of
// milliseconds; one that takes longer waits for a lock, or has thousands of events
// about one number.
const maxTurn = 250 * time.Millisecond

// Turns lets the files of a process be worked on one chunk at a time, in the order in
// which they ask, so that a small file is not delayed by a large one. After each turn it
// pauses for a share of the time that the work took, and leaves it to requests. After
// maxTurn the next turn begins although the work of this one goes on. A nil Turns neither
// waits nor pauses.
type Turns struct {
	turn  *semaphore.Weighted
	pause float64
}

// NewTurns returns turns of which nobody has one. With a pause of 1 all work together takes half
// of the time of a core.
func NewTurns(pause float64) *Turns { return &Turns{turn: semaphore.NewWeighted(1), pause: pause} }

// Do waits for a turn and runs fn in it. Outside is how long the caller has worked
// on the chunk outside a turn, for instance to read it. The next turn begins when
// the pause is over; the caller need not wait for that.
func (t *Turns) Do(ctx context.Context, outside time.Duration, fn func() error) error {
	if t == nil {
		return fn()
	}
	if err := t.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	started, release := time.Now(), func() { t.turn.Release(1) }
	overtime := time.AfterFunc(maxTurn, release)
	err := fn()
	// What was done outside a turn counts once for the work itself, during which others may
	// have worked too, and then for its pause, like the rest.
	outside = min(outside, maxCharged)
	rest := outside + time.Duration(t.pause*float64(time.Since(started)+outside))
	if overtime.Stop() {
		time.AfterFunc(rest, release)
	} else if err == nil {
		For(ctx, rest) // the others work, so only this one pauses
	}
	return err
}
