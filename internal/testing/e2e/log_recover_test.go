package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/publiclog"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A database is restored to an earlier moment than that of the last published checkpoint:
// answers go on and nothing is signed. After the recovery the log goes on from what was
// published, and contradicts nothing of it.
func TestRestoredLogIsRecovered(t *testing.T) {
	_, cluster := durable(t)
	name := must(cluster.Clone(context.Background()))(t)
	w, book := newFixture(t, cluster.URL(name)), newLedger(t)
	opened, file := logtest.NewKeyFile(t, logOrigin)
	key, dir := opened.Verifier(), t.TempDir()
	settings := []string{"LINEPROOF_LOG_ORIGIN=" + logOrigin, "LINEPROOF_LOG_KEY=" + file}
	answer := func(node *instance) {
		stop := make(chan struct{})
		wait := rush(t, w, node.public, book, 2, stop)
		<-time.After(time.Second)
		close(stop)
		wait()
		<-time.After(2 * time.Second) // the answers are published
	}
	published := func(node *instance) (tree tlog.Tree, signed []byte) {
		signed = download(t, node.public, logPath+"checkpoint", "")
		return openCheckpoint(t, signed, key), signed
	}
	node := start(t, w, settings...)
	answer(node)
	node.Kill()
	w.pool.Close() // a database can be copied while nobody is connected
	until(t, "the database is copied", func() bool { return cluster.Admin(t.Context(), "CREATE DATABASE restored TEMPLATE "+name) == nil })

	node = start(t, w, settings...)
	answer(node)
	before, signed := published(node)
	node.Kill()
	checkpointFile, policyFile := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "policy")
	for path, content := range map[string]string{checkpointFile: string(signed), policyFile: "log " + key + "\nquorum none\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	w.url = cluster.URL("restored")
	command := func(args ...string) {
		p := launch(t, must(os.Create(filepath.Join(t.TempDir(), "command.log")))(t), append(w.settings(), settings...), args...)
		if !p.ends(t, time.Minute) || p.ExitCode() != 0 {
			t.Fatalf("%v ended with %d:\n%s", args, p.ExitCode(), p.output(t))
		}
	}
	command("journal", "new-epoch", "--reason", "restored by a test")
	node = start(t, w, settings...)
	answer(node)
	if after, _ := published(node); after.N >= before.N {
		t.Fatalf("a restored database has signed a log of %d entries, and %d were published", after.N, before.N)
	}
	command("log", "recover", "--reason", "exercise", "--policy", policyFile, "--checkpoint", checkpointFile)
	var newest tlog.Tree
	until(t, "the log goes on", func() bool { newest, _ = published(node); return newest.N > before.N })
	proof := must(tlog.ProveTree(newest.N, before.N, tlog.TileHashReader(newest, &httpTiles{t, node.public})))(t)
	if err := tlog.CheckTree(proof, newest.N, newest.Hash, before.N, before.Hash); err != nil {
		t.Errorf("the recovered log contradicts what was published: %v", err)
	}
	if r := must(publiclog.Check(t.Context(), pgtest.Open(t, w.url, "")))(t); len(r.Found) > 0 {
		t.Errorf("findings: %v", r.Found)
	}
}
