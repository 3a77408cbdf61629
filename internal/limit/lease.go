package limit

import (
	"sync"
	"time"
)

const (
	// leaseLife is for how long tokens may lie with a node. What it has not used
	// by then is lost, so nothing is kept from the other nodes for long.
	leaseLife = int64(200 * time.Millisecond)
	// horizon is how far ahead a node fetches what it seems to need.
	horizon = int64(50 * time.Millisecond)
	// glance is the shortest time from which a need is worked out.
	glance = int64(10 * time.Millisecond)
	// barredLeast is how long an empty bucket is left alone at least: asking for
	// every single token would cost a round trip each.
	barredLeast = int64(10 * time.Millisecond)
	// mostBlock and blockShare bound how many tokens are fetched ahead of need.
	mostBlock  = 4096
	blockShare = 8
)

// lease is what a node knows of a bucket in Redis, and the tokens that it has
// fetched from there. Moments are nanoseconds since the limiter began.
type lease struct {
	have   int   // tokens in hand
	until  int64 // when they are lost
	barred int64 // until when there are not as many as were refused
	denied int   // how many that were
	due    int64 // when the bucket will be full
	block  int   // how many tokens came when some last did
	needed int   // how many were asked for since Redis last answered, given or not
	since  int64 // when that was

	alone  int64  // when the bucket of this node by itself will be full, which has half of the rate
	outage uint32 // the last one after which Redis was told of that

	asked   chan struct{} // closed when Redis has answered; nil while it is not asked
	waiting int           // tokens for which somebody waits
}

// question is what a node asks Redis for.
type question struct {
	want, least int
	spent       int // tokens that were used while Redis was away
	outage      uint32
	debt        bool
}

// reply is what Redis says.
type reply struct {
	given     int
	due, wait time.Duration
}

// spend uses tokens in hand, if there are enough, and notes it for the time when
// Redis may be away: a node that then goes on by itself must not begin with a
// full bucket.
func (l *lease) spend(now int64, half pace, n int) bool {
	if now >= l.until {
		l.have = 0
	}
	if l.have < n {
		return false
	}
	l.have -= n
	l.needed += n
	l.note(now, half, n)
	return true
}

// note takes tokens from the node's own bucket as well, and leaves it empty at
// the worst.
func (l *lease) note(now int64, half pace, n int) {
	due := max(l.alone, now)
	l.alone = max(due, min(due+half.each*int64(n), now+half.full))
}

// short reports whether it is time to fetch more, before anybody has to wait.
func (l *lease) short(now int64) bool {
	return l.asked == nil && l.block > 3 && l.have < l.block/4 && !l.empty(now, 1)
}

// begin makes a question of what is needed now, by those who wait, and by those
// who will come if it goes on like this.
func (l *lease) begin(now int64, p, half pace, n int, outage uint32) question {
	soon := int64(l.needed) * horizon / max(now-l.since, glance)
	want := min(int(min(soon, mostBlock)), 2*l.block+1, max(p.burst/blockShare, 1))
	q := question{least: max(n-l.have, 1), outage: outage}
	q.want = min(max(want, n+l.waiting-l.have, q.least), p.burst)
	if l.outage != outage && l.alone > now {
		q.spent = int((l.alone-now-1)/half.each) + 1
	}
	l.asked = make(chan struct{})
	return q
}

// end puts the answer of Redis into the lease.
func (l *lease) end(sent, now int64, q question, r reply) {
	if now >= l.until {
		l.have = 0
	}
	l.have += r.given
	l.until = sent + leaseLife
	l.needed, l.since, l.outage = 0, now, q.outage
	l.due = now + int64(r.due)
	switch {
	case r.given == 0:
		l.bar(now+max(int64(r.wait), barredLeast), q.least)
		return
	case r.given < q.want: // these were the last
		l.bar(now+max(int64(r.wait), barredLeast), 1)
	}
	l.block = r.given
}

// bar notes that there are not as many as n tokens before a moment.
func (l *lease) bar(until int64, n int) { l.barred, l.denied = until, n }

// empty reports whether it is known that there are not as many as n tokens.
func (l *lease) empty(now int64, n int) bool { return now < l.barred && n >= l.denied }

// refuse says no without asking.
func (l *lease) refuse(now int64, p pace, n int) Verdict {
	l.needed += n
	return l.verdict(now, p, false, n)
}

func (l *lease) verdict(now int64, p pace, ok bool, n int) Verdict {
	v := p.verdict(l.due, now, ok, n)
	v.Remaining = min(v.Remaining+l.have, p.burst)
	if !ok {
		v.RetryAfter = time.Duration(max(l.barred-now, 1))
	}
	return v
}

// idle reports whether nothing would be lost with the lease.
func (l *lease) idle(now int64) bool {
	return l.loose() && max(l.until, l.barred, l.due, l.alone) <= now
}

// loose reports whether nobody waits for it.
func (l *lease) loose() bool { return l.asked == nil && l.waiting == 0 }

// leases is a share of the keys of a [Shared].
type leases struct {
	mu     sync.Mutex
	of     map[Key]*lease
	enough int
	swept  int64
}

// find returns the lease of a key, a new one if there is none.
func (s *leases) find(k Key, now int64) *lease {
	l := s.of[k]
	if l == nil {
		if len(s.of) >= s.enough {
			s.makeRoom(now)
		}
		l = &lease{since: now}
		s.of[k] = l
	}
	return l
}

// makeRoom forgets as [part.makeRoom] does. A lease for which somebody waits
// stays.
func (s *leases) makeRoom(now int64) {
	const most = mostKeys / parts
	if s.enough < most || now-s.swept > sweepPause {
		s.swept = now
		for k, l := range s.of {
			if l.idle(now) {
				delete(s.of, k)
			}
		}
		s.enough = min(max(2*len(s.of), fewKeys), most)
	}
	if len(s.of) < most {
		return
	}
	var least Key
	var owes int64
	seen := 0
	for k, l := range s.of {
		if !l.loose() {
			continue
		}
		if owed := max(l.due, l.alone); seen == 0 || owed < owes {
			least, owes = k, owed
		}
		if seen++; seen == sample {
			break
		}
	}
	if seen > 0 {
		delete(s.of, least)
	}
}
