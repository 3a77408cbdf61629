package verify_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// While a number is sealed, nobody is told of a past answer about it, whenever the change was
// read and whenever the seal began; others are told. When the seal ends, all are told, once.
func TestNoticesAboutSealedNumbersWait(t *testing.T) {
	t.Parallel()
	r := newImpactRun(t, 100)
	teller := r.teller()
	seal := func(odd int64) {
		t.Helper()
		err := pg.InTx(t.Context(), r.pool, func(tx pg.Tx) error {
			for n := firstLine + odd; n < firstLine+100; n += 2 {
				number, _ := phone.FromInt(n)
				s := outbox.Seal{ID: uuid.New(), Number: number, Until: r.clock.AddDate(0, 6, 0), AskedAt: r.clock, Expires: r.clock.AddDate(0, 0, 7)}
				if err := outbox.AddSeal(t.Context(), tx, s); err != nil {
					return err
				}
				if _, err := outbox.StartSeal(t.Context(), tx, s.ID, r.clock); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	distributeNow := func() {
		t.Helper()
		d := distribute.New(&distribute.Distributor{Pool: r.pool, Lines: &linestore.Resolver{}, Now: func() time.Time { return r.clock }})
		for range 3 {
			if _, _, err := d.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.live(500)
	distributeNow() // the feeds have told the changes, and the notices have not read them yet
	seal(1)
	r.tell(teller)
	told := r.notices()
	var waiting, open int
	replay := r.replay()
	different := func(i int) bool { return replay[i].said != replay[i].hindsight && len(replay[i].later) > 0 }
	for i := range replay {
		if !different(i) {
			continue
		}
		want := 1
		if open++; (replay[i].Number-firstLine)%2 == 1 {
			want = 0
			waiting++
		}
		if got := len(told[replay[i].RequestID]); got != want {
			t.Errorf("while the odd numbers are sealed, an answer about %d was told %d times", replay[i].Number, got)
		}
	}
	if waiting == 0 || open == waiting {
		t.Fatalf("the run is not random enough: %d answers differ, %d of them about sealed numbers", open, waiting)
	}

	r.clock = r.clock.AddDate(0, 7, 0)
	distributeNow()
	r.tell(teller)
	told = r.notices()
	for i := range replay {
		if got := len(told[replay[i].RequestID]); different(i) && got != 1 {
			t.Errorf("after the seals, an answer about %d was told %d times", replay[i].Number, got)
		}
	}
}
