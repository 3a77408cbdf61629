package tally_test

import (
	"testing"

	"github.com/google/uuid"
)

// What keys got is added up over nodes and flushes, by day, key and outcome, and an entity
// reads only its own.
func TestUsageByKeyIsAddedUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, other, key := b.entity(t), b.entity(t), uuid.New()
	for _, node := range []string{"one", "two"} {
		m := b.meter(node)
		for range 2 {
			m.RecordKey(bank, key, "live", "NORMAL", 3)
			m.RecordKey(bank, key, "live", "QUOTA_EXCEEDED", 1)
			m.RecordKey(bank, key, "test", "NORMAL", 100)
			m.RecordKey(other, uuid.New(), "live", "NORMAL", 1000)
			flush(t, m)
		}
	}
	got, err := b.UsageByKey(t.Context(), bank, "live", b.now(), b.now())
	if err != nil || len(got) != 2 || got[0].Outcome != "NORMAL" || got[0].N != 12 || got[0].Key != key || got[1].N != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
}
