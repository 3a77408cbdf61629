package secret

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// With one slot and one place in the queue, the third caller is rejected at
// once and told when to retry; the second continues when the first leaves, and
// everything is free again at the end.
func TestThirdCallerIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords(onePepper(t), Cost{MemoryKiB: 8, Time: 1}, 1, 1)
		leave, err := p.Enter(t.Context(), Caller{})
		if err != nil {
			t.Fatal(err)
		}
		second := make(chan error, 1)
		go func() {
			_, err := p.Check(t.Context(), "", "password")
			second <- err
		}()
		synctest.Wait() // the second waits now

		start := time.Now()
		_, err = p.Hash(t.Context(), TestAccount, "password")
		f, ok := errors.AsType[*fault.Error](err)
		if !errors.Is(err, ErrBusy) || !ok || f.Code != fault.Unavailable || f.RetryAfter < time.Second || f.RetryAfter > maxRetrySeconds*time.Second {
			t.Errorf("third caller: %v", err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("third caller waited %v", waited)
		}

		leave()
		if err := <-second; err != nil {
			t.Errorf("second caller: %v", err)
		}
		if _, err := p.Hash(t.Context(), TestAccount, "password"); err != nil {
			t.Errorf("caller after the rush: %v", err)
		}
		if taken, waiting := p.queue.counts(); taken != 0 || waiting != 0 {
			t.Errorf("%d slots are still taken, %d wait", taken, waiting)
		}
	})
}

// A caller whose context ends while it waits gets a fault and frees its place
// in the queue.
func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords(onePepper(t), Cost{MemoryKiB: 8, Time: 1}, 1, 1)
		leave, err := p.Enter(t.Context(), Caller{})
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := p.Hash(ctx, TestAccount, "password"); fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Hash: %v", err)
		}
		if taken, waiting := p.queue.counts(); taken != 1 || waiting != 0 {
			t.Errorf("%d slots are taken and %d wait, want the first caller only", taken, waiting)
		}
	})
}

// An account that does not exist is checked at the same cost as one that does:
// the decoy hash has the same parameters and lengths, and the measured times
// agree. The bounds are wide, because the machine is shared; a check that
// returned early would be a thousand times faster.
func TestUnknownAccountCostsTheSame(t *testing.T) {
	t.Parallel()

	p := NewPasswords(onePepper(t), Cost{MemoryKiB: 4096, Time: 1}, 1, 1)
	hash, err := p.Hash(t.Context(), TestAccount, "password")
	if err != nil {
		t.Fatal(err)
	}
	known, err := parsePHC(hash)
	decoy := p.decoy
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(known.cost, decoy.cost); diff != "" || len(known.salt) != len(decoy.salt) || len(known.key) != len(decoy.key) {
		t.Errorf("the stand-in differs from a real hash: %s", diff)
	}

	fastest := map[string]time.Duration{hash: time.Hour, "": time.Hour}
	for range 8 {
		for h := range fastest {
			start := time.Now()
			if _, err := p.Check(t.Context(), h, "wrong"); err != nil {
				t.Fatal(err)
			}
			fastest[h] = min(fastest[h], time.Since(start))
		}
	}
	if ratio := float64(fastest[""]) / float64(fastest[hash]); ratio < 0.2 || ratio > 5 {
		t.Errorf("unknown account %v, known account %v", fastest[""], fastest[hash])
	}
}

func onePepper(t *testing.T) *Peppers {
	t.Helper()
	p, err := NewPeppers([]Text{"the only pepper of this test, 32 bytes"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
