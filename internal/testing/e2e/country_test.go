package e2e_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// nationSettings suit a machine of 24 GB that does nothing else, as
// docs/how-to/tune-postgresql.md says.
var nationSettings = []string{
	"shared_buffers = 6GB", "min_wal_size = 4GB", "max_wal_size = 16GB", "checkpoint_timeout = 30min", "checkpoint_completion_target = 0.9",
	"wal_compression = lz4", "wal_buffers = 64MB", "maintenance_work_mem = 1GB", "effective_cache_size = 16GB", "autovacuum = on",
}

// country is a national database in the making.
type country struct {
	t    *testing.T
	url  string
	pool *pgxpool.Pool // as superuser
	dir  string
}

// shares are the networks of the country and their parts of its lines, in
// percent, as in the regulator's figures of December 2025.
var shares = []struct {
	network string
	percent int
}{{"MTN", 52}, {"AIRTEL", 34}, {"GLO", 12}, {"T2", 2}}

// A country's lines are loaded from generated files that are piped and never
// stored; the test reports the time, the bytes of each line, the ratio to
// PostgreSQL's own COPY of the same rows into the same table with its key, the
// cost of a change file and the cost of a verification beside the cost in a
// database of a million lines. The sizes come from the environment.
func TestNation(t *testing.T) {
	if os.Getenv("LINEPROOF_E2E_LINES") == "" {
		t.Skip("make nation runs it, in CI with 5 million lines: a small nation takes as long and shows nothing")
	}
	lines := size(t, "LINEPROOF_E2E_LINES", 20_000)
	changes := size(t, "LINEPROOF_E2E_CHANGES", lines/5)
	small := min(lines, size(t, "LINEPROOF_E2E_SMALL", 1_000_000))
	settings := nationSettings
	if lines < 1_000_000 {
		settings = nil
	}
	cluster, err := pgtest.Start(t.Context(), pgtest.Durable, settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	if err := cluster.MakeTemplate(t.Context()); err != nil {
		t.Fatal(err)
	}
	asOf := time.Now().UTC().Add(-48 * time.Hour).Truncate(time.Second)

	little := newNation(t, cluster)
	little.load(small, asOf)
	large := newNation(t, cluster)
	start := time.Now()
	ratios := large.load(lines, asOf)
	took := time.Since(start)
	heap, index := large.bytes()
	t.Logf("loaded %d lines in %v; per line %.1f bytes of heap and %.1f of index; import to COPY: %.2f of its speed",
		lines, took.Round(time.Second), heap, index, ratios)
	start = time.Now()
	if out, err := large.run(nil, "lines", "compact").CombinedOutput(); err != nil {
		t.Fatalf("lines compact: %v\n%s", err, out)
	}
	heap, index = large.bytes()
	t.Logf("after lines compact (%v): %.1f bytes of heap and %.1f of index, together %.1f", time.Since(start).Round(time.Second), heap, index, heap+index)
	if lines >= 1_000_000 && heap+index > 108 {
		t.Errorf("a line takes %.1f bytes, more than 108", heap+index)
	}
	t.Logf("verify, interleaved: %s", compareVerify(t, little, large, min(20_000, lines)))

	first := large.change(changes, asOf, true)
	t.Logf("change file of %d events, in the order of numbers: %v, %.0f events/s", changes, first.Round(time.Second), float64(changes)/first.Seconds())
	if out, err := large.run(nil, "lines", "check", "--json").Output(); err != nil {
		t.Errorf("lines check: %v\n%s", err, out)
	}
	heap, index = large.bytes()
	t.Logf("after the change: per line %.1f bytes of heap and %.1f of index", heap, index)
}

func newNation(t *testing.T, c *pgtest.Cluster) *country {
	t.Helper()
	name, err := c.Clone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := &country{t: t, url: c.URL(name), pool: pgtest.Open(t, c.URL(name), ""), dir: t.TempDir()}
	if out, err := n.run(nil, "plan", "import", "--shipped").CombinedOutput(); err != nil {
		t.Fatalf("plan import: %v\n%s", err, out)
	}
	return n
}

// run is the command on this country's database, reading from in.
func (n *country) run(in io.Reader, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		n.t.Fatal(err)
	}
	cmd := exec.CommandContext(n.t.Context(), self, args...)
	life := "1"
	if in != nil {
		life = modeReadsInput
	}
	cmd.Env = childEnv(life, "LINEPROOF_DATABASE_URL="+n.url, "LINEPROOF_DATA="+n.dir, "LINEPROOF_PEPPERS="+pepper)
	cmd.Dir, cmd.Stdin = n.dir, in
	if in == nil {
		held, err := cmd.StdinPipe() // a child ends when its standard input does
		if err != nil {
			n.t.Fatal(err)
		}
		n.t.Cleanup(func() { _ = held.Close() })
	}
	return cmd
}

// pipe runs two commands, the output of one being the input of the other, and
// returns how long it took.
func (n *country) pipe(from, to []string) time.Duration {
	n.t.Helper()
	start := time.Now()
	r, w, err := os.Pipe()
	if err != nil {
		n.t.Fatal(err)
	}
	source := n.run(nil, from...)
	var complaints bytes.Buffer
	source.Stdout, source.Stderr = w, &complaints
	if err := source.Start(); err != nil {
		n.t.Fatal(err)
	}
	_ = w.Close() // the child has it
	sink := n.run(r, to...)
	out, err := sink.CombinedOutput()
	_ = r.Close()
	if err != nil {
		n.t.Fatalf("%v: %v\n%s", to, err, out)
	}
	if err := source.Wait(); err != nil {
		n.t.Fatalf("%v: %v\n%s", from, err, complaints.String())
	}
	return time.Since(start)
}

// load fills the country, one snapshot for each network, and returns the mean
// of the ratios to COPY: after each import the same rows are copied.
func (n *country) load(lines int, asOf time.Time) float64 {
	n.t.Helper()
	at := asOf.Format(time.RFC3339)
	var ratios []float64
	for _, s := range shares {
		count := lines * s.percent / 100
		took := n.pipe([]string{"lines", "generate", "--network", s.network, "--lines", strconv.Itoa(count), "--as-of", at},
			[]string{"lines", "import", "--network", s.network, "--kind", "snapshot", "--as-of", at, "-"})
		var found int
		err := n.pool.QueryRow(n.t.Context(), `SELECT count(*) FROM line_now WHERE network = (SELECT id FROM network WHERE name = $1)`, s.network).Scan(&found)
		if err != nil || found != count {
			n.t.Fatalf("%s has %d lines, want %d: %v", s.network, found, count, err)
		}
		copied := n.copy(s.network)
		ratios = append(ratios, copied.Seconds()/took.Seconds())
		n.t.Logf("%s: %d lines in %v, %.0f/s; COPY of the same rows in %v, %.0f/s; ratio %.2f", s.network, count, took.Round(time.Millisecond),
			float64(count)/took.Seconds(), copied.Round(time.Millisecond), float64(count)/copied.Seconds(), copied.Seconds()/took.Seconds())
	}
	return ratios[0] // of the largest network
}

// change applies a change file about the lines of the largest network.
func (n *country) change(events int, asOf time.Time, sorted bool) time.Duration {
	n.t.Helper()
	var lines int64
	if err := n.pool.QueryRow(n.t.Context(), `SELECT rows FROM supply_import ORDER BY id LIMIT 1`).Scan(&lines); err != nil {
		n.t.Fatal(err)
	}
	at := asOf.Format(time.RFC3339)
	from := []string{
		"lines", "generate", "--network", shares[0].network, "--lines", strconv.FormatInt(lines, 10), "--as-of", at,
		"--changes", strconv.Itoa(min(events, int(lines))), "--to", asOf.Add(24 * time.Hour).Format(time.RFC3339),
	}
	if !sorted {
		from = append(from, "--unsorted")
	}
	return n.pipe(from, []string{"lines", "import", "--network", shares[0].network, "--kind", "events", "-"})
}

// bytes returns the size of line_now and of its indexes, by line.
func (n *country) bytes() (heap, index float64) {
	n.t.Helper()
	var h, i, lines int64
	err := n.pool.QueryRow(n.t.Context(), `SELECT pg_relation_size('line_now'), pg_indexes_size('line_now'), count(*) FROM line_now`).Scan(&h, &i, &lines)
	if err != nil {
		n.t.Fatal(err)
	}
	return float64(h) / float64(lines), float64(i) / float64(lines)
}
