package pause

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// TurnsByKey lets only so many do something for one key, such as an organisation, at once. The
// others of that key wait, and nobody of another key waits for them. A nil ByKey lets
// everybody in.
type TurnsByKey struct {
	Most int // 0 means one

	mu     sync.Mutex
	queues map[uuid.UUID]*queue
}

type queue struct {
	slots chan struct{}
	users int // those that are in, and those that wait
}

// Enter waits until there is room for the key. After a nil error the caller calls leave.
func (b *TurnsByKey) Enter(ctx context.Context, key uuid.UUID) (leave func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	q := b.join(key)
	select {
	case q.slots <- struct{}{}:
		return func() { <-q.slots; b.quit(key, q) }, nil
	case <-ctx.Done():
		b.quit(key, q)
		return nil, ctx.Err()
	}
}

func (b *TurnsByKey) join(key uuid.UUID) *queue {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queues == nil {
		b.queues = make(map[uuid.UUID]*queue)
	}
	q := b.queues[key]
	if q == nil {
		q = &queue{slots: make(chan struct{}, max(b.Most, 1))}
		b.queues[key] = q
	}
	q.users++
	return q
}

func (b *TurnsByKey) quit(key uuid.UUID, q *queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(b.queues, key)
	}
}
