package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A node that runs is recorded with its directory, and not any more when it has stopped.
func TestNodeIsRecordedWhileItRuns(t *testing.T) {
	t.Parallel()
	url, data := pgtest.URL(t), t.TempDir()
	pool := pgtest.Open(t, url, pg.Read)
	r := start(t, url, "LINEPROOF_NODE=node-7", "LINEPROOF_DATA="+data)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all []nodes.Node
	for len(all) == 0 {
		var err error
		if all, err = nodes.List(ctx, pool); err != nil {
			t.Fatal(err)
		}
	}
	if n := all[0]; n.Name != "node-7" || !n.Runs() || n.Files == "" || n.Files != nodes.Marked(data+"/documents", "node-7") || len(n.Settings) < 50 || n.Settings["LINEPROOF_NODE"] != "" {
		t.Errorf("recorded: %+v", n)
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Fatal(err)
	}
	if all, err := nodes.List(ctx, pool); err != nil || len(all) != 0 {
		t.Errorf("after the stop: %+v, %v", all, err)
	}
}
