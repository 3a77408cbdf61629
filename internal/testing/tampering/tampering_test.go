package tampering_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func kinds() []kind {
	return slices.Concat(recordKinds, logKinds, receiptKinds, sourceKinds, ownKinds)
}

// size returns the size of a run.
func size(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a whole number above 0", name)
	}
	return n
}

// result is what became of an attempt.
type result struct {
	level level
	check *check
	found string
	err   error
}

// attempt copies the world, attacks the copy and looks for it.
func attempt(ctx context.Context, from *template, k *kind, rng *rand.Rand, then func(*attack, *result)) (r result) {
	w, err := from.fresh(ctx)
	if err != nil {
		return result{err: err}
	}
	defer w.drop()
	a, err := w.attack(ctx, rng)
	if err != nil {
		return result{err: err}
	}
	defer a.pool.Close()
	if err := a.commit(k); err != nil {
		return result{err: err}
	}
	if then != nil {
		if err := os.CopyFS(filepath.Join(w.dir, "monitor-before"), os.DirFS(filepath.Join(w.dir, "monitor"))); err != nil {
			return result{err: err}
		}
	}
	r.level, r.check, r.found, r.err = look(ctx, w, a.pool, a.handed)
	if then != nil && r.err == nil && r.check != nil {
		then(a, &r)
	}
	return r
}

// commit does the deed.
func (a *attack) commit(k *kind) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the attack itself failed: %v", cause)
		}
	}()
	ensure(a.serve(a.pool))
	k.do(a)
	return nil
}

// wrong says what is wrong with a result, if anything is.
func (k *kind) wrong(r *result) string {
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.level == unnoticed:
		return "NOT FOUND"
	case r.level <= k.missed:
		return "found by " + r.check.command + ", which must not suffice: " + r.found
	}
	return ""
}

// Every kind of tampering is found, by the command itself, too; and what must not be found
// with less is not.
func TestEveryKindOfTamperingIsFound(t *testing.T) {
	t.Parallel()
	world := newTemplate(t, newSite(t))
	for i, k := range kinds() {
		r := attempt(t.Context(), world, &k, rand.New(rand.NewPCG(1, uint64(i))), func(a *attack, r *result) { r.err = a.byCommand(r.check) })
		if wrong := k.wrong(&r); wrong != "" {
			t.Errorf("%s: %s", k.name, wrong)
			continue
		}
		t.Logf("%-62s %-28s %s", k.name, r.check.command, strings.TrimSpace(r.found))
	}
}

// nothing is no attack: the service goes on for a moment, and gives receipts.
var nothing = kind{name: "nothing", do: func(a *attack) {
	owner, super, done, err := a.open(a.ctx)
	ensure(err)
	defer done()
	ensure(a.honestWork(owner, super))
	for range 2 {
		a.handed = append(a.handed, a.honest())
	}
	ensure(a.serve(a.pool)) // the other connections are closed
}}

// Nobody is alarmed when nothing was done.
func TestUntouchedWorldsAreNotReported(t *testing.T) {
	t.Parallel()
	runs, seed := size(t, "LINEPROOF_UNTOUCHED", 5), rand.Uint64()
	world := newTemplate(t, newSite(t))
	for i := range runs {
		if r := attempt(t.Context(), world, &nothing, rand.New(rand.NewPCG(seed, uint64(i))), nil); r.err != nil || r.level != unnoticed {
			t.Errorf("run %d of seed %d: %v %s, %v", i, seed, r.level, r.found, r.err)
		}
	}
	t.Logf("%d untouched worlds", runs)
}

// score counts for a kind at which level its attempts were found.
type score map[level]int

// As many attempts as wanted, at random places: all are found. With less than a monitor and
// receipts some are not, and with less than witnesses more: a run that finds everything
// without them attacks too little.
func TestTampering(t *testing.T) {
	t.Parallel()
	attempts, workers, seed := size(t, "LINEPROOF_TAMPERINGS", 1), size(t, "LINEPROOF_TAMPERING_WORKERS", 2), rand.Uint64()
	if os.Getenv("LINEPROOF_TAMPERINGS") == "" {
		t.Skip("TestEveryKindOfTamperingIsFound does each kind once; make tampering does more")
	}
	list := kinds()
	scores := make([]score, len(list))
	for i := range scores {
		scores[i] = score{}
	}
	start := time.Now()
	var mu sync.Mutex
	var all sync.WaitGroup
	next := 0
	for range workers {
		world := newTemplate(t, newSite(t))
		all.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= attempts {
					return
				}
				k := &list[i%len(list)]
				r := attempt(t.Context(), world, k, rand.New(rand.NewPCG(seed, uint64(i))), nil)
				mu.Lock()
				scores[i%len(list)][r.level]++
				mu.Unlock()
				if wrong := k.wrong(&r); wrong != "" {
					t.Errorf("attempt %d of seed %d: %s: %s", i, seed, k.name, wrong)
				}
				if i%1000 == 999 {
					t.Logf("%d attempts in %s", i+1, time.Since(start).Round(time.Second))
				}
			}
		})
	}
	all.Wait()
	report(t, list, scores)
	t.Logf("seed %d, %d workers, %s", seed, workers, time.Since(start).Round(time.Second))
}

// report prints at which level each kind was found, and compares the controls.
func report(t *testing.T, list []kind, scores []score) {
	t.Helper()
	sums, missed := map[level]int{}, map[level]int{}
	attempts := 0
	for i, s := range scores {
		found := 0
		for _, l := range levels {
			found += s[l]
			sums[l] += found
			if found == 0 && s[l] == 0 {
				missed[l]++
			}
		}
		attempts += found + s[unnoticed]
		t.Logf("%-62s %4d attempts: %4d %s, %4d %s, %4d %s, %4d %s; %d not found", list[i].name, found+s[unnoticed],
			s[database], database, s[ownersLog], ownersLog, s[witnessed], witnessed, s[full], full, s[unnoticed])
	}
	for _, l := range levels {
		t.Logf("with %s: %d of %d found, %d of %d kinds never", l, sums[l], attempts, missed[l], len(list))
	}
	if sums[full] != attempts || sums[witnessed] >= sums[full] || sums[ownersLog] >= sums[witnessed] || sums[database] >= sums[ownersLog] {
		t.Error("every level must find more than the one before it, and the last one everything")
	}
}
