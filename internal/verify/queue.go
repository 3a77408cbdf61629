package verify

import (
	"time"

	"github.com/google/uuid"
)

// waiting is one question that waits for its answer.
type waiting struct {
	question Question
	answer   Answer
	err      error
	due      time.Time     // when its time is up
	done     chan struct{} // closed when answer or err is there
	left     bool          // its caller is gone
	next     *waiting      // behind it in the lane
}

// lane is what one entity waits for, first come first served.
type lane struct {
	entity     uuid.UUID
	head, tail *waiting
	size       int
}

// queue is a lane for each entity that waits. Lanes are served in turn, so that
// whoever asks a thousand questions at once makes nobody wait but itself.
type queue struct {
	lanes map[uuid.UUID]*lane
	turns []*lane // in the order in which they are served
	next  int     // whose turn it is
	size  int
}

// push puts w behind the other questions of its entity.
func (q *queue) push(w *waiting) {
	l := q.lanes[w.question.Entity]
	if l == nil {
		if q.lanes == nil {
			q.lanes = make(map[uuid.UUID]*lane)
		}
		l = &lane{entity: w.question.Entity}
		q.lanes[l.entity] = l
		q.turns = append(q.turns, l)
	}
	if l.tail == nil {
		l.head = w
	} else {
		l.tail.next = w
	}
	l.tail = w
	l.size++
	q.size++
}

// take returns up to most questions, one of each lane in turn, and forgets those
// whose callers are gone.
func (q *queue) take(most int) []*waiting {
	batch := make([]*waiting, 0, min(most, q.size))
	for len(batch) < most && q.size > 0 {
		if q.next >= len(q.turns) {
			q.next = 0
		}
		l := q.turns[q.next]
		w := l.head
		l.head, w.next = w.next, nil
		l.size--
		q.size--
		if l.head == nil {
			delete(q.lanes, l.entity)
			q.turns = append(q.turns[:q.next], q.turns[q.next+1:]...)
		} else {
			q.next++
		}
		if !w.left {
			batch = append(batch, w)
		}
	}
	return batch
}

// yield makes room for more questions of an entity by giving up the last
// question of the longest lane, which it returns. It returns nil when the
// entity's own lane would be as long as any: then it has had its share.
func (q *queue) yield(to uuid.UUID, more int) *waiting {
	var longest *lane
	for _, l := range q.turns {
		if longest == nil || l.size > longest.size {
			longest = l
		}
	}
	own := more
	if l := q.lanes[to]; l != nil {
		own += l.size
	}
	if longest == nil || own >= longest.size {
		return nil
	}
	before := longest.head
	for before.next != longest.tail {
		before = before.next
	}
	given := longest.tail
	before.next, longest.tail = nil, before
	longest.size--
	q.size--
	return given
}
