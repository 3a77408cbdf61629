package limit

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Shared is a [Limiter] for all nodes together. The buckets are in Redis. A node
// fetches tokens in small blocks, ahead of demand where a key is busy, so that most
// requests need no round trip. While Redis is unavailable or slow, each node
// continues by itself with half of every rate: no request waits for Redis then, and
// no limit is lifted.
type Shared struct {
	store     *store
	startedAt time.Time
	seed      uint64
	local     atomic.Uint64
	shards    [shards]leaseShard
}

// Open returns a limiter on the Redis at an address of the form
// redis://user:password@host:port/db, rediss:// for TLS, or unix://. Redis need
// not be available yet. Changed, if it is not nil, is called when Redis becomes
// unavailable and when it is available again.
func Open(address string, changed func(away bool, cause error)) (*Shared, error) {
	began := time.Now()
	store, err := openStore(address, began, changed)
	if err != nil {
		return nil, err
	}
	s := &Shared{store: store, startedAt: began, seed: rand.Uint64()} //nolint:gosec // spreads keys, protects nothing
	for i := range s.shards {
		s.shards[i].byKey, s.shards[i].sweepAt = make(map[Key]*lease), minSweepKeys
	}
	return s, nil
}

// Close closes the connections to Redis.
func (s *Shared) Close() error { return s.store.close() }

// Degraded reports whether Redis is unavailable and this node decides by itself.
func (s *Shared) Degraded() bool { return s.store.down.Load() }

// Local returns how many requests this node decided by itself because Redis was
// unavailable.
func (s *Shared) Local() uint64 { return s.local.Load() }

// Trips returns the number of requests to Redis.
func (s *Shared) Trips() uint64 { return s.store.trips.Load() }

func (s *Shared) shardOf(k Key) *leaseShard { return &s.shards[k.hash(s.seed)%shards] }

func (s *Shared) now() int64 { return int64(time.Since(s.startedAt)) }

// Take implements [Limiter].
func (s *Shared) Take(ctx context.Context, k Key, r Rate, n int) Verdict {
	if r.Unlimited() {
		return Verdict{OK: true}
	}
	of, now := s.shardOf(k), s.now()
	p, half := r.pace(), r.Times(0.5).pace()
	n = min(n, p.burst)
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.find(k, now)
	for {
		switch {
		case s.store.down.Load():
			return s.takeLocal(l, now, half, n, pace.take)
		case now < s.store.settledAt.Load() && half.wait(l.localDue, now, n) > 0:
			return half.verdict(l.localDue, now, false, n)
		case l.spend(now, half, n):
			if l.shouldPrefetch(now) {
				q := l.newRequest(now, p, half, 1, s.store.outage.Load())
				go s.fetch(context.WithoutCancel(ctx), of, k, l, p, q)
			}
			return l.verdict(now, p, true, n)
		case l.knownEmpty(now, n-l.tokens), ctx.Err() != nil:
			return l.refuse(now, p, n)
		}
		s.waitForRedis(ctx, of, k, l, p, half, n)
		now = s.now()
	}
}

// waitForRedis releases the lock until Redis has replied to a request about the key:
// one that is already under way, or a new one.
func (s *Shared) waitForRedis(ctx context.Context, of *leaseShard, k Key, l *lease, p, half pace, n int) {
	replied, own := l.pending, l.pending == nil
	var q leaseRequest
	if own {
		q = l.newRequest(s.now(), p, half, n, s.store.outage.Load())
	}
	l.waiting += n
	of.mu.Unlock()
	if own {
		s.fetch(ctx, of, k, l, p, q)
	} else {
		select {
		case <-replied:
		case <-ctx.Done():
		}
	}
	of.mu.Lock()
	l.waiting -= n
}

// fetch requests tokens from Redis and stores the reply in the lease. One caller
// makes the round trip; the others wait for it.
func (s *Shared) fetch(ctx context.Context, of *leaseShard, k Key, l *lease, p pace, q leaseRequest) {
	sent := s.now()
	r, err := s.store.call(ctx, k, p, q)
	of.mu.Lock()
	defer of.mu.Unlock()
	if err == nil {
		l.apply(sent, s.now(), q, r)
	}
	close(l.pending)
	l.pending = nil
}

// takeLocal decides with the local bucket, without Redis.
func (s *Shared) takeLocal(l *lease, now int64, half pace, n int, how func(pace, int64, int64, int) (int64, bool)) Verdict {
	s.local.Add(1)
	var ok bool
	l.localDue, ok = how(half, l.localDue, now, n)
	return half.verdict(l.localDue, now, ok, n)
}

// Owe implements [Limiter].
func (s *Shared) Owe(ctx context.Context, k Key, r Rate, n int) Verdict {
	if r.Unlimited() {
		return Verdict{OK: true}
	}
	of, now := s.shardOf(k), s.now()
	p, half := r.pace(), r.Times(0.5).pace()
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.find(k, now)
	if l.spend(now, half, n) {
		return l.verdict(now, p, true, n)
	}
	got, err := reply{}, errUnavailable
	if !s.store.down.Load() {
		got, err = s.charge(ctx, of, k, l, p, n)
		now = s.now()
	}
	if err != nil {
		return s.takeLocal(l, now, half, n, pace.owe)
	}
	l.due = now + int64(got.due)
	if got.given == 0 {
		l.bar(now+int64(got.wait)+p.interval, 0) // Take, unlike Owe, needs a whole token
		return l.refuse(now, p, n)
	}
	l.spendLocal(now, half, n)
	return l.verdict(now, p, true, n)
}

// Return implements [Limiter].
func (s *Shared) Return(ctx context.Context, k Key, r Rate, n int) {
	if r.Unlimited() || n <= 0 {
		return
	}
	of, now := s.shardOf(k), s.now()
	p, half := r.pace(), r.Times(0.5).pace()
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.find(k, now)
	l.localDue -= half.interval * int64(n)
	if s.store.down.Load() {
		return
	}
	if got, err := s.charge(ctx, of, k, l, p, -n); err == nil {
		l.due, l.barred = s.now()+int64(got.due), 0
	}
}

// charge takes tokens in Redis, or puts them back, regardless of the tokens that the
// node has fetched. It releases the lock during the round trip.
func (s *Shared) charge(ctx context.Context, of *leaseShard, k Key, l *lease, p pace, n int) (reply, error) {
	l.waiting++
	of.mu.Unlock()
	got, err := s.store.call(ctx, k, p, leaseRequest{want: n, debt: true})
	of.mu.Lock()
	l.waiting--
	return got, err
}

// Wait implements [Limiter].
func (s *Shared) Wait(k Key, r Rate) time.Duration {
	if r.Unlimited() {
		return 0
	}
	of, now := s.shardOf(k), s.now()
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.byKey[k]
	switch {
	case l == nil:
		return 0
	case s.store.down.Load():
		return r.Times(0.5).pace().wait(l.localDue, now, 1)
	case l.tokens > 0 && now < l.until:
		return 0
	}
	return time.Duration(max(l.barred-now, 0))
}
