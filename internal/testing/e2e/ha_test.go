package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/patronitest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// haCluster is the whole of deploy/ha: two nodes behind HAProxy over a cluster that heals itself, and
// clients that go on whatever happens.
type haCluster struct {
	*clients

	t       *testing.T
	w       *fixture
	db      *patronitest.Cluster
	nodes   [2]*haNode
	proxy   *process.Server
	began   time.Time
	outages map[string][]time.Duration
	back    map[string][]time.Duration // from the new leader's first commit to the first answer
}

// haNode is a node that can be started again under its addresses.
type haNode struct {
	*instance

	settings []string
}

func newHaCluster(t *testing.T) *haCluster {
	t.Helper()
	if os.Getenv("LINEPROOF_E2E_HA") == "" {
		t.Skip("needs Patroni, etcd and HAProxy; run with make ha, and nightly")
	}
	root := must(filepath.Abs("../../.."))(t)
	n := &haCluster{t: t, db: must(patronitest.Start(t.Context(), root))(t), began: time.Now(), outages: map[string][]time.Duration{}, back: map[string][]time.Duration{}}
	t.Cleanup(n.db.Stop)
	admin := must(pgx.Connect(t.Context(), n.db.URL("postgres")+"&target_session_attrs=read-write"))(t)
	_ = must(admin.Exec(t.Context(), "CREATE DATABASE lineproof"))(t)
	if err := admin.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	url := n.db.URL("lineproof")
	_ = must(pg.Migrate(t.Context(), url+"&target_session_attrs=read-write"))(t)
	n.w = newFixture(t, url+"&target_session_attrs=read-write")
	_ = must(n.w.pool.Exec(t.Context(), "SELECT journal_make_partitions(7)"))(t)
	for i := range n.nodes {
		n.nodes[i] = &haNode{settings: []string{
			"LINEPROOF_LISTEN=" + freeAddress(t), "LINEPROOF_PRIVATE_LISTEN=" + freeAddress(t), fmt.Sprintf("LINEPROOF_NODE=%s-%d", nodeName, i+1), "LINEPROOF_DATABASE_URL=" + url,
			"LINEPROOF_TRUSTED_PROXIES=127.0.0.1/32", "LINEPROOF_DRAIN_DELAY=4s", "LINEPROOF_LOG_LEVEL=warn", "LINEPROOF_VERIFY_TIMEOUT=1s",
		}}
		n.serve(n.nodes[i])
	}
	n.clients = newClients(n.w, n.startProxy(root), newTape(t))
	return n
}

func freeAddress(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", must(process.FreePort(t.Context()))(t))
}

// serve starts a node, for the first time or again.
func (n *haCluster) serve(node *haNode) {
	n.t.Helper()
	log := must(os.Create(filepath.Join(n.t.TempDir(), "server.log")))(n.t)
	node.instance = launch(n.t, log, append(n.w.settings(), node.settings...), "serve")
	address := strings.TrimPrefix(node.settings[0], "LINEPROOF_LISTEN=")
	process.Until(n.t, "the node listens", func() bool { return reachable(address) })
}

// startProxy starts HAProxy with the configuration of deploy/ha, without TLS, and returns its
// address.
func (n *haCluster) startProxy(root string) string {
	n.t.Helper()
	dir := must(os.MkdirTemp("", "lineproof-haproxy-"))(n.t)
	address := freeAddress(n.t)
	config := string(must(os.ReadFile(filepath.Join(root, "deploy", "ha", "haproxy.cfg")))(n.t))
	bind := regexp.MustCompile(`(?m)^    bind :443 ssl .*$`)
	if !bind.MatchString(config) {
		n.t.Fatal("haproxy.cfg does not bind port 443")
	}
	config = bind.ReplaceAllString(config, "    bind "+address)
	if err := os.Mkdir(filepath.Join(dir, "errors"), 0o700); err != nil {
		n.t.Fatal(err)
	}
	for name, text := range map[string]string{"haproxy.cfg": config, "errors/503.http": string(must(os.ReadFile(filepath.Join(root, "deploy", "ha", "errors", "503.http")))(n.t))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
	var env []string
	for i, node := range n.nodes {
		public, private := strings.TrimPrefix(node.settings[0], "LINEPROOF_LISTEN="), strings.TrimPrefix(node.settings[1], "LINEPROOF_PRIVATE_LISTEN=")
		host, port, _ := strings.Cut(private, ":")
		env = append(env, fmt.Sprintf("NODE_%d=%s", i+1, public), fmt.Sprintf("NODE_%d_HOST=%s", i+1, host), fmt.Sprintf("NODE_%d_READY=%s", i+1, port))
	}
	n.proxy = must(process.New(process.Spec{
		Program: "haproxy", Args: []string{"-W", "-f", filepath.Join(dir, "haproxy.cfg")}, Dir: dir, Env: env, StopSignal: "TERM", Timeout: 10 * time.Second,
		Ready: func(context.Context) error {
			if !reachable(address) {
				return fmt.Errorf("nothing listens at %s", address)
			}
			return nil
		},
	}))(n.t)
	n.t.Cleanup(n.proxy.Stop)
	if err := n.proxy.Start(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	return address
}

// inject lets a fault happen under load, measures until requests are answered again, and repairs
// what the fault broke.
func (n *haCluster) inject(name string, fault func() (repair func())) {
	n.t.Helper()
	want := n.answered.Load() + int64(size(n.t, "LINEPROOF_E2E_ANSWERS", 300))
	process.Until(n.t, "the clients have their answers", func() bool { return n.answered.Load() >= want })
	before := time.Now()
	repair := fault()
	gap := n.longestGap(before)
	n.outages[name] = append(n.outages[name], gap)
	repair()
	if err := n.db.WaitSynchronous(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	n.t.Logf("%s: no answer for %s", name, gap.Round(time.Millisecond))
}

// longestGap watches answers until they have come for three seconds without a pause, and returns the
// longest time without one.
func (n *haCluster) longestGap(since time.Time) (gap time.Duration) {
	n.t.Helper()
	last, seen, calm := since, n.answered.Load(), since
	process.Until(n.t, "requests are answered again", func() bool {
		now := time.Now()
		if has := n.answered.Load(); has > seen {
			if pause := now.Sub(last); pause > gap {
				gap = pause
			}
			if now.Sub(last) > 500*time.Millisecond {
				calm = now
			}
			seen, last = has, now
		}
		return now.Sub(last) < 200*time.Millisecond && now.Sub(calm) > 3*time.Second && now.Sub(since) > 6*time.Second
	})
	return gap
}

func (n *haCluster) leader() *patronitest.Member {
	n.t.Helper()
	return must(n.db.Leader(n.t.Context()))(n.t)
}

// promoted waits for another leader than before, which has a standby so that it can commit, and notes
// how soon after its first commit requests are answered.
func (n *haCluster) promoted(name string, before *patronitest.Member) {
	n.t.Helper()
	first := n.next()
	var leader *patronitest.Member
	process.Until(n.t, "another member is the leader", func() bool {
		for _, m := range n.db.Nodes {
			if m != before && m.Writable(n.t.Context()) {
				leader = m
				return true
			}
		}
		return false
	})
	n.must(leader.Commit(n.t.Context()))
	at := time.Now()
	select {
	case answered := <-first:
		n.back[name] = append(n.back[name], max(0, answered.Sub(at)))
	case <-time.After(time.Minute):
		n.t.Fatalf("%s: no answer within a minute of the new leader", name)
	}
}

func (n *haCluster) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// The whole of deploy/ha survives the loss, the hanging and the exchange of each of its parts under
// load: every acknowledged answer is in the journal once.
func TestHighAvailability(t *testing.T) {
	n := newHaCluster(t)
	n.begin(t, size(t, "LINEPROOF_E2E_CALLERS", 16))
	rounds := size(t, "LINEPROOF_E2E_ROUNDS", 1)
	for range rounds {
		n.inject("leader and Patroni killed", func() func() {
			m := n.leader()
			n.must(m.Kill())
			n.promoted("leader and Patroni killed", m)
			return func() { n.must(m.Start(t.Context())) }
		})
		n.inject("leader frozen and continued", func() func() {
			m := n.leader()
			n.must(m.Freeze())
			n.promoted("leader frozen and continued", m)
			return func() { n.must(m.Thaw()) }
		})
		n.inject("PostgreSQL killed", func() func() {
			n.must(n.leader().KillDatabase())
			return func() {}
		})
		n.inject("switchover", func() func() {
			m := n.leader()
			n.must(n.db.Switchover(t.Context()))
			n.promoted("switchover", m)
			return func() {}
		})
		n.inject("both standbys frozen for 5 s", func() func() {
			leader := n.leader()
			for _, m := range n.db.Nodes {
				if m != leader {
					n.must(m.Freeze())
				}
			}
			<-time.After(5 * time.Second)
			for _, m := range n.db.Nodes {
				if m != leader {
					n.must(m.Thaw())
				}
			}
			return func() {}
		})
		n.inject("one etcd killed", func() func() {
			n.must(n.db.Etcd[0].Kill())
			return func() { n.must(n.db.Etcd[0].Start(t.Context())) }
		})
		n.inject("node killed", func() func() {
			n.nodes[0].Kill()
			n.nodes[0].wait(t)
			return func() { n.serve(n.nodes[0]) }
		})
		n.inject("HAProxy reloaded", func() func() {
			n.must(syscall.Kill(n.proxy.PID(), syscall.SIGUSR2))
			return func() {}
		})
	}
	n.finish(rounds)
}

// finish stops everything and compares the ledger with the journal.
func (n *haCluster) finish(rounds int) {
	n.t.Helper()
	n.end()
	for _, node := range n.nodes {
		node.terminate(n.t)
		node.wait(n.t)
	}
	for _, s := range n.unexpected {
		n.t.Errorf("an answer that no caller should get: %s", s)
	}
	n.w.pool.Reset()
	r, findings := examine(n.t, n.w, n.tape, false)
	for _, finding := range findings[:min(len(findings), 20)] {
		n.t.Error(finding)
	}
	for name, gaps := range n.outages {
		slices.Sort(gaps)
		n.t.Logf("%s, %d times: no answer for p50 %s, longest %s; from the new leader's first commit to an answer %s", name, rounds, gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond), n.back[name])
		for _, after := range n.back[name] {
			if after > time.Second {
				n.t.Errorf("%s: the first answer came %s after the new leader's first commit", name, after)
			}
		}
	}
	r.Faults, r.Seconds = rounds*len(n.outages), time.Since(n.began).Seconds()
	n.t.Logf("%d faults in %.0f s: %s", r.Faults, r.Seconds, r)
	r.keep(n.t)
}
