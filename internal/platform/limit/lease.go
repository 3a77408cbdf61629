package limit

import (
	"sync"
	"time"
)

const (
	// leaseLifetime is how long a node may keep fetched tokens. What it has not used
	// by then is lost, so that nothing is withheld from the other nodes for long.
	leaseLifetime = int64(200 * time.Millisecond)
	// horizon is how far ahead of the observed demand a node fetches tokens.
	horizon = int64(50 * time.Millisecond)
	// minObserved is the shortest time from which demand is extrapolated.
	minObserved = int64(10 * time.Millisecond)
	// minBarred is how long no request is sent for an empty bucket, at least: each
	// single token would cost a round trip.
	minBarred = int64(10 * time.Millisecond)
	// maxBlock and blockShare bound how many tokens are fetched ahead of demand.
	maxBlock   = 4096
	blockShare = 8
)

// lease is what a node knows about a bucket in Redis, and the tokens that it has
// fetched from it. Times are nanoseconds since the limiter was created.
type lease struct {
	tokens    int   // fetched and not used yet
	until     int64 // when they are lost
	barred    int64 // until when the bucket has fewer tokens than barredFor
	barredFor int   // the number of tokens that was refused
	due       int64 // when the bucket will be full
	block     int   // how many tokens were fetched last
	demand    int   // tokens requested by callers since Redis last replied, given or not
	since     int64 // when Redis last replied

	localDue int64  // when the local bucket of this node will be full, which has half of the rate
	outage   uint32 // the last outage after which Redis was told what was taken locally

	pending chan struct{} // closed when Redis has replied; nil while there is no request
	waiting int           // tokens that callers wait for
}

// leaseRequest is a request of a node for tokens.
type leaseRequest struct {
	want, least int
	spent       int // tokens that were taken locally while Redis was unavailable
	outage      uint32
	debt        bool
}

// reply is the reply of Redis.
type reply struct {
	given     int
	due, wait time.Duration
}

// spend uses fetched tokens, if there are enough. It also takes them from the local
// bucket: a node that loses Redis must not start with a full one.
func (l *lease) spend(now int64, half pace, n int) bool {
	if now >= l.until {
		l.tokens = 0
	}
	if l.tokens < n {
		return false
	}
	l.tokens -= n
	l.demand += n
	l.spendLocal(now, half, n)
	return true
}

// spendLocal takes tokens from the local bucket, which it leaves empty at worst.
func (l *lease) spendLocal(now int64, half pace, n int) {
	due := max(l.localDue, now)
	l.localDue = max(due, min(due+half.interval*int64(n), now+half.fullTime))
}

// shouldPrefetch reports whether to fetch more tokens now, before a caller has to
// wait.
func (l *lease) shouldPrefetch(now int64) bool {
	return l.pending == nil && l.block > 3 && l.tokens < l.block/4 && !l.knownEmpty(now, 1)
}

// newRequest returns a request for the tokens that are needed now, those that
// callers wait for, and those that the demand of the next horizon needs.
func (l *lease) newRequest(now int64, p, half pace, n int, outage uint32) leaseRequest {
	soon := int64(l.demand) * horizon / max(now-l.since, minObserved)
	want := min(int(min(soon, maxBlock)), 2*l.block+1, max(p.burst/blockShare, 1))
	q := leaseRequest{least: max(n-l.tokens, 1), outage: outage}
	q.want = min(max(want, n+l.waiting-l.tokens, q.least), p.burst)
	if l.outage != outage && l.localDue > now {
		q.spent = int((l.localDue-now-1)/half.interval) + 1
	}
	l.pending = make(chan struct{})
	return q
}

// apply stores the reply of Redis in the lease.
func (l *lease) apply(sent, now int64, q leaseRequest, r reply) {
	if now >= l.until {
		l.tokens = 0
	}
	l.tokens += r.given
	l.until = sent + leaseLifetime
	l.demand, l.since, l.outage = 0, now, q.outage
	l.due = now + int64(r.due)
	switch {
	case r.given == 0:
		l.bar(now+max(int64(r.wait), minBarred), q.least)
		return
	case r.given < q.want: // the bucket is empty now
		l.bar(now+max(int64(r.wait), minBarred), 1)
	}
	l.block = r.given
}

// bar records that the bucket has fewer than n tokens until a time.
func (l *lease) bar(until int64, n int) { l.barred, l.barredFor = until, n }

// knownEmpty reports whether the bucket is known to have fewer than n tokens.
func (l *lease) knownEmpty(now int64, n int) bool { return now < l.barred && n >= l.barredFor }

// refuse refuses tokens without a request to Redis.
func (l *lease) refuse(now int64, p pace, n int) Verdict {
	l.demand += n
	return l.verdict(now, p, false, n)
}

func (l *lease) verdict(now int64, p pace, ok bool, n int) Verdict {
	v := p.verdict(l.due, now, ok, n)
	v.Remaining = min(v.Remaining+l.tokens, p.burst)
	if !ok {
		v.RetryAfter = time.Duration(max(l.barred-now, 1))
	}
	return v
}

// idle reports whether the lease holds nothing that would be lost with it.
func (l *lease) idle(now int64) bool {
	return l.unused() && max(l.until, l.barred, l.due, l.localDue) <= now
}

// unused reports whether no caller waits for it.
func (l *lease) unused() bool { return l.pending == nil && l.waiting == 0 }

// leaseShard holds the leases of a share of the keys of a [Shared].
type leaseShard struct {
	mu      sync.Mutex
	byKey   map[Key]*lease
	sweepAt int
	sweptAt int64
}

// find returns the lease of a key, which it creates if needed.
func (s *leaseShard) find(k Key, now int64) *lease {
	l := s.byKey[k]
	if l == nil {
		if len(s.byKey) >= s.sweepAt {
			s.makeRoom(now)
		}
		l = &lease{since: now}
		s.byKey[k] = l
	}
	return l
}

// makeRoom deletes leases as [shard.makeRoom] does. A lease that a caller waits for
// is kept.
func (s *leaseShard) makeRoom(now int64) {
	const limit = maxKeys / shards
	if s.sweepAt < limit || now-s.sweptAt > sweepPause {
		s.sweptAt = now
		for k, l := range s.byKey {
			if l.idle(now) {
				delete(s.byKey, k)
			}
		}
		s.sweepAt = min(max(2*len(s.byKey), minSweepKeys), limit)
	}
	if len(s.byKey) < limit {
		return
	}
	var least Key
	var owes int64
	seen := 0
	for k, l := range s.byKey {
		if !l.unused() {
			continue
		}
		if owed := max(l.due, l.localDue); seen == 0 || owed < owes {
			least, owes = k, owed
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	if seen > 0 {
		delete(s.byKey, least)
	}
}
