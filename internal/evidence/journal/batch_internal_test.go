package journal

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Of two batches with one key the second is not written, and the error says why.
func TestSecondBatchWithAKeyIsRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	w, err := OpenEpoch(t.Context(), pool, "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	number, err := w.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	b, err := (&Journal{node: "a"}).prepare(number, []record.Entry{{
		RequestID: record.NewRequestID(now), At: now, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Purpose: "payment",
		Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 1, PolicyVersion: 1, PlanVersion: 1, Rules: 1, Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567, PhoneNumber: "08031234567"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{nil, errKeyTaken} {
		err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
			_, err := b.write(t.Context(), tx)
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("got %q, want %v", err, want)
		}
	}
}
