package limit

import "sync"

// InProgress counts the requests of each key that this node is working on. The zero
// value is ready to use.
//
// A rate bounds how often a caller comes, and not how much of it is here at once: few
// slow requests can take all connections of a lane.
type InProgress struct {
	shards [64]struct {
		mu    sync.Mutex
		count map[Key]int
	}
}

// Enter counts a request, unless as many of the key are in progress as may be. After true
// the caller must call Leave.
func (p *InProgress) Enter(k Key, most int) bool {
	s := &p.shards[k.hash(0)%uint64(len(p.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[k] >= most {
		return false
	}
	if s.count == nil {
		s.count = make(map[Key]int)
	}
	s.count[k]++
	return true
}

// Leave ends a request that Enter has counted.
func (p *InProgress) Leave(k Key) {
	s := &p.shards[k.hash(0)%uint64(len(p.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count[k]--; s.count[k] == 0 {
		delete(s.count, k)
	}
}
