package limit

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Shared is a [Limiter] for all nodes together. The buckets are in Redis. A node
// fetches tokens in small blocks, ahead of need where a key is busy, so that
// most requests ask nobody. While Redis is away or slow, each node goes on by
// itself with half of every rate: no request waits for Redis then, and none is
// let through because of it.
type Shared struct {
	store  *store
	began  time.Time
	seed   uint64
	local  atomic.Uint64
	leases [parts]leases
}

// Open returns a limiter on the Redis at an address of the form
// redis://user:password@host:port/db, rediss:// for TLS, or unix://. Redis need
// not be there yet. Changed, if it is not nil, is told when Redis goes away and
// when it is back.
func Open(address string, changed func(away bool, cause error)) (*Shared, error) {
	began := time.Now()
	store, err := openStore(address, began, changed)
	if err != nil {
		return nil, err
	}
	s := &Shared{store: store, began: began, seed: rand.Uint64()} //nolint:gosec // spreads keys, protects nothing
	for i := range s.leases {
		s.leases[i].of, s.leases[i].enough = make(map[Key]*lease), fewKeys
	}
	return s, nil
}

// Close lets Redis go.
func (s *Shared) Close() error { return s.store.close() }

// Away reports whether this node goes on by itself.
func (s *Shared) Away() bool { return s.store.away.Load() }

// Local returns how many requests were decided by this node alone because Redis
// was away.
func (s *Shared) Local() uint64 { return s.local.Load() }

// Trips returns how often Redis was asked.
func (s *Shared) Trips() uint64 { return s.store.trips.Load() }

func (s *Shared) of(k Key) *leases { return &s.leases[k.spread(s.seed)%parts] }

func (s *Shared) now() int64 { return int64(time.Since(s.began)) }

// Take implements [Limiter].
func (s *Shared) Take(ctx context.Context, k Key, r Rate, n int) Verdict {
	if r.Unlimited() {
		return Verdict{OK: true}
	}
	of, now := s.of(k), s.now()
	p, half := r.pace(), r.Times(0.5).pace()
	n = min(n, p.burst)
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.find(k, now)
	for {
		switch {
		case s.store.away.Load():
			return s.alone(l, now, half, n, pace.take)
		case now < s.store.calm.Load() && half.wait(l.alone, now, n) > 0:
			return half.verdict(l.alone, now, false, n)
		case l.spend(now, half, n):
			if l.short(now) {
				q := l.begin(now, p, half, 1, s.store.outage.Load())
				go s.fetch(context.WithoutCancel(ctx), of, k, l, p, q)
			}
			return l.verdict(now, p, true, n)
		case l.empty(now, n-l.have), ctx.Err() != nil:
			return l.refuse(now, p, n)
		}
		s.await(ctx, of, k, l, p, half, n)
		now = s.now()
	}
}

// await lets the lock go until Redis has answered a question about the key: that
// of somebody else, or our own.
func (s *Shared) await(ctx context.Context, of *leases, k Key, l *lease, p, half pace, n int) {
	answered, own := l.asked, l.asked == nil
	var q question
	if own {
		q = l.begin(s.now(), p, half, n, s.store.outage.Load())
	}
	l.waiting += n
	of.mu.Unlock()
	if own {
		s.fetch(ctx, of, k, l, p, q)
	} else {
		select {
		case <-answered:
		case <-ctx.Done():
		}
	}
	of.mu.Lock()
	l.waiting -= n
}

// fetch asks Redis and puts the answer into the lease. What it costs is paid by
// one caller; the others wait for it.
func (s *Shared) fetch(ctx context.Context, of *leases, k Key, l *lease, p pace, q question) {
	sent := s.now()
	r, err := s.store.ask(ctx, k, p, q)
	of.mu.Lock()
	defer of.mu.Unlock()
	if err == nil {
		l.end(sent, s.now(), q, r)
	}
	close(l.asked)
	l.asked = nil
}

// alone decides without Redis.
func (s *Shared) alone(l *lease, now int64, half pace, n int, how func(pace, int64, int64, int) (int64, bool)) Verdict {
	s.local.Add(1)
	var ok bool
	l.alone, ok = how(half, l.alone, now, n)
	return half.verdict(l.alone, now, ok, n)
}

// Owe implements [Limiter].
func (s *Shared) Owe(ctx context.Context, k Key, r Rate, n int) Verdict {
	if r.Unlimited() {
		return Verdict{OK: true}
	}
	of, now := s.of(k), s.now()
	p, half := r.pace(), r.Times(0.5).pace()
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.find(k, now)
	if l.spend(now, half, n) {
		return l.verdict(now, p, true, n)
	}
	got, err := reply{}, errAway
	if !s.store.away.Load() {
		got, err = s.charge(ctx, of, k, l, p, n)
		now = s.now()
	}
	if err != nil {
		return s.alone(l, now, half, n, pace.owe)
	}
	l.due = now + int64(got.due)
	if got.given == 0 {
		l.bar(now+int64(got.wait)+p.each, 0) // what is taken, unlike what is owed, needs a token
		return l.refuse(now, p, n)
	}
	l.note(now, half, n)
	return l.verdict(now, p, true, n)
}

// Return implements [Limiter].
func (s *Shared) Return(ctx context.Context, k Key, r Rate, n int) {
	if r.Unlimited() || n <= 0 {
		return
	}
	of, now := s.of(k), s.now()
	p, half := r.pace(), r.Times(0.5).pace()
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.find(k, now)
	l.alone -= half.each * int64(n)
	if s.store.away.Load() {
		return
	}
	if got, err := s.charge(ctx, of, k, l, p, -n); err == nil {
		l.due, l.barred = s.now()+int64(got.due), 0
	}
}

// charge takes tokens in Redis itself, or puts them back, past what the node has
// in hand. It lets the lock go meanwhile.
func (s *Shared) charge(ctx context.Context, of *leases, k Key, l *lease, p pace, n int) (reply, error) {
	l.waiting++
	of.mu.Unlock()
	got, err := s.store.ask(ctx, k, p, question{want: n, debt: true})
	of.mu.Lock()
	l.waiting--
	return got, err
}

// Wait implements [Limiter].
func (s *Shared) Wait(k Key, r Rate) time.Duration {
	if r.Unlimited() {
		return 0
	}
	of, now := s.of(k), s.now()
	of.mu.Lock()
	defer of.mu.Unlock()
	l := of.of[k]
	switch {
	case l == nil:
		return 0
	case s.store.away.Load():
		return r.Times(0.5).pace().wait(l.alone, now, 1)
	case l.have > 0 && now < l.until:
		return 0
	}
	return time.Duration(max(l.barred-now, 0))
}
