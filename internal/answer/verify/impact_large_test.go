package verify_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// The impact of one large file of late SIM changes, with every answer about its lines
// in the database or in an archive, is found within five minutes on two cores. This
// run is small; LINEPROOF_E2E_IMPACT_ROWS sets the rows of the file, and
// LINEPROOF_E2E_IMPACT_ANSWERS the answers.
func TestImpactOfALargeFile(t *testing.T) {
	t.Parallel()
	const goal = 5 * time.Minute
	rows, answers := fromEnv(t, "LINEPROOF_E2E_IMPACT_ROWS", 5_000), fromEnv(t, "LINEPROOF_E2E_IMPACT_ANSWERS", 1_200)
	r := newImpactRun(t, 100)
	super := pgtest.Open(t, r.pool.Config().ConnString(), "")
	r.clock = r.clock.Add(time.Hour)
	r.snapshot(r.clock.Add(-time.Minute), 0, r.lines, 0)
	r.addLines(super, rows)
	effective, want := r.clock.AddDate(0, 0, runDays/2), 0
	for range runDays {
		r.verifyMany(answers / runDays)
		if !r.clock.Before(effective) {
			want += answers / runDays
		}
		r.clock = r.clock.AddDate(0, 0, 1)
	}
	r.clock = r.clock.Add(-20 * time.Hour)
	file := r.reportAll(super, effective)
	r.archive(runDays * 3 / 4) // half of the answers that differ
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	found := r.find(t.Context(), file)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if len(found.Differences) != want || found.Numbers != rows || found.NotDerivable > 0 {
		t.Errorf("%d differences about %d numbers, %d not derivable; want %d about %d", len(found.Differences), found.Numbers, found.NotDerivable, want, rows)
	}
	if took > goal {
		t.Errorf("it took %v, more than %v", took, goal)
	}
	t.Logf("the impact of a file of %d rows: %d differences, found in %v; %d records read, %d answers compared; %d MiB of memory from the system, %d MiB before",
		rows, len(found.Differences), took.Round(10*time.Millisecond), found.Records, found.Compared, after.Sys>>20, before.Sys>>20)
}

// addLines gives the register that many lines, in place of the first few.
func (r *impactRun) addLines(super *pgxpool.Pool, rows int) {
	r.t.Helper()
	_, err := super.Exec(r.t.Context(), `INSERT INTO line_now (number, version, baseline, network, state, bits, state_since, tenure_start)
		SELECT $1::bigint + i, version, baseline, network, state, bits, state_since, tenure_start
		FROM (SELECT * FROM line_now WHERE number = $1::bigint + 1) l, generate_series($2::bigint, $3::bigint - 1) i`, int64(firstLine), r.lines, rows)
	if err != nil {
		r.t.Fatal(err)
	}
	r.lines = rows
}

// reportAll stores a file of events that has one SIM change for every line, and returns
// it. What the fold makes of it is not stored: impact does not read that.
func (r *impactRun) reportAll(super *pgxpool.Pool, effective time.Time) verify.Correction {
	r.t.Helper()
	im, err := r.Begin(r.t.Context(), supplierOf(line.Operator, "MTN"), supply.ImportForm{Kind: linefile.Events}, "cli")
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = super.Exec(r.t.Context(), `INSERT INTO line_event (number, seq, reported_at, effective, supplier, import, kind, authority, network,
			base_import, base_network, base_state, base_bits, base_since, base_tenure, base_sim, event_id)
		SELECT number, nextval('line_event_seq'), $1, $2, 1, $3, $4, $5, network, baseline, network, state, bits, coalesce(state_since, tenure_start),
			tenure_start, sim_at, 'sim ' || number FROM line_now`,
		r.clock, line.InstantOf(effective), r.importNumber(im.ID), int16(line.ChangeSIM), int16(line.Operator))
	if err != nil {
		r.t.Fatal(err)
	}
	return verify.Correction{Import: im.ID}
}
