package pgtest

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// BackUp copies a node while it runs, and returns the copy, which does not run: a base
// backup with the log up to a moment. That is after moment was called, and everything that
// was committed then is in the backup. [Node.Restore] can be called on it more than once.
func (n *Node) BackUp(ctx context.Context, moment func()) (*Node, error) {
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	b, err := n.Standby(ctx, "backup", port)
	if err != nil {
		return nil, err
	}
	moment()
	var committed string
	if err = n.query(ctx, "SELECT pg_current_wal_flush_lsn()::text", &committed); err == nil {
		err = b.until(ctx, "SELECT pg_last_wal_replay_lsn() >= '"+committed+"'")
	}
	if err == nil {
		err = b.shutDown()
	}
	if err == nil {
		// What is started on this data recovers up to the end of its log and begins a new
		// timeline, as after a restore to a point in time. The log is there already.
		err = b.run(ctx, "mv", filepath.Join(b.data, "standby.signal"), filepath.Join(b.data, "recovery.signal"))
	}
	if err != nil {
		b.Stop()
		return nil, err
	}
	return b, nil
}

// Restore starts a server with the data of a backup on the given port, and returns once it
// accepts writes.
func (n *Node) Restore(ctx context.Context, port int) (*Node, error) {
	r, err := startCopy(ctx, n, "", port, "restore_command = 'false'")
	if err != nil {
		return nil, err
	}
	if _, err := r.Writable(ctx); err != nil {
		r.Stop()
		return nil, fmt.Errorf("pgtest: restore: %w", err)
	}
	return r, nil
}
