package limit_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/testing/redistest"
)

// BenchmarkTake measures one token of a busy key, and of many keys in turn.
func BenchmarkTake(b *testing.B) {
	r := limit.Rate{PerSecond: 1_000_000, Burst: 1_000_000}
	keys := make([]limit.Key, 4096)
	for i := range keys {
		keys[i] = anyone()
	}
	for _, bench := range []struct {
		name string
		keys []limit.Key
		open func(*testing.B) limit.Limiter
	}{
		{"memory/one key", keys[:1], func(*testing.B) limit.Limiter { return limit.NewMemory() }},
		{"memory/4096 keys", keys, func(*testing.B) limit.Limiter { return limit.NewMemory() }},
		{"shared/one key", keys[:1], func(b *testing.B) limit.Limiter { b.Helper(); return node(b, redistest.New(b)) }},
		{"shared/4096 keys", keys, func(b *testing.B) limit.Limiter { b.Helper(); return node(b, redistest.New(b)) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l, ctx := bench.open(b), b.Context()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				l.Take(ctx, bench.keys[i%len(bench.keys)], r, 1)
				i++
			}
			if s, is := l.(*limit.Shared); is {
				b.ReportMetric(float64(s.Trips())/float64(b.N), "trips/op")
			}
		})
	}
}
