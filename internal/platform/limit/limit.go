// Package limit limits the rate of requests.
//
// It implements GCRA: a key has a bucket of tokens that fills at a steady rate up
// to a burst, and its whole state is one time, at which the bucket will be full
// again. [Memory] keeps that time for one node; [Shared] keeps it in Redis for all
// nodes, and each node continues by itself, with half of the rate, while Redis is
// unavailable. Both give the same guarantees, and pass the same tests.
package limit

import (
	"context"
	"encoding/binary"
	"net/netip"
	"time"
)

// Limiter takes tokens out of buckets. It is safe for concurrent use.
type Limiter interface {
	// Take takes n tokens, or none if there are fewer.
	Take(ctx context.Context, k Key, r Rate, n int) Verdict
	// Owe takes n tokens even if there are fewer, which leaves the key in debt:
	// nothing more is taken until the debt is paid. A key in debt cannot owe more, so
	// its debt is never larger than what was taken last.
	Owe(ctx context.Context, k Key, r Rate, n int) Verdict
	// Return puts back n tokens that were taken and not used.
	Return(ctx context.Context, k Key, r Rate, n int)
	// Wait returns how long it is until the key has a token, as far as this node
	// knows. It takes nothing and does not ask Redis.
	Wait(k Key, r Rate) time.Duration
}

// Rate is how many tokens flow into a bucket, and how many it holds. A PerSecond of
// 0 or less means no limit.
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

// Verdict is the result of a request for tokens.
type Verdict struct {
	OK         bool
	Limit      int           // tokens that the bucket holds; 0 means no limit
	Remaining  int           // tokens that are left
	Reset      time.Duration // until the bucket is full
	RetryAfter time.Duration // until the same request can succeed, if it did not
}

// Kind is the kind of caller that a key identifies.
type Kind byte

// The kinds of key.
const (
	Credential Kind = 'k' // an API key
	Entity     Kind = 'e' // all keys of an entity together
	Client     Kind = 'c' // all tokens of a client together
	Session    Kind = 's' // of a person
	Network    Kind = 'a' // all addresses of a network together
	Files      Kind = 'f' // the same, for pages and files that are ready
)

// Key identifies a bucket.
type Key struct {
	kind Kind
	id   [16]byte
}

// Of returns the key of a credential or an entity by its id.
func Of(kind Kind, id [16]byte) Key { return Key{kind, id} }

// The prefix length of a network that counts as one caller: a caller with one
// address of such a network usually has all of them.
const (
	bitsIPv4 = 24
	bitsIPv6 = 48
)

// From returns the key of the network of an address. All unknown addresses count as
// one network.
func From(addr netip.Addr) Key {
	addr = addr.Unmap()
	bits := bitsIPv6
	if addr.Is4() {
		bits = bitsIPv4
	}
	network, _ := addr.WithZone("").Prefix(bits) // no address is too short for it
	return Key{Network, network.Addr().As16()}
}

// FilesFrom returns the key of the network of an address for pages and files.
func FilesFrom(addr netip.Addr) Key {
	k := From(addr)
	k.kind = Files
	return k
}

// hash spreads keys over shards. The seed keeps callers from choosing the shard.
func (k *Key) hash(seed uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := (binary.LittleEndian.Uint64(k.id[:8]) ^ seed) * odd
	h = (h ^ h>>32 ^ binary.LittleEndian.Uint64(k.id[8:]) ^ uint64(k.kind)) * odd
	return h ^ h>>29
}

// pace is a rate in nanoseconds, for the arithmetic.
type pace struct {
	interval int64 // between two tokens
	fullTime int64 // for a whole bucket
	burst    int
}

func (r Rate) pace() pace {
	const slowest, widest = float64(24 * time.Hour), 1_000_000
	burst := min(max(r.Burst, 1), widest)
	each := max(int64(min(float64(time.Second)/r.PerSecond, slowest)), 1)
	return pace{interval: each, fullTime: each * int64(burst), burst: burst}
}

// take moves due, the time when the bucket will be full, by n tokens if it has as
// many.
func (p pace) take(due, now int64, n int) (moved int64, ok bool) {
	due = max(due, now)
	moved = due + p.interval*int64(n)
	if moved > now+p.fullTime {
		return due, false
	}
	return moved, true
}

// owe moves due even if there are fewer tokens, unless the bucket is in debt.
func (p pace) owe(due, now int64, n int) (moved int64, ok bool) {
	due = max(due, now)
	if due > now+p.fullTime {
		return due, false
	}
	return due + p.interval*int64(n), true
}

// wait returns how long it is until n tokens can be taken.
func (p pace) wait(due, now int64, n int) time.Duration {
	return time.Duration(max(due+p.interval*int64(n)-now-p.fullTime, 0))
}

func (p pace) verdict(due, now int64, ok bool, n int) Verdict {
	level := max(due-now, 0)
	v := Verdict{OK: ok, Limit: p.burst, Remaining: int(max(p.fullTime-level, 0) / p.interval), Reset: time.Duration(level)}
	if !ok {
		v.RetryAfter = max(p.wait(due, now, n), 1)
	}
	return v
}
