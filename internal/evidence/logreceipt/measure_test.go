package logreceipt_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

// How long the proof of an answer takes, whose day is in the database, and how large a
// receipt is. The goals are 20 ms for 99 of 100 and 3,000 bytes.
func TestProofIsQuickAndSmall(t *testing.T) {
	t.Parallel()
	const ticks, batches, records, proofs = 20, 15, 20, 500
	e := newEnv(t)
	var ids []uuid.UUID
	for range ticks {
		for range batches {
			for _, one := range e.answer(records) {
				ids = append(ids, one.RequestID)
			}
		}
		e.publish()
	}
	took, largest := make([]time.Duration, proofs), 0
	for i := range took {
		start := time.Now()
		text, err := e.receipt(ids[rand.IntN(len(ids))])
		if err != nil {
			t.Fatal(err)
		}
		took[i], largest = time.Since(start), max(largest, len(text))
	}
	slices.Sort(took)
	t.Logf("%d answers in %d entries: half of %d proofs took at most %v, 99 of 100 %v; the largest receipt has %d bytes",
		len(ids), ticks*batches, proofs, took[proofs/2], took[proofs*99/100], largest)
	if largest > 3000 {
		t.Errorf("a receipt has %d bytes", largest)
	}
	// The clock of a machine that does other things decides nothing: ten times the goal.
	if took[proofs/2] > 200*time.Millisecond {
		t.Errorf("half of the proofs took longer than %v", took[proofs/2])
	}
}
