// Package limit says how fast somebody may ask.
//
// It is GCRA: a key has a bucket of tokens that fills at a steady rate up to a
// burst, and everything it needs to know is one moment, the one at which the
// bucket will be full again. [Memory] keeps that moment for one node; [Shared]
// keeps it in Redis for all of them, and goes on by itself, with half of the
// rate, while Redis is away. Both promise the same, and the same tests hold
// them to it.
package limit

import (
	"context"
	"encoding/binary"
	"net/netip"
	"time"
)

// Limiter takes tokens out of buckets. It is safe for use by many.
type Limiter interface {
	// Take takes n tokens, or none when there are fewer.
	Take(ctx context.Context, k Key, r Rate, n int) Verdict
	// Owe takes n tokens even when there are fewer, which leaves the key in debt:
	// nothing more is taken until that is paid. A key in debt may not owe more, so
	// its debt is never larger than what was taken last.
	Owe(ctx context.Context, k Key, r Rate, n int) Verdict
	// Return puts n tokens back that were taken for nothing.
	Return(ctx context.Context, k Key, r Rate, n int)
	// Wait says how long it is until the key has a token, as far as this node
	// knows. It takes nothing and asks nobody.
	Wait(k Key, r Rate) time.Duration
}

// Rate is how many tokens come into a bucket, and how many it holds. A rate of
// nothing a second is no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Unlimited reports whether there is no limit.
func (r Rate) Unlimited() bool { return r.PerSecond <= 0 }

// Times returns the rate multiplied by a factor. A bucket holds at least one
// token.
func (r Rate) Times(factor float64) Rate {
	return Rate{PerSecond: r.PerSecond * factor, Burst: max(int(float64(r.Burst)*factor), 1)}
}

// Verdict is what became of a request for tokens.
type Verdict struct {
	OK         bool
	Limit      int           // tokens that the bucket holds; 0 means no limit
	Remaining  int           // tokens that are left
	Reset      time.Duration // until the bucket is full
	RetryAfter time.Duration // until the same request can succeed, if it did not
}

// Kind is what a key stands for.
type Kind byte

// The kinds of key.
const (
	Credential Kind = 'k' // an API key
	Entity     Kind = 'e' // all keys of an entity together
	Network    Kind = 'a' // all addresses of a network together
)

// Key names a bucket.
type Key struct {
	kind Kind
	id   [16]byte
}

// Of returns the key of something that has an id.
func Of(kind Kind, id [16]byte) Key { return Key{kind, id} }

// How much of an address is one caller: whoever has one address of a network
// usually has all of them.
const (
	bitsIPv4 = 24
	bitsIPv6 = 48
)

// From returns the key of the network that an address is in. All addresses that
// cannot be told are one network.
func From(addr netip.Addr) Key {
	addr = addr.Unmap()
	bits := bitsIPv6
	if addr.Is4() {
		bits = bitsIPv4
	}
	network, _ := addr.WithZone("").Prefix(bits) // no address is too short for it
	return Key{Network, network.Addr().As16()}
}

// spread turns a key into a number that is hard to choose.
func (k *Key) spread(seed uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := (binary.LittleEndian.Uint64(k.id[:8]) ^ seed) * odd
	h = (h ^ h>>32 ^ binary.LittleEndian.Uint64(k.id[8:]) ^ uint64(k.kind)) * odd
	return h ^ h>>29
}

// pace is a rate as the arithmetic needs it, in nanoseconds.
type pace struct {
	each  int64 // between two tokens
	full  int64 // for a whole bucket
	burst int
}

func (r Rate) pace() pace {
	const slowest, widest = float64(24 * time.Hour), 1_000_000
	burst := min(max(r.Burst, 1), widest)
	each := max(int64(min(float64(time.Second)/r.PerSecond, slowest)), 1)
	return pace{each: each, full: each * int64(burst), burst: burst}
}

// take moves due, when the bucket will be full, by n tokens if it has as many.
func (p pace) take(due, now int64, n int) (moved int64, ok bool) {
	due = max(due, now)
	moved = due + p.each*int64(n)
	if moved > now+p.full {
		return due, false
	}
	return moved, true
}

// owe does so even if it has fewer, unless it is in debt.
func (p pace) owe(due, now int64, n int) (moved int64, ok bool) {
	due = max(due, now)
	if due > now+p.full {
		return due, false
	}
	return due + p.each*int64(n), true
}

// wait is how long it is until n tokens can be taken.
func (p pace) wait(due, now int64, n int) time.Duration {
	return time.Duration(max(due+p.each*int64(n)-now-p.full, 0))
}

func (p pace) verdict(due, now int64, ok bool, n int) Verdict {
	level := max(due-now, 0)
	v := Verdict{OK: ok, Limit: p.burst, Remaining: int(max(p.full-level, 0) / p.each), Reset: time.Duration(level)}
	if !ok {
		v.RetryAfter = max(p.wait(due, now, n), 1)
	}
	return v
}
