package pgtest

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Node is a durable cluster for tests of faults: they kill it, freeze it, start
// it again on the same data, copy it to a standby and promote that.
type Node struct{ *Cluster }

// seed is a stopped node with the migrated database. Every node of this process
// starts with a copy of its data. It is removed when the process ends.
var seed = sync.OnceValues(func() (*Node, error) {
	ctx := context.Background()
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	n, err := newNode("", port)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		// With mmap the dynamic shared memory is part of PGDATA and removed with it.
		func() error { return n.initialise(ctx, Durable, "dynamic_shared_memory_type = mmap") },
		func() error { return n.Start(ctx) },
		func() error { return n.MakeTemplate(ctx) },
		n.shutDown,
	} {
		if err := step(); err != nil {
			n.Stop()
			return nil, err
		}
	}
	return n, nil
})

// StartNode creates a new node with a migrated database and waits until it
// answers. PGDATA is a directory in dir, or in the node's own directory, beside
// its log, if dir is empty. Settings are further lines of its configuration.
func StartNode(ctx context.Context, dir string, settings ...string) (*Node, error) {
	from, err := seed()
	if err != nil {
		return nil, err
	}
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	return startCopy(ctx, from, dir, port, settings...)
}

// startCopy starts a node on a copy of the data of another one, which does not run.
func startCopy(ctx context.Context, from *Node, dir string, port int, settings ...string) (*Node, error) {
	n, err := newNode(dir, port)
	if err != nil {
		return nil, err
	}
	if err = n.run(ctx, "cp", "-a", from.data, n.data); err == nil {
		err = n.Configure(append([]string{fmt.Sprintf("port = %d", port), "unix_socket_directories = '" + n.dir + "'"}, settings...)...)
	}
	if err == nil {
		err = n.Start(ctx)
	}
	if err != nil {
		n.Stop()
		return nil, err
	}
	return n, nil
}

func newNode(dataDir string, port int) (*Node, error) {
	c, err := newCluster("", dataDir, port)
	return &Node{c}, err
}

// Database returns the address of the node's one database.
func (n *Node) Database() string { return n.URL(template) }

// shutDown ends the server with a checkpoint, so that its data can be copied.
func (n *Node) shutDown() error {
	if err := syscall.Kill(n.PID(), syscall.SIGINT); err != nil {
		return fmt.Errorf("pgtest: shut down: %w", err)
	}
	return n.Wait()
}
