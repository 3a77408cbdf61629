package nodes_test

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A node is listed as it was recorded last while it runs, not after it stopped, and one that
// ended otherwise counts as gone after a minute and is forgotten after a day.
func TestNodesThatRunAreListed(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	record := func(n nodes.Node) *nodes.Recorder {
		t.Helper()
		r := &nodes.Recorder{Pool: pool, Node: n, Log: slog.New(slog.DiscardHandler)}
		if err := r.Record(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	expect := func(want ...nodes.Node) []nodes.Node {
		t.Helper()
		got, err := nodes.List(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(nodes.Node{}, "Seen"), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		return got
	}
	old := func(name, by string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), `UPDATE running_node SET seen_at = seen_at - $2::interval WHERE name = $1`, name, by); err != nil {
			t.Fatal(err)
		}
	}
	one := nodes.Node{Name: "one", Version: "v1", Connections: 34, Peppers: [][]byte{{1}, {2}}, Files: "bucket", Settings: map[string]string{"LINEPROOF_REGION": "ab"}}
	two := nodes.Node{Name: "two", Version: "v1", Connections: 34, Peppers: [][]byte{{1}}, Files: "bucket", Settings: map[string]string{}}
	record(one)
	two.Version = "v2"
	second := record(two)
	for _, n := range expect(one, two) {
		if !n.Runs() {
			t.Errorf("%s was just recorded and does not run", n.Name)
		}
	}
	old("one", "61 s")
	if all := expect(one, two); all[0].Runs() || !all[1].Runs() {
		t.Errorf("after a minute without a word from the first: %+v", all)
	}
	old("one", "1 day")
	record(two)
	expect(two)
	if err := second.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect()
}

// What a node writes into its directory is found in that directory, and not in a copy from
// before.
func TestDirectoryOfItsOwnIsSeen(t *testing.T) {
	t.Parallel()
	shared, own := t.TempDir(), t.TempDir()
	text, err := nodes.Mark(shared, "node / one")
	if err != nil {
		t.Fatal(err)
	}
	if earlier, err := nodes.Mark(own, "node / one"); err != nil || earlier == text {
		t.Fatalf("two marks are the same, or %v", err)
	}
	if nodes.Marked(shared, "node / one") != text || nodes.Marked(own, "node / one") == text || nodes.Marked(shared, "two") != "" {
		t.Error("the mark is not where it was written, or elsewhere")
	}
	if _, err := nodes.Mark(shared+"/none", "one"); err == nil {
		t.Error("a directory that does not exist was marked")
	}
}
