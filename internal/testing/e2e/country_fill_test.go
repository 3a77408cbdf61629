package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// What the fill factor of line_now costs and saves: the size of a line, and the CPU
// and WAL of PostgreSQL for each event of a change file about a fifth of the lines.
// LINEPROOF_E2E_FILL lists the fill factors, which are measured in turn.
func TestFillFactor(t *testing.T) {
	if os.Getenv("LINEPROOF_E2E_FILL") == "" {
		t.Skip("set LINEPROOF_E2E_FILL to fill factors such as 94,85,80 to measure them")
	}
	lines := size(t, "LINEPROOF_E2E_LINES", 1_000_000)
	changes := size(t, "LINEPROOF_E2E_CHANGES", lines/5)
	cluster, err := pgtest.Start(t.Context(), pgtest.Durable, nationSettings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	if err := cluster.MakeTemplate(t.Context()); err != nil {
		t.Fatal(err)
	}
	asOf := time.Now().UTC().Add(-48 * time.Hour).Truncate(time.Second)
	for factor := range strings.SplitSeq(os.Getenv("LINEPROOF_E2E_FILL"), ",") {
		n := newNation(t, cluster)
		n.exec(`ALTER TABLE line_now SET (fillfactor = ` + factor + `)`)
		n.loadNetwork(lines, asOf)
		n.exec(`VACUUM ANALYZE line_now`)
		n.exec(`CHECKPOINT`)
		heap, index := n.bytes()
		wal, cpu, commands := n.wal(), must(process.CPU(cluster.PID()))(t), endedCPU(t)
		took := n.change(changes, asOf, true)
		cpu, wal, commands = must(process.CPU(cluster.PID()))(t)-cpu, n.wal()-wal, endedCPU(t)-commands
		heapAfter, indexAfter := n.bytes()
		t.Logf("fill factor %s: %.1f bytes of a line (heap %.1f, index %.1f), %.1f after the changes (heap %.1f, index %.1f)",
			factor, heap+index, heap, index, heapAfter+indexAfter, heapAfter, indexAfter)
		t.Logf("fill factor %s: %d events in %v; the commands used %.1f µs, PostgreSQL used %.1f µs and wrote %.0f bytes of WAL for each; %s of the updates stayed on their page",
			factor, changes, took.Round(time.Millisecond), float64(commands.Microseconds())/float64(changes), float64(cpu.Microseconds())/float64(changes), float64(wal)/float64(changes), n.hotShare())
	}
}

// endedCPU returns the CPU of the children of this process that have ended.
func endedCPU(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func (n *country) exec(statement string) {
	n.t.Helper()
	if _, err := n.pool.Exec(n.t.Context(), statement); err != nil {
		n.t.Fatalf("%s: %v", statement, err)
	}
}

// loadNetwork loads a snapshot of the largest network.
func (n *country) loadNetwork(lines int, asOf time.Time) {
	n.t.Helper()
	at, network := asOf.Format(time.RFC3339), shares[0].network
	n.pipe([]string{"lines", "generate", "--network", network, "--lines", strconv.Itoa(lines), "--as-of", at},
		[]string{"lines", "import", "--network", network, "--kind", "snapshot", "--as-of", at, "-"})
}

// wal returns how many bytes of WAL have been written.
func (n *country) wal() (bytes int64) {
	n.t.Helper()
	if err := n.pool.QueryRow(n.t.Context(), `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&bytes); err != nil {
		n.t.Fatal(err)
	}
	return bytes
}

// hotShare returns which part of the updates of lines needed no new index entry.
func (n *country) hotShare() string {
	n.t.Helper()
	var hot, all int64
	for deadline := time.Now().Add(10 * time.Second); all == 0 && time.Now().Before(deadline); { // the statistics arrive a little later
		if err := n.pool.QueryRow(n.t.Context(), `SELECT n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables WHERE relname = 'line_now'`).Scan(&hot, &all); err != nil {
			n.t.Fatal(err)
		}
	}
	if all == 0 {
		return "an unknown share"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(hot)/float64(all))
}
