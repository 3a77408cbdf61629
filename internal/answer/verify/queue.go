package verify

import (
	"time"

	"github.com/google/uuid"
)

// pending is one request that waits for its answer.
type pending struct {
	request   Request
	answer    Answer
	place     int // of the answer's record in its batch
	err       error
	deadline  time.Time
	done      chan struct{} // closed when answer or err is set
	abandoned bool          // its caller no longer waits
	next      *pending      // the one behind it in its lane
}

func newPending(r Request, deadline time.Time) *pending {
	return &pending{request: r, deadline: deadline, done: make(chan struct{})}
}

// fail ends the request with an error.
func (p *pending) fail(err error) {
	p.err = err
	close(p.done)
}

// lane holds the pending requests of one entity, first in, first out.
type lane struct {
	entity     uuid.UUID
	head, tail *pending
	size       int
}

// queue has one lane for each entity with pending requests. The lanes are served
// round-robin, so that a burst of one entity delays only that entity.
type queue struct {
	lanes map[uuid.UUID]*lane
	order []*lane // in which they are served
	next  int     // index into order of the lane to serve next
	size  int
}

// push appends a request to the lane of its entity.
func (q *queue) push(p *pending) {
	l := q.lanes[p.request.Entity]
	if l == nil {
		if q.lanes == nil {
			q.lanes = make(map[uuid.UUID]*lane)
		}
		l = &lane{entity: p.request.Entity}
		q.lanes[l.entity] = l
		q.order = append(q.order, l)
	}
	if l.tail == nil {
		l.head = p
	} else {
		l.tail.next = p
	}
	l.tail = p
	l.size++
	q.size++
}

// take removes and returns up to limit requests, one from each lane in turn. It
// drops abandoned requests.
func (q *queue) take(limit int) []*pending {
	batch := make([]*pending, 0, min(limit, q.size))
	for len(batch) < limit && q.size > 0 {
		if q.next >= len(q.order) {
			q.next = 0
		}
		l := q.order[q.next]
		p := l.head
		l.head, p.next = p.next, nil
		l.size--
		q.size--
		if l.head == nil {
			delete(q.lanes, l.entity)
			q.order = append(q.order[:q.next], q.order[q.next+1:]...)
		} else {
			q.next++
		}
		if !p.abandoned {
			batch = append(batch, p)
		}
	}
	return batch
}

// evictFor removes and returns the newest request of the longest lane, to make
// place for n new requests of an entity. It returns nil when the entity's own
// lane would become at least as long as the longest one: then the entity has its
// fair share of the queue already.
func (q *queue) evictFor(entity uuid.UUID, n int) *pending {
	var longest *lane
	for _, l := range q.order {
		if longest == nil || l.size > longest.size {
			longest = l
		}
	}
	own := n
	if l := q.lanes[entity]; l != nil {
		own += l.size
	}
	if longest == nil || own >= longest.size {
		return nil
	}
	// own is at least 1, so the longest lane has two requests or more.
	secondLast := longest.head
	for secondLast.next != longest.tail {
		secondLast = secondLast.next
	}
	evicted := longest.tail
	secondLast.next, longest.tail = nil, secondLast
	longest.size--
	q.size--
	return evicted
}
