package limit

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	shards = 64 // of a limiter, each with its own lock
	// maxKeys bounds the keys of a limiter. Beyond it the keys whose buckets are
	// nearly full are deleted first.
	maxKeys = 1 << 20
	// minSweepKeys is how many keys a shard holds before it looks for idle ones.
	minSweepKeys = 256
	// evictionSample is how many keys are compared when one must be deleted.
	evictionSample = 8
	// sweepPause is the shortest time between two sweeps of a full shard.
	sweepPause = int64(time.Second)
)

// Memory is a [Limiter] for one node. A full bucket equals one that is not stored,
// so idle keys are deleted without loss.
type Memory struct {
	startedAt time.Time
	seed      uint64
	shards    [shards]shard
}

// shard holds a share of the keys.
type shard struct {
	mu      sync.Mutex
	due     map[Key]int64 // when the bucket will be full, in nanoseconds since the limiter was created
	sweepAt int           // number of keys at which idle ones are deleted
	sweptAt int64         // time of the last sweep
	_       [32]byte      // keeps two locks out of one cache line
}

// NewMemory returns a limiter in which every bucket is full.
func NewMemory() *Memory {
	m := &Memory{startedAt: time.Now(), seed: rand.Uint64()} //nolint:gosec // spreads keys, protects nothing
	for i := range m.shards {
		m.shards[i].due, m.shards[i].sweepAt = make(map[Key]int64), minSweepKeys
	}
	return m
}

func (m *Memory) shardOf(k Key) (*shard, int64) {
	return &m.shards[k.hash(m.seed)%shards], int64(time.Since(m.startedAt))
}

// Take implements [Limiter].
func (m *Memory) Take(_ context.Context, k Key, r Rate, n int) Verdict {
	return m.move(k, r, n, pace.take)
}

// Owe implements [Limiter].
func (m *Memory) Owe(_ context.Context, k Key, r Rate, n int) Verdict {
	return m.move(k, r, n, pace.owe)
}

func (m *Memory) move(k Key, r Rate, n int, how func(pace, int64, int64, int) (int64, bool)) Verdict {
	if r.Unlimited() {
		return Verdict{OK: true}
	}
	p := r.pace()
	of, now := m.shardOf(k)
	of.mu.Lock()
	due, ok := how(p, of.due[k], now, n)
	if ok {
		of.store(k, due, now)
	}
	of.mu.Unlock()
	return p.verdict(due, now, ok, n)
}

// Return implements [Limiter].
func (m *Memory) Return(_ context.Context, k Key, r Rate, n int) {
	if r.Unlimited() {
		return
	}
	p := r.pace()
	of, _ := m.shardOf(k)
	of.mu.Lock()
	defer of.mu.Unlock()
	if due, known := of.due[k]; known {
		of.due[k] = due - p.interval*int64(n)
	}
}

// Wait implements [Limiter].
func (m *Memory) Wait(k Key, r Rate) time.Duration {
	if r.Unlimited() {
		return 0
	}
	of, now := m.shardOf(k)
	of.mu.Lock()
	due, known := of.due[k]
	of.mu.Unlock()
	if !known {
		return 0
	}
	return r.pace().wait(due, now, 1)
}

func (p *shard) store(k Key, due, now int64) {
	if len(p.due) >= p.sweepAt {
		if _, known := p.due[k]; !known {
			p.makeRoom(now)
		}
	}
	p.due[k] = due
}

// makeRoom deletes idle keys. If there are none in a full shard, it deletes the key
// whose bucket is fullest among a sample.
func (p *shard) makeRoom(now int64) {
	const limit = maxKeys / shards
	if p.sweepAt < limit || now-p.sweptAt > sweepPause {
		p.sweptAt = now
		for k, due := range p.due {
			if due <= now {
				delete(p.due, k)
			}
		}
		p.sweepAt = min(max(2*len(p.due), minSweepKeys), limit)
	}
	if len(p.due) < limit {
		return
	}
	var least Key
	seen := 0
	for k, due := range p.due {
		if seen == 0 || due < p.due[least] {
			least = k
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	delete(p.due, least)
}

// Len returns how many keys are stored.
func (m *Memory) Len() int {
	n := 0
	for i := range m.shards {
		m.shards[i].mu.Lock()
		n += len(m.shards[i].due)
		m.shards[i].mu.Unlock()
	}
	return n
}
