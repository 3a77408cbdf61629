package e2e_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// mostT is the least value of Welch's t at which two sets of times are called
// different: with as many samples, one in a hundred thousand runs reaches it by
// chance.
const mostT = 4.5

// triesEach is how often each account is tried.
const triesEach = 10

// Nobody can find out by the time or the words of an answer who has an account.
// Known and unknown accounts are tried in turn, with wrong passwords, from
// addresses that differ each time. Passwords cost next to nothing in the first
// round, so that nothing hides behind them, and what they cost as shipped in the
// second.
func TestLoginTiming(t *testing.T) {
	for _, round := range []struct {
		name     string
		accounts int
		cost     secret.Cost
	}{
		{"passwords cost nothing", size(t, "LINEPROOF_E2E_ACCOUNTS", 20), secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}},
		{"passwords cost what they do", size(t, "LINEPROOF_E2E_ACCOUNTS_SHIPPED", 5), secret.Cost{}},
	} {
		t.Run(round.name, func(t *testing.T) {
			w := newFixture(t, pgtest.URL(t))
			settings := []string{"LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1"}
			if round.cost == (secret.Cost{}) {
				settings = []string{"LINEPROOF_ARGON2_MEMORY_KIB=19456", "LINEPROOF_ARGON2_TIME=2"}
			}
			p := start(t, w, settings...)
			names := w.plantPeople(t, round.accounts, round.cost)
			l := &timingProbe{t: t, address: p.public, shapes: map[string]int{}}
			for range 20 { // it warms up
				l.try("warm@nobody.example")
			}
			l.shapes = map[string]int{}
			for n := range triesEach {
				for _, i := range rand.Perm(round.accounts) {
					pair := []string{names[i], fmt.Sprintf("nobody-%d@people.example", i)}
					first := rand.IntN(2)
					for _, k := range []int{first, 1 - first} {
						l.times[k] = append(l.times[k], l.try(pair[k]))
					}
				}
				if n == 0 && len(l.shapes) != 1 {
					break
				}
			}
			for _, shape := range slices.Sorted(maps.Keys(l.shapes)) {
				if len(l.shapes) > 1 {
					t.Errorf("%d answers were:\n%s", l.shapes[shape], shape)
				}
			}
			score := welch(l.times[0], l.times[1])
			t.Logf("%d attempts at each: known %s, unknown %s on average; Welch's t is %.2f", len(l.times[0]), average(l.times[0]), average(l.times[1]), score)
			if math.Abs(score) >= mostT {
				t.Errorf("known and unknown accounts can be told apart by the time of the answer: t is %.2f", score)
			}
		})
	}
}

// plantPeople makes accounts with passwords of a cost and returns their
// addresses.
func (w *fixture) plantPeople(t *testing.T, n int, cost secret.Cost) []string {
	t.Helper()
	passwords := secret.NewPasswords(w.keeper.Peppers, cost, 1, 1)
	names := make([]string, n)
	for i := range names {
		id := uuid.Must(uuid.NewV7())
		hash := must(passwords.Hash(t.Context(), id, adminPassword))(t)
		names[i] = fmt.Sprintf("person-%d@people.example", i)
		_, err := w.pool.Exec(t.Context(), `INSERT INTO account (id, kind, entity_id, name, email, email_key, password_hash, created_at)
			VALUES ($1, 'member', $2, 'Person', $3, $3, $4, now())`, id, w.bank.ID, names[i], hash)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.pool.Exec(t.Context(), `VACUUM ANALYZE account`); err != nil {
		t.Fatal(err)
	}
	return names
}

// timingProbe tries accounts and notes what comes back, and when.
type timingProbe struct {
	t       *testing.T
	address string
	times   [2][]time.Duration
	shapes  map[string]int
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// try sends one wrong password over a connection of its own and returns how long
// the answer took.
func (l *timingProbe) try(email string) time.Duration {
	l.t.Helper()
	conn := callFrom(l.t, anyLoopback(), l.address)
	defer conn.close()
	raw := post(loginPath, "application/json", encode(map[string]string{"email": email, "password": "not-the-one-38"}))
	begin := time.Now()
	got, err := conn.send(raw)
	took := time.Since(begin)
	if err != nil || got.status != http.StatusUnauthorized {
		l.t.Fatalf("%d, %v: %s", got.status, err, got.body)
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(got.header)) {
		if name != "Date" {
			fmt.Fprintf(&b, "%s: %s\n", name, got.header[name])
		}
	}
	b.Write(got.body)
	l.shapes[anyID.ReplaceAllString(b.String(), "<id>")]++
	return took
}

// anyLoopback returns an address of this machine, nearly always of another
// network than the last.
func anyLoopback() string {
	return fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), 1+rand.IntN(250), 1+rand.IntN(250))
}

// callFrom connects from an address of this machine, or fails the test.
func callFrom(tb testing.TB, from, address string) *wire {
	tb.Helper()
	w := must(dialFrom(from, address))(tb)
	return &w
}

func average(times []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range times {
		sum += d
	}
	return (sum / time.Duration(len(times))).Round(time.Microsecond)
}

// welch returns Welch's t of two samples.
func welch(a, b []time.Duration) float64 {
	moments := func(times []time.Duration) (mean, variance float64) {
		for _, d := range times {
			mean += d.Seconds()
		}
		mean /= float64(len(times))
		for _, d := range times {
			variance += (d.Seconds() - mean) * (d.Seconds() - mean)
		}
		return mean, variance / float64(len(times)-1)
	}
	m1, v1 := moments(a)
	m2, v2 := moments(b)
	return (m1 - m2) / math.Sqrt(v1/float64(len(a))+v2/float64(len(b)))
}

// The yardstick itself can tell: two samples that differ by a tenth of their
// spread are told apart at the size of the long run, and two of one kind are not.
func TestWelchTellsWhatItShould(t *testing.T) {
	draw := func(n int, mean float64) []time.Duration {
		rng, times := rand.New(rand.NewPCG(7, uint64(n))), make([]time.Duration, n)
		for i := range times {
			times[i] = time.Duration((mean + rng.NormFloat64()) * float64(time.Millisecond))
		}
		return times
	}
	if score := welch(draw(10_000, 20), draw(9_999, 20.1)); math.Abs(score) < mostT {
		t.Errorf("a difference of a tenth of the spread has t %.2f", score)
	}
	if score := welch(draw(10_000, 20), draw(9_999, 20)); math.Abs(score) >= mostT {
		t.Errorf("no difference has t %.2f", score)
	}
}
