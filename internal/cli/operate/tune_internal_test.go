package operate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// PostgreSQL accepts every setting, and uses it.
func TestTuningIsAcceptedByPostgreSQL(t *testing.T) {
	t.Parallel()
	all := tuning(4<<30, 48)
	var lines []string
	for _, s := range all {
		lines = append(lines, s.Name+" = "+s.Value)
	}
	cluster, err := pgtest.Start(t.Context(), pgtest.Durable, lines...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	pool := pgtest.Open(t, cluster.URL("postgres"), "")
	for _, s := range all {
		var source string
		if err := pool.QueryRow(t.Context(), `SELECT source FROM pg_settings WHERE name = $1`, s.Name).Scan(&source); err != nil || source != "configuration file" {
			t.Errorf("%s is from %q: %v", s.Name, source, err)
		}
	}
}

func TestTuningFollowsTheMachine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		memory      int64
		connections int
		want, not   string
	}{
		{24 << 30, 48, "shared_buffers = 6144MB ", ""},
		{24 << 30, 240, "max_connections = 260 ", ""},
		{1 << 30, 24, "max_connections = 100 ", "shared_buffers"},
		{512 << 30, 24, "maintenance_work_mem = 2048MB ", ""},
	} {
		var out bytes.Buffer
		if err := writeTuning(&out, tuning(tc.memory, tc.connections)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), tc.want) || tc.not != "" && strings.Contains(out.String(), tc.not) {
			t.Errorf("%d GiB, %d connections:\n%s", tc.memory>>30, tc.connections, out.String())
		}
	}
	if memoryOfMachine() < 1<<28 {
		t.Error("this machine has no memory")
	}
}
