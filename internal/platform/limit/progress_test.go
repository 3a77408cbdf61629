package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/limit"
)

func TestNoMoreRequestsAreInProgressThanMayBe(t *testing.T) {
	t.Parallel()
	const most = 5
	var p limit.InProgress
	var inside, highest, refused atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 200 {
				k := limit.Of(limit.Client, [16]byte{1})
				if !p.Enter(k, most) {
					refused.Add(1)
					continue
				}
				for now := inside.Add(1); ; {
					if old := highest.Load(); now <= old || highest.CompareAndSwap(old, now) {
						break
					}
				}
				inside.Add(-1)
				p.Leave(k)
			}
		})
	}
	all.Wait()
	if highest.Load() > most {
		t.Errorf("%d requests were in progress, more than %d", highest.Load(), most)
	}
	t.Logf("%d were in progress at most, %d refused", highest.Load(), refused.Load())
}

func TestRequestsInProgressAreCountedForEachKey(t *testing.T) {
	t.Parallel()
	var p limit.InProgress
	one, other := limit.Of(limit.Client, [16]byte{1}), limit.Of(limit.Session, [16]byte{1})
	if !p.Enter(one, 1) || p.Enter(one, 1) || !p.Enter(other, 1) {
		t.Error("one request of each key may be in progress")
	}
	p.Leave(one)
	if !p.Enter(one, 1) {
		t.Error("a request that has ended still counts")
	}
}
