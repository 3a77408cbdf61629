package guard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// BenchmarkAdmitAndRecord measures what the guard adds to a verification: Admit
// before and Record after. The numbers are 100,000 different ones spread over
// the country, each verified again and again, or always new ones.
func BenchmarkAdmitAndRecord(b *testing.B) {
	numbers := make([]phone.Number, 100_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range numbers {
		numbers[i] = number(anyNumber(rng))
	}
	budget := guard.Budget{Day: 1 << 40, Month: 1 << 40, Numbers: 1 << 40}
	b.Run("known", func(b *testing.B) {
		s := newBench(b)
		bank := s.entity(b)
		for _, n := range numbers {
			_ = s.Admit(bank, budget, n)
			s.Record(bank, n, false)
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			n := numbers[i%len(numbers)]
			if err := s.Admit(bank, budget, n); err != nil {
				b.Fatal(err)
			}
			s.Record(bank, n, false)
		}
	})
	b.Run("new", func(b *testing.B) {
		s := newBench(b)
		b.ReportAllocs()
		bank := s.entity(b)
		b.ResetTimer()
		for i := range b.N {
			if i%len(numbers) == 0 {
				b.StopTimer()
				bank = s.entity(b)
				b.StartTimer()
			}
			n := numbers[i%len(numbers)]
			if err := s.Admit(bank, budget, n); err != nil {
				b.Fatal(err)
			}
			s.Record(bank, n, false)
		}
	})
	b.Run("known, all cores", func(b *testing.B) {
		s := newBench(b)
		bank := s.entity(b)
		b.ReportAllocs()
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				n := numbers[i%len(numbers)]
				if err := s.Admit(bank, budget, n); err != nil {
					b.Error(err)
					return
				}
				s.Record(bank, n, false)
			}
		})
	})
}
