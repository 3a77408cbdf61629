package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Port returns the port on which the node listens.
func (n *Node) Port() int { return n.port }

// Standby makes a node that follows this one under the given name, on the given
// port. Nobody waits for it until [Node.Require] says so.
func (n *Node) Standby(ctx context.Context, name string, port int) (*Node, error) {
	s, err := newNode("", port)
	if err != nil {
		return nil, err
	}
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", n.port, name)
	err = s.run(ctx, filepath.Join(s.bin, "pg_basebackup"), "--pgdata", s.data, "--dbname", from, "--write-recovery-conf",
		"--checkpoint", "fast", "--wal-method", "stream", "--no-sync")
	if err == nil {
		// What it has copied is the configuration of the other.
		err = s.Configure(fmt.Sprintf("port = %d", port), "unix_socket_directories = '"+s.dir+"'", "synchronous_standby_names = ''")
	}
	if err == nil {
		err = s.Up(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Configure adds lines to the configuration. A server that runs reads them when
// it is told to, or when it starts again.
func (n *Node) Configure(settings ...string) error {
	f, err := os.OpenFile(filepath.Join(n.data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("pgtest: configure: %w", err)
	}
	for _, s := range settings {
		if _, err = f.WriteString(s + "\n"); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// Require makes every commit wait for the standby of that name, and returns
// once that holds.
func (n *Node) Require(ctx context.Context, name string) error {
	if err := n.Configure("synchronous_standby_names = '" + name + "'"); err != nil {
		return err
	}
	if err := n.Admin(ctx, "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	err := n.until(ctx, `SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '`+name+`' AND state = 'streaming' AND sync_state = 'sync'`)
	if err != nil {
		return err
	}
	// It is the checkpointer that tells the others to wait, and it reads its
	// configuration before it does what it is asked.
	return n.Admin(ctx, "CHECKPOINT")
}

// Promote tells a standby to become the primary. [Node.Writable] says when it
// has.
func (n *Node) Promote(ctx context.Context) error { return n.Admin(ctx, "SELECT pg_promote(false)") }

// Writable waits until the server accepts writes, and returns when that was.
func (n *Node) Writable(ctx context.Context) (time.Time, error) {
	err := n.until(ctx, "SELECT NOT pg_is_in_recovery() AND pg_current_xact_id() IS NOT NULL")
	return time.Now(), err
}

// Receiver returns the process of a standby that receives what the primary
// writes.
func (n *Node) Receiver(ctx context.Context) (pid int, err error) {
	if err := n.until(ctx, "SELECT count(*) = 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'"); err != nil {
		return 0, err
	}
	return pid, n.query(ctx, "SELECT pid FROM pg_stat_wal_receiver", &pid)
}

// Freeze stops one process until it is thawed: it keeps what it holds, and does
// nothing.
func Freeze(pid int) error { return signal(pid, syscall.SIGSTOP) }

// Thaw is the reverse of Freeze.
func Thaw(pid int) error { return signal(pid, syscall.SIGCONT) }

func signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("pgtest: %s to process %d: %w", s, pid, err)
	}
	return nil
}

// until asks again and again until the answer is yes. A server that cannot be
// asked has not said no.
func (n *Node) until(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		var yes bool
		err := n.query(ctx, sql, &yes)
		if err == nil && yes {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("pgtest: it never came true: %s", sql), err)
		}
	}
}

func (n *Node) query(ctx context.Context, sql string, into any) error {
	conn, err := pgx.Connect(ctx, n.URL("postgres"))
	if err != nil {
		return fmt.Errorf("pgtest: reach the server: %w", err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, sql).Scan(into); err != nil {
		return fmt.Errorf("pgtest: %s: %w", sql, err)
	}
	return nil
}
