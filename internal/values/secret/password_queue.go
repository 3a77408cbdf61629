package secret

import (
	"context"
	"slices"
	"sync"
)

// Caller says for whom a password is processed, so that a flood keeps nobody else out.
type Caller struct {
	// Known is true if the device or the session is known. Such callers and all others take turns, so
	// that strangers, however many, delay one of them by no more than one password each.
	Known bool
	// Network is where the request comes from. Networks take turns, too.
	Network string
}

// queue hands out the slots in which passwords are processed. A caller waits in the line of its
// network; if too many wait, the last one of the longest line is sent away.
type queue struct {
	slots, places int // passwords processed at once, and callers of a kind that may wait

	mu    sync.Mutex
	taken int
	kinds [2]kind // strangers, and known callers
	last  int     // the kind that was served last
}

type kind struct {
	waiting int
	lines   []*networkLine // in the order of their turns; none is empty
}

type networkLine struct {
	network string
	callers []chan bool // each receives one value: true with a slot, false if it is sent away
}

func newQueue(slots, places int) *queue { return &queue{slots: slots, places: places} }

// enter waits for a slot. It returns false if the queue is full, and when ctx ends.
func (q *queue) enter(ctx context.Context, c Caller) bool {
	turn, waits := q.join(c)
	if !waits {
		return turn != nil
	}
	select {
	case admitted := <-turn:
		return admitted
	case <-ctx.Done():
		if q.abandon(c, turn) {
			return false
		}
		if <-turn { // it had just been given a slot
			q.leave()
		}
		return false
	}
}

// join takes a free slot or a place in a line. Without either, turn is nil.
func (q *queue) join(c Caller) (turn chan bool, waits bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	turn = make(chan bool, 1)
	if q.taken < q.slots {
		q.taken++
		return turn, false
	}
	k := q.kind(c)
	own := k.line(c.Network)
	if k.waiting >= q.places {
		longest := slices.MaxFunc(append([]*networkLine{{}}, k.lines...), func(a, b *networkLine) int { return len(a.callers) - len(b.callers) })
		if len(longest.callers) <= own.length()+1 {
			return nil, false
		}
		last := len(longest.callers) - 1
		longest.callers[last] <- false
		longest.callers = longest.callers[:last]
		k.waiting--
	}
	if own == nil {
		own = &networkLine{network: c.Network}
		k.lines = append(k.lines, own)
	}
	own.callers = append(own.callers, turn)
	k.waiting++
	return turn, true
}

// leave gives a slot back, which the next caller gets.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for range q.kinds {
		q.last = 1 - q.last
		k := &q.kinds[q.last]
		if len(k.lines) == 0 {
			continue
		}
		l := k.lines[0]
		k.lines = k.lines[1:]
		l.callers[0] <- true
		if l.callers = l.callers[1:]; len(l.callers) > 0 {
			k.lines = append(k.lines, l)
		}
		k.waiting--
		return
	}
	q.taken--
}

// abandon takes a caller out of its line, or returns false if it is not there any more.
func (q *queue) abandon(c Caller, turn chan bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.kind(c)
	l := k.line(c.Network)
	if l == nil || !slices.Contains(l.callers, turn) {
		return false
	}
	l.callers = slices.DeleteFunc(l.callers, func(other chan bool) bool { return other == turn })
	if len(l.callers) == 0 {
		k.lines = slices.DeleteFunc(k.lines, func(other *networkLine) bool { return other == l })
	}
	k.waiting--
	return true
}

// counts returns how many passwords are processed, and how many callers wait.
func (q *queue) counts() (taken, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken, q.kinds[0].waiting + q.kinds[1].waiting
}

func (q *queue) kind(c Caller) *kind {
	if c.Known {
		return &q.kinds[1]
	}
	return &q.kinds[0]
}

func (k *kind) line(network string) *networkLine {
	if i := slices.IndexFunc(k.lines, func(l *networkLine) bool { return l.network == network }); i >= 0 {
		return k.lines[i]
	}
	return nil
}

func (l *networkLine) length() int {
	if l == nil {
		return 0
	}
	return len(l.callers)
}
