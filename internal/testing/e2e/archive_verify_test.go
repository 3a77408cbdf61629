package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/confined"
)

// Nobody who verifies a number is refused while old days are archived, which is done with a
// low priority, and the additional latency is measured. The ratio is enforced only if the environment says so, because it
// needs a quiet machine.
func TestVerifyDuringArchive(t *testing.T) {
	records, rate := size(t, "LINEPROOF_E2E_ARCHIVE_RECORDS", 10_000), size(t, "LINEPROOF_E2E_RATE", 100)
	calm := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 2)) * time.Second
	w := newFixture(t, startDurable(t)())
	const days, each = 2, 500
	oldDays(t, w.url, days, max(records/days/each, 1), each)
	p := start(t, w)
	waitUntilCounted(t, w, days*max(records/days/each, 1)*each)
	l := &openLoop{world: w, address: p.public, rate: rate}

	idle := func(ctx context.Context) error { return pass(ctx, calm) }
	l.run(t, &phase{name: "while it warms up"}, idle)
	without, with := &phase{name: "without an archive run"}, &phase{name: "with an archive run"}
	l.run(t, without, idle)
	l.run(t, with, func(ctx context.Context) error {
		a := archiveCommand(t, w.url, cmp.Or(os.Getenv("LINEPROOF_E2E_ARCHIVE_DIR"), t.TempDir())) // such as an empty directory of another disk
		nice := 0
		for begin := time.Now(); !a.ends(t, 20*time.Millisecond); {
			if since := int(time.Since(begin) / time.Second); since >= len(with.marks) {
				with.mark(fmt.Sprintf("second %d", since))
			}
			if reversed, err := syscall.Getpriority(syscall.PRIO_PROCESS, a.PID()); err == nil {
				nice = 20 - reversed // the kernel returns 20 less the niceness
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if nice < confined.Niceness {
			t.Errorf("the archiving had a niceness of %d, want %d", nice, confined.Niceness)
		}
		if a.ExitCode() != 0 {
			return fmt.Errorf("e2e: the archiving ended with %d:\n%s", a.ExitCode(), a.output(t))
		}
		return nil
	})
	l.run(t, without, idle)

	if got, want := standing(t, w.pool), fmt.Sprintf("%d archived, 0 detaching, 0 detached, 0 left", days); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	without.report(t)
	with.report(t)
	for _, second := range with.parts() {
		second.report(t)
	}
	ratio := float64(with.quantile(0.99)) / float64(without.quantile(0.99))
	t.Logf("p99 is %.2f times that without", ratio)
	if failed, why := with.failed(); failed > 0 {
		t.Errorf("%d of %d verifications had no answer, such as: %s", failed, len(with.askings), why)
	}
	if most := os.Getenv("LINEPROOF_E2E_RATIO"); most != "" && ratio > must(strconv.ParseFloat(most, 64))(t) {
		t.Errorf("p99 is %.2f times that without, more than %s", ratio, most)
	}
}

// waitUntilCounted returns when the service has counted the records that were planted. In a
// service that runs all the time that is done before a day is archived.
func waitUntilCounted(t *testing.T, w *fixture, records int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Minute)
	for counted := 0; counted < records; {
		if err := w.pool.QueryRow(t.Context(), `SELECT coalesce(sum(n), 0) FROM journal_day WHERE entity_id = $1`, uuid.Nil).Scan(&counted); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("only %d of %d records were counted", counted, records)
		}
		_ = pass(t.Context(), 50*time.Millisecond)
	}
}
