package guard_test

import (
	"math/rand/v2"

	"github.com/google/uuid"
)

// prefixes are those of a nation, ten million numbers each. Those that were
// opened first have the most lines.
var prefixes = []int64{
	234_803, 234_802, 234_805, 234_806, 234_808, 234_703, 234_807, 234_706, 234_813, 234_816, 234_708, 234_705, 234_810, 234_814, 234_812,
	234_815, 234_809, 234_811, 234_701, 234_817, 234_818, 234_903, 234_902, 234_905, 234_906, 234_901, 234_907, 234_908, 234_909,
}

// anyNumber returns a number of the nation at random, with a line or without.
func anyNumber(rng *rand.Rand) int64 {
	return prefixes[rng.IntN(len(prefixes))]*10_000_000 + rng.Int64N(10_000_000)
}

// town is a nation of lines and those who ask about them.
type town struct {
	rng  *rand.Rand
	salt uint64
}

func newTown(rng *rand.Rand) *town { return &town{rng, rng.Uint64()} }

// assigned reports whether a number has a line. Operators sell their numbers in
// blocks of ten thousand: two in three are sold, nearly whole, and the others
// hardly.
func (t *town) assigned(n int64) bool {
	sold := t.mix(n/10_000)%3 != 0
	of := t.mix(n+1<<50) % 100
	return sold && of < 90 || of < 2
}

func (t *town) mix(n int64) uint64 {
	x := (uint64(n) ^ t.salt) * 0x9e3779b97f4a7c15
	x ^= x >> 31
	return x * 0xbf58476d1ce4e5b9 >> 20
}

// customer returns a number with a line, of an ordinary prefix or of one of
// those that are given.
func (t *town) customer(of ...int64) int64 {
	for {
		first := prefixes[min(t.rng.IntN(len(prefixes)), t.rng.IntN(len(prefixes)))]
		if len(of) > 0 {
			first = of[t.rng.IntN(len(of))]
		}
		if n := first*10_000_000 + t.rng.Int64N(10_000_000); t.assigned(n) {
			return n
		}
	}
}

// typed returns a number as a person types it: one in fifty with a wrong digit.
func (t *town) typed(n int64) int64 {
	if t.rng.IntN(50) > 0 {
		return n
	}
	place := int64(1)
	for range t.rng.IntN(7) {
		place *= 10
	}
	return n + (t.rng.Int64N(9)+1-n/place%10)*place
}

// party is an organisation that asks for good reasons.
type party struct {
	name      string
	id        uuid.UUID
	questions int
	next      func(hour int) int64
}

// customers returns that many numbers with lines.
func (t *town) customers(n int, of ...int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = t.customer(of...)
	}
	return all
}

// company returns numbers in a row, as an employer buys them.
func (t *town) company(people int) []int64 {
	from := t.customer()
	all := make([]int64, people)
	for i := range all {
		all[i] = from + int64(i)
	}
	return all
}

// again returns a payee: few are paid often, many seldom.
func (t *town) again(known []int64) func() int64 {
	z := rand.NewZipf(t.rng, 1.1, 8, uint64(len(known)-1))
	return func() int64 { return known[z.Uint64()] }
}

// file returns numbers of a file, one by one from its beginning to its end.
func file(all []int64) func() (int64, bool) {
	at := 0
	return func() (int64, bool) {
		if at == len(all) {
			return 0, false
		}
		at++
		return all[at-1], true
	}
}

// parties distributes requests over five organisations.
func (t *town) parties(questions int) []party {
	share := func(percent int) int { return questions * percent / 100 }
	// A large bank: nineteen payments in twenty, to those who were paid before; new
	// customers; from the sixteenth hour on, at night, its file of 20,000 customers
	// for the review, and the payroll of one company.
	paid := t.again(t.customers(share(50) / 12))
	night, pay := file(t.customers(share(50)/25)), file(t.company(300))
	bank := func(hour int) int64 {
		if hour >= 16 && hour < 20 {
			if n, more := night(); more {
				return n
			}
		}
		if hour == 3 {
			if n, more := pay(); more {
				return n
			}
		}
		if t.rng.IntN(20) == 0 {
			return t.typed(t.customer())
		}
		return paid()
	}
	// A wallet: one question in ten is about a new customer, who types the number.
	friends := t.again(t.customers(share(30) / 8))
	wallet := func(int) int64 {
		if t.rng.IntN(10) == 0 {
			return t.typed(t.customer())
		}
		return friends()
	}
	// A payroll office: ten companies with 300 numbers in a row each, and those of
	// their people who have a number of their own.
	var staff []int64
	for range 10 {
		staff = append(staff, t.company(300)...)
	}
	rows, own := file(staff), t.again(t.customers(share(10)/10))
	office := func(int) int64 {
		if n, more := rows(); more && t.rng.IntN(2) == 0 {
			return n
		}
		return own()
	}
	// A lender in one region, whose customers are all with one operator.
	regional := t.customers(share(6)/2, 234_803, 234_806, 234_703)
	lender := func(int) int64 { return t.typed(regional[t.rng.IntN(len(regional))]) }
	// A shop with an old list: one number in ten was never right.
	list := t.customers(share(4) / 2)
	for i := range list {
		if t.rng.IntN(10) == 0 {
			list[i] = anyNumber(t.rng)
		}
	}
	shop := func(int) int64 { return list[t.rng.IntN(len(list))] }
	return []party{
		{name: "a large bank", questions: share(50), next: bank},
		{name: "a wallet", questions: share(30), next: wallet},
		{name: "a payroll office", questions: share(10), next: office},
		{name: "a regional lender", questions: share(6), next: lender},
		{name: "a shop with an old list", questions: share(4), next: shop},
	}
}
