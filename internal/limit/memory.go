package limit

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	parts = 64 // of a limiter, each with a lock of its own
	// mostKeys bounds what a limiter remembers. Beyond it the keys that owe least
	// are forgotten first.
	mostKeys = 1 << 20
	// fewKeys is up to how many a part holds before it looks for idle ones.
	fewKeys = 256
	// sample is how many keys are compared when one must go.
	sample = 8
	// sweepPause is the least time between two looks through a part that is full.
	sweepPause = int64(time.Second)
)

// Memory is a [Limiter] for one node. A bucket that is full is the same as one
// that nobody knows of, so idle keys are forgotten without loss.
type Memory struct {
	began time.Time
	seed  uint64
	parts [parts]part
}

// part is a share of the keys.
type part struct {
	mu     sync.Mutex
	due    map[Key]int64 // when the bucket will be full, in nanoseconds since the limiter began
	enough int           // at how many keys idle ones are looked for
	swept  int64         // when they last were
	_      [32]byte      // keeps two locks out of one cache line
}

// NewMemory returns a limiter in which every bucket is full.
func NewMemory() *Memory {
	m := &Memory{began: time.Now(), seed: rand.Uint64()} //nolint:gosec // spreads keys, protects nothing
	for i := range m.parts {
		m.parts[i].due, m.parts[i].enough = make(map[Key]int64), fewKeys
	}
	return m
}

func (m *Memory) of(k Key) (*part, int64) {
	return &m.parts[k.spread(m.seed)%parts], int64(time.Since(m.began))
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
	of, now := m.of(k)
	of.mu.Lock()
	due, ok := how(p, of.due[k], now, n)
	if ok {
		of.keep(k, due, now)
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
	of, _ := m.of(k)
	of.mu.Lock()
	defer of.mu.Unlock()
	if due, known := of.due[k]; known {
		of.due[k] = due - p.each*int64(n)
	}
}

// Wait implements [Limiter].
func (m *Memory) Wait(k Key, r Rate) time.Duration {
	if r.Unlimited() {
		return 0
	}
	of, now := m.of(k)
	of.mu.Lock()
	due, known := of.due[k]
	of.mu.Unlock()
	if !known {
		return 0
	}
	return r.pace().wait(due, now, 1)
}

func (p *part) keep(k Key, due, now int64) {
	if len(p.due) >= p.enough {
		if _, known := p.due[k]; !known {
			p.makeRoom(now)
		}
	}
	p.due[k] = due
}

// makeRoom forgets the keys that are idle. If it must, it forgets one that is
// not: of a few, the one that owes least.
func (p *part) makeRoom(now int64) {
	const most = mostKeys / parts
	if p.enough < most || now-p.swept > sweepPause {
		p.swept = now
		for k, due := range p.due {
			if due <= now {
				delete(p.due, k)
			}
		}
		p.enough = min(max(2*len(p.due), fewKeys), most)
	}
	if len(p.due) < most {
		return
	}
	var least Key
	seen := 0
	for k, due := range p.due {
		if seen == 0 || due < p.due[least] {
			least = k
		}
		if seen++; seen == sample {
			break
		}
	}
	delete(p.due, least)
}

// Len returns how many keys are remembered.
func (m *Memory) Len() int {
	n := 0
	for i := range m.parts {
		m.parts[i].mu.Lock()
		n += len(m.parts[i].due)
		m.parts[i].mu.Unlock()
	}
	return n
}
