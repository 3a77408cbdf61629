package limit

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func numbered(n int) (k Key) {
	k.kind = Network
	binary.LittleEndian.PutUint64(k.id[:], uint64(n))
	return k
}

// Keys whose bucket is full are deleted, and that changes nothing.
func TestIdleKeysAreDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, r := NewMemory(), Rate{PerSecond: 10, Burst: 100}
		const round = 50_000
		for i := range 10 * round {
			if !m.Take(t.Context(), numbered(i), r, 1).OK {
				t.Fatal("a new key is refused")
			}
			if i%round == round-1 {
				<-time.After(time.Second) // all are full again
			}
		}
		if n := m.Len(); n > 3*round {
			t.Errorf("%d keys are remembered, and at most %d were ever in use at once", n, round)
		}
	})
}

// However many keys there are, at most the bound is stored, and those with the
// emptiest buckets are kept.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m, r := NewMemory(), Rate{PerSecond: 0.01, Burst: 100}
	debtor := numbered(-1 >> 1)
	debtor.id[15] = 1
	m.Owe(t.Context(), debtor, r, 1000)
	for i := range maxKeys + maxKeys/4 {
		m.Take(t.Context(), numbered(i), r, 1)
	}
	if n := m.Len(); n > maxKeys {
		t.Errorf("%d keys are remembered, more than %d", n, maxKeys)
	}
	if m.Take(t.Context(), debtor, r, 1).OK {
		t.Error("a debt was forgotten")
	}
}

// The arithmetic gives the same results as a bucket that is filled step by
// step.
func TestArithmeticIsThatOfABucket(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{PerSecond: float64(rapid.SampledFrom([]int{1, 2, 4, 5, 8, 10, 20, 50, 100}).Draw(t, "rate")), Burst: rapid.IntRange(1, 20).Draw(t, "burst")}
		p, due, now := r.pace(), int64(0), int64(0)
		tokens := float64(r.Burst)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pause := time.Duration(rapid.IntRange(0, 400).Draw(t, "pause")) * time.Millisecond
			now += int64(pause)
			tokens = min(tokens+pause.Seconds()*r.PerSecond, float64(r.Burst))
			n, how := rapid.IntRange(1, 5).Draw(t, "n"), pace.take
			want := tokens > float64(n)-1e-6
			if rapid.IntRange(0, 9).Draw(t, "debt") == 0 {
				how, want = pace.owe, tokens > -1e-6
			}
			var ok bool
			due, ok = how(p, due, now, n)
			v := p.verdict(due, now, ok, n)
			if v.OK != want {
				t.Fatalf("%d of %f: %+v, want %v", n, tokens, v, want)
			}
			if v.OK {
				tokens -= float64(n)
			}
			if left := max(tokens, 0); float64(v.Remaining) > left+1e-6 || float64(v.Remaining) < left-1-1e-6 {
				t.Fatalf("%d remain, want %f", v.Remaining, left)
			}
		}
	})
}
