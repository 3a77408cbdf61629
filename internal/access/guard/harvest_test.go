package guard_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access/guard"
)

// licensed is what an organisation has in the settings.
var licensed = guard.Budget{Numbers: 100_000, Year: 5_000_000}

const (
	nationLines = 200_000_000
	quarter     = 90 // days
)

// harvest is a slow way to read the nation out, which no day shows.
type harvest struct {
	name string
	kind guard.Kind
	days func(rng *rand.Rand, town *town) (perDay int, next func(i int64) int64)
	miss func(n int64) bool
}

func never(int64) bool { return false }

// unallocated reports whether a number has no line, for every third one.
func unallocated(n int64) bool { return uint64(n)*0x9e3779b97f4a7c15>>32%3 == 0 }

func harvests() []harvest {
	return []harvest{
		// 216 blocks of ten thousand, each emptied in random order, and on a day no more
		// than 463 of each, where 500 would be seen.
		{"216 emptied blocks", guard.Harvest, func(rng *rand.Rand, _ *town) (int, func(int64) int64) {
			return 100_000, func(i int64) int64 { return first + i%216*1_370_000 + rng.Int64N(10_000) }
		}, never},
		// One number after the other, as 24 of 100 requests of an honest organisation.
		{"a quarter sequential among honest requests", guard.Harvest, func(_ *rand.Rand, town *town) (int, func(int64) int64) {
			next, customers := int64(0), town.customers(1_500_000)
			return 100_000, func(i int64) int64 {
				if i%100 < 24 {
					next++
					return first + next
				}
				return customers[town.rng.IntN(len(customers))]
			}
		}, never},
		// At random in 27 blocks of a million, of which 29 in 100 are not allocated.
		{"27 blocks of a million with 29 % misses", guard.HarvestMisses, func(rng *rand.Rand, _ *town) (int, func(int64) int64) {
			return 99_000, func(i int64) int64 {
				for {
					if n := first + i%27*7_000_000 + rng.Int64N(1_000_000); unallocated(n) == (i%100 < 29) {
						return n
					}
				}
			}
		}, unallocated},
		// 1,500 neighbours a day, where 2,000 would be seen.
		{"1,500 neighbours a day", guard.Harvest, func(*rand.Rand, *town) (int, func(int64) int64) {
			return 1_500, func(i int64) int64 { return first + i }
		}, never},
	}
}

// Every style of slow harvest is found, and then stopped, within 90 days and before a
// hundredth of the nation is covered. The detector of a day sees none of them.
func TestSlowHarvestsAreFound(t *testing.T) {
	t.Parallel()
	for _, h := range harvests() {
		b := newBench(t)
		rng := seeded(t)
		bad, honest, town := b.entity(t), b.entity(t), newTown(rng)
		b.clock.set(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
		perDay, next := h.days(rng, town)
		syncs := 24 // a day
		if perDay < 10_000 {
			syncs = 4
		}
		var found, stopped time.Duration
		begin, harvested := b.clock.now(), make(map[int64]bool)
	days:
		for i := range int64(quarter * perDay) {
			if i%int64(perDay/syncs) == 0 {
				settle(t, b.Guard)
				for range 200 { // the crowd
					mustAsk(t, b.Guard, honest, licensed, town.customer())
				}
				if found == 0 && b.Slowed(bad) != 1 {
					found = b.clock.now().Sub(begin)
				}
			}
			b.clock.forward(24 * time.Hour / time.Duration(perDay))
			n := next(i)
			switch err := b.Admit(bad, licensed, number(n)); {
			case err == nil:
				harvested[n] = true
				b.Record(bad, number(n), h.miss(n))
			case errors.Is(err, guard.ErrStopped):
				stopped = b.clock.now().Sub(begin)
				break days
			}
		}
		settle(t, b.Guard)
		t.Logf("%s: found after %.1f days, stopped after %.1f, %d different numbers, %.3f %% of the nation", h.name, found.Hours()/24, stopped.Hours()/24, len(harvested), 100*float64(len(harvested))/nationLines)
		if found == 0 || stopped == 0 || len(harvested) > nationLines/100 {
			t.Errorf("%s: found after %s, stopped after %s, %d numbers", h.name, found, stopped, len(harvested))
		}
		if n, all := b.alertsOf(t, bad, h.kind), count(t, b.pool, `SELECT count(*) FROM guard_alert WHERE kind NOT LIKE 'year%' AND kind <> 'budget'`); n != 2 || all != n {
			t.Errorf("%s: %d alerts of its kind and %d in all, want slowed and stopped", h.name, n, all)
		}
		if err := b.node(t, "two").Admit(bad, licensed, number(first)); !errors.Is(err, guard.ErrStopped) {
			t.Errorf("%s: a node that starts answers it: %v", h.name, err)
		}
	}
}

// quarterly are organisations that ask for good reasons over 90 days; two of them are
// large banks.
func (t *town) quarterly(questions int) []party {
	share := func(percent int) int { return questions * percent / 100 }
	// The largest bank: half of its requests are payments to those who are paid often,
	// most others are about its customers at large, and one in twenty is typed by a new one.
	paid, customers := t.again(t.customers(share(45)/20)), t.customers(share(45)/3)
	largest := func(int) int64 {
		switch t.rng.IntN(20) {
		case 0:
			return t.typed(t.customer())
		case 1, 2, 3, 4, 5, 6, 7, 8, 9:
			return customers[t.rng.IntN(len(customers))]
		}
		return paid()
	}
	// Another bank goes once through the file of its customers.
	file := t.customers(share(20))
	at := 0
	review := func(int) int64 {
		at++
		return file[at%len(file)]
	}
	friends := t.again(t.customers(share(15) / 8))
	wallet := func(int) int64 {
		if t.rng.IntN(10) == 0 {
			return t.typed(t.customer())
		}
		return friends()
	}
	// A payroll office: companies with numbers in a row, five of them with a thousand,
	// and people with a number of their own.
	var staff []int64
	for range 40 {
		staff = append(staff, t.company(300)...)
	}
	for range 5 {
		staff = append(staff, t.company(1_000)...)
	}
	own := t.customers(max(share(8)/10, 100))
	office := func(int) int64 {
		if t.rng.IntN(4) == 0 {
			return staff[t.rng.IntN(len(staff))]
		}
		return own[t.rng.IntN(len(own))]
	}
	regional := t.customers(share(7)/2, 234_803, 234_806, 234_703)
	lender := func(int) int64 { return t.typed(regional[t.rng.IntN(len(regional))]) }
	list := t.customers(share(5) / 2)
	for i := range list {
		if t.rng.IntN(10) == 0 {
			list[i] = anyNumber(t.rng)
		}
	}
	shop := func(int) int64 { return list[t.rng.IntN(len(list))] }
	return []party{
		{name: "the largest bank", questions: share(45), next: largest},
		{name: "a bank that reviews all customers", questions: share(20), next: review},
		{name: "a wallet", questions: share(15), next: wallet},
		{name: "a payroll office", questions: share(8), next: office},
		{name: "a regional lender", questions: share(7), next: lender},
		{name: "a shop with an old list", questions: share(5), next: shop},
	}
}

// 90 days of honest requests stop nobody: none is refused, slowed or flagged.
// LINEPROOF_E2E_HARVEST is how many requests they are.
func TestHonestQuarterStopsNobody(t *testing.T) {
	t.Parallel()
	questions := sized(t, "LINEPROOF_E2E_HARVEST", 300_000)
	b := newBench(t)
	town := newTown(seeded(t))
	b.clock.set(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	parties := town.quarterly(questions)
	for i := range parties {
		parties[i].id = b.entity(t)
	}
	asked := 0
	for day := range quarter {
		for i := range parties {
			for range parties[i].questions / quarter {
				n := parties[i].next(0)
				if err := b.Admit(parties[i].id, licensed, number(n)); err != nil {
					t.Fatalf("%s was refused on day %d: %v", parties[i].name, day, err)
				}
				b.Record(parties[i].id, number(n), !town.assigned(n))
				asked++
			}
			if b.Slowed(parties[i].id) != 1 {
				t.Fatalf("%s was slowed on day %d", parties[i].name, day)
			}
		}
		settle(t, b.Guard)
		b.clock.forward(24 * time.Hour)
	}
	b.clock.forward(time.Hour)
	settle(t, b.Guard)
	for i := range parties {
		u, err := guard.UsageOf(t.Context(), b.pool, parties[i].id, b.clock.now())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d requests, %d different numbers, %d bytes stored", parties[i].name, parties[i].questions/quarter*quarter, u.Year,
			count(t, b.pool, `SELECT length(numbers) + length(recent) + length(missed) + length(blocks) FROM guard_year WHERE subject_id = $1`, parties[i].id))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d requests in all; %d MB in use, with the customers of the test", asked, m.HeapAlloc>>20)
	if n := count(t, b.pool, `SELECT count(*) FROM guard_alert`); n != 0 {
		t.Errorf("%d alerts, want none", n)
	}
}
