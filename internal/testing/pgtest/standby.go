package pgtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Port returns the port on which the node listens.
func (n *Node) Port() int { return n.port }

// StartPair starts a node and a standby that follows it. Both stop when the test ends.
func StartPair(ctx context.Context, tb testing.TB) (primary, standby *Node) {
	tb.Helper()
	primary, err := StartNode(ctx, "")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(primary.Stop)
	port, err := process.FreePort(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	if standby, err = primary.Standby(ctx, "second", port); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(standby.Stop)
	return primary, standby
}

// Standby creates a standby of this node under the given name, on the given
// port. Commits do not wait for it until [Node.Require] is called.
func (n *Node) Standby(ctx context.Context, name string, port int) (*Node, error) {
	s, err := newNode("", port)
	if err != nil {
		return nil, err
	}
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", n.port, name)
	err = s.run(ctx, filepath.Join(s.bin, "pg_basebackup"), "--pgdata", s.data, "--dbname", from, "--write-recovery-conf",
		"--checkpoint", "fast", "--wal-method", "stream", "--no-sync")
	if err == nil {
		// The copy has the configuration of the primary.
		err = s.Configure(fmt.Sprintf("port = %d", port), "unix_socket_directories = '"+s.dir+"'", "synchronous_standby_names = ''")
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Configure adds lines to the configuration. A running server reads them when
// it is told to reload, or when it starts again.
func (n *Node) Configure(settings ...string) error {
	return n.appendConfig(strings.Join(settings, "\n") + "\n")
}

// Require makes every commit wait for the standby of that name, and returns
// once that is in effect and the standby confirms commits.
func (n *Node) Require(ctx context.Context, name string) error {
	if err := n.WaitFor(ctx, name); err != nil {
		return err
	}
	return n.until(ctx, `SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '`+name+`' AND state = 'streaming' AND sync_state = 'sync'`)
}

// WaitFor makes every commit wait for the standby of that name, which need not exist, or
// with "" for none, and returns once that is in effect.
func (n *Node) WaitFor(ctx context.Context, name string) error {
	if err := n.Configure("synchronous_standby_names = '" + name + "'"); err != nil {
		return err
	}
	if err := n.Admin(ctx, "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	// The checkpointer publishes the new setting to the other processes, and it
	// reloads its configuration before it starts a requested checkpoint.
	return n.Admin(ctx, "CHECKPOINT")
}

// Promote makes a standby the primary. [Node.Writable] waits until it is.
func (n *Node) Promote(ctx context.Context) error { return n.Admin(ctx, "SELECT pg_promote(false)") }

// Writable waits until the server accepts writes, and returns the time.
func (n *Node) Writable(ctx context.Context) (time.Time, error) {
	err := n.until(ctx, "SELECT NOT pg_is_in_recovery() AND pg_current_xact_id() IS NOT NULL")
	return time.Now(), err
}

// Receiver returns the process id of a standby's WAL receiver.
func (n *Node) Receiver(ctx context.Context) (pid int, err error) {
	if err := n.until(ctx, "SELECT count(*) = 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'"); err != nil {
		return 0, err
	}
	return pid, n.query(ctx, "SELECT pid FROM pg_stat_wal_receiver", &pid)
}

// until repeats a query until it returns true. A server that cannot be reached
// counts as not yet.
func (n *Node) until(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		var ok bool
		err := n.query(ctx, sql, &ok)
		if err == nil && ok {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("pgtest: timed out waiting for: %s", sql), err)
		}
	}
}

func (n *Node) query(ctx context.Context, sql string, into any) error {
	conn, err := pgx.Connect(ctx, n.URL("postgres"))
	if err != nil {
		return fmt.Errorf("pgtest: connect: %w", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, sql).Scan(into); err != nil {
		return fmt.Errorf("pgtest: %s: %w", sql, err)
	}
	return nil
}
