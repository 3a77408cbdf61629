// Package nodes records which nodes run and how they are set up, so that an operator can see
// where they differ: a pepper or a directory of documents that one node has for itself loses
// nothing at once, and breaks requests that reach another node.
//
// Nothing secret is recorded: peppers and settings only as an HMAC, by which they can be
// compared and not be guessed.
package nodes

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	interval = 15 * time.Second
	// Silence is after how long a node that said nothing counts as gone.
	Silence = 4 * interval
	// forgotten is after how long its row is deleted.
	forgotten = 24 * time.Hour
)

// Node is one node.
type Node struct {
	Name        string
	Version     string
	Connections int               // that it may open
	Peppers     [][]byte          // the HMAC of a known text under each, newest first
	Files       string            // a bucket, or what it has written into its directory; see [Mark]
	Settings    map[string]string // the HMAC of each setting that all nodes share, by its name

	Seen time.Duration // how long ago, by the clock of the database
}

// Runs reports whether the node was seen lately.
func (n *Node) Runs() bool { return n.Seen < Silence }

// Recorder keeps the row of a node.
type Recorder struct {
	Pool *pgxpool.Pool
	Node Node
	Log  *slog.Logger
}

// Run records the node until ctx ends.
func (r *Recorder) Run(ctx context.Context) {
	pause.Loop{Interval: interval, Limit: interval, Failed: func(err error) {
		r.Log.LogAttrs(ctx, slog.LevelWarn, "this node could not be recorded; lineproof doctor --ha will not see it", slog.Any("error", err))
	}}.Run(ctx, r.Record)
}

// Record writes the row of the node, and deletes those of nodes that are gone.
func (r *Recorder) Record(ctx context.Context) error {
	n := &r.Node
	_, err := r.Pool.Exec(ctx, `INSERT INTO running_node (name, seen_at, version, connections, peppers, files, settings) VALUES ($1, now(), $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at, version = excluded.version, connections = excluded.connections,
			peppers = excluded.peppers, files = excluded.files, settings = excluded.settings`,
		n.Name, n.Version, n.Connections, n.Peppers, n.Files, n.Settings)
	if err == nil {
		_, err = r.Pool.Exec(ctx, `DELETE FROM running_node WHERE seen_at < now() - $1::interval`, forgotten)
	}
	return fault.Wrap(err, "nodes: record")
}

// Remove deletes the row of a node that stops.
func (r *Recorder) Remove(ctx context.Context) error {
	_, err := r.Pool.Exec(ctx, `DELETE FROM running_node WHERE name = $1`, r.Node.Name)
	return fault.Wrap(err, "nodes: remove")
}

// List returns all nodes by name, also those that were not seen lately.
func List(ctx context.Context, from pg.DB) ([]Node, error) {
	all, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (n Node, err error) {
		var seconds float64
		err = row.Scan(&n.Name, &n.Version, &n.Connections, &n.Peppers, &n.Files, &n.Settings, &seconds)
		n.Seen = time.Duration(seconds * float64(time.Second))
		return n, err
	}, `SELECT name, version, connections, peppers, files, settings, extract(epoch FROM now() - seen_at)::float8 FROM running_node ORDER BY name`)
	return all, fault.Wrap(err, "nodes: list")
}
