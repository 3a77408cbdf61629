package operate

import (
	"os"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Nodes with another pepper, directory, version or settings are reported, and one that stopped
// without a word, by name.
func TestNodesThatDifferAreReported(t *testing.T) {
	t.Parallel()
	const one, two secret.Text = "the first pepper, which is long enough", "the second pepper, which is long enough"
	d := &databaseChecks{report: &report{}, pool: pgtest.New(t)}
	data := t.TempDir()
	settings := func(more ...string) config.Config {
		cfg, err := config.Load(t.Context(), append([]string{"LINEPROOF_NODE=one", "LINEPROOF_DATA=" + data}, more...))
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	record := func(cfg config.Config, change func(*nodes.Node), list ...secret.Text) *nodes.Recorder {
		t.Helper()
		peppers, err := secret.NewPeppers(list)
		if err != nil {
			t.Fatal(err)
		}
		n := server.DescribeNode(cfg, peppers)
		if err := os.MkdirAll(server.DocumentDirectory(cfg), 0o700); err != nil {
			t.Fatal(err)
		}
		if n.Files == "" {
			if n.Files, err = nodes.Mark(server.DocumentDirectory(cfg), n.Name); err != nil {
				t.Fatal(err)
			}
		}
		if change != nil {
			change(&n)
		}
		r := &nodes.Recorder{Pool: d.pool, Node: n}
		if err := r.Record(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	own, err := secret.NewPeppers([]secret.Text{one})
	if err != nil {
		t.Fatal(err)
	}
	d.cfg = settings()
	check := func() { d.nodes(d.running(t.Context()), own) }

	if check(); len(d.findings) != 0 {
		t.Errorf("one machine, before the start: %+v", d.findings)
	}
	record(settings(), nil, one)
	expect(t, d, check, "ok    nodes: 1 run", "fail  nodes: 1 run: no other can answer")
	second := func(more ...string) config.Config {
		return settings(append([]string{"LINEPROOF_NODE=two", "LINEPROOF_LISTEN=127.0.0.1:9"}, more...)...)
	}
	record(second(), nil, one)
	expect(t, d, check, "ok    nodes: 2 run, and are set up alike", "ok    nodes: 2 run")

	record(second("LINEPROOF_KEY_RATE=7", "LINEPROOF_REGION=GH"), nil, one)
	const settingsDiffer = "  nodes: two has other values than this command for LINEPROOF_KEY_RATE; LINEPROOF_REGION"
	expect(t, d, check, "warn"+settingsDiffer, "fail"+settingsDiffer)
	record(second(), func(n *nodes.Node) { n.Version = "v0.0.9" }, one)
	expect(t, d, check, "warn  nodes: two runs v0.0.9", "fail  nodes: two runs v0.0.9")

	// One that knows the pepper of the others and hashes with its own, and the other way around.
	for _, list := range [][]secret.Text{{two, one}, {two}} {
		record(second(), nil, list...)
		expect(t, d, check, "fail  nodes: two hashes with another pepper", "fail  nodes: two hashes with another pepper")
	}
	record(second(), nil, one, two)
	expect(t, d, check, "ok    nodes: 2 run", "ok    nodes: 2 run")

	record(second("LINEPROOF_DATA="+t.TempDir()), nil, one)
	expect(t, d, check, "fail  nodes: two stores documents elsewhere", "fail  nodes: two stores documents elsewhere")
	const bucket = "LINEPROOF_S3_ENDPOINT=http://127.0.0.1:9 LINEPROOF_S3_BUCKET=bucket LINEPROOF_S3_ACCESS_KEY=a LINEPROOF_S3_SECRET_KEY=s"
	record(second(strings.Fields(bucket)...), nil, one)
	expect(t, d, check, "fail  nodes: two stores documents elsewhere", "fail  nodes: two stores documents elsewhere")

	last := record(second(), nil, one)
	if _, err := d.pool.Exec(t.Context(), `UPDATE running_node SET seen_at = seen_at - interval '2 minutes' WHERE name = 'two'`); err != nil {
		t.Fatal(err)
	}
	expect(t, d, check, "warn  nodes: two was last seen 2m0s ago", "fail  nodes: two was last seen 2m0s ago")
	if err := last.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, d, check, "ok    nodes: 1 run", "fail  nodes: 1 run: no other can answer")
}

// The connections of all nodes together are compared with what the database allows.
func TestConnectionsOfAllNodesAreSummed(t *testing.T) {
	t.Parallel()
	d := &databaseChecks{report: &report{}, pool: pgtest.New(t), cfg: config.Config{Node: "one", VerifyConns: 6}}
	own := d.cfg.Connections()
	for _, other := range []int{own, 400} { // of the 297 that the cluster of the tests allows
		d.connections(t.Context(), []nodes.Node{{Name: "one", Connections: own}, {Name: "two", Connections: other}})
	}
	d.connections(t.Context(), []nodes.Node{{Name: "two", Connections: own}, {Name: "three", Connections: own}})
	for i, want := range []string{"ok    connections: 2 nodes may open ", "fail  connections: 2 nodes may open ", "ok    connections: 3 nodes may open "} {
		if got := d.findings[i].line(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
