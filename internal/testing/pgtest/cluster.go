package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Cluster is a PostgreSQL server on a port of its own.
type Cluster struct {
	*process.Server

	bin, dir string
	data     string // PGDATA
	port     int
	user     *syscall.Credential // that runs the server; nil is the current user
}

// Durability says whether a cluster survives a crash.
type Durability bool

// The two kinds of cluster: quick ones for tests of logic, durable ones for
// kills, faults and measurements.
const (
	Quick   Durability = false
	Durable Durability = true
)

// freeSharedMemory removes the shared memory of a server that was killed and
// could not do it itself. Line 7 of its lock file has the key and the id; $2 is
// PGDATA.
const freeSharedMemory = `
if [ -f "$2/postmaster.pid" ]; then
	set -- $(sed -n 7p "$2/postmaster.pid")
	ipcrm -m "$2"
fi
`

// Start creates a new cluster and waits until it answers. Settings are further
// lines of its configuration, for measurements with more data than the usual
// ones allow for.
func Start(ctx context.Context, d Durability, settings ...string) (*Cluster, error) {
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(parentDir(d), "", port)
	if err != nil {
		return nil, err
	}
	if err = c.initialise(ctx, d, settings...); err == nil {
		err = c.Start(ctx)
	}
	if err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// newCluster creates the directory of a cluster, below parent, and prepares its
// server. PGDATA is a directory in dataDir, or in the cluster's own directory if
// that is empty. When the caller is root, the server runs as the user postgres,
// because PostgreSQL refuses to run as root.
func newCluster(parent, dataDir string, port int) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, port: port}
	if c.dir, err = os.MkdirTemp(parent, "lineproof-pg-"); err != nil {
		return nil, fmt.Errorf("pgtest: create a directory: %w", err)
	}
	if dataDir == "" {
		dataDir = c.dir
	}
	c.data = filepath.Join(dataDir, "data")
	if c.user, err = process.As("postgres", c.dir, dataDir); err != nil {
		return nil, err
	}
	c.Server, err = process.New(process.Spec{
		Program: filepath.Join(bin, "postgres"), Args: []string{"-D", c.data}, Dir: c.dir, Credential: c.user,
		StopSignal: "QUIT", Cleanup: freeSharedMemory, Ready: c.connect, Timeout: 30 * time.Second,
	})
	return c, err
}

// initialise creates PGDATA.
func (c *Cluster) initialise(ctx context.Context, d Durability, settings ...string) error {
	err := c.run(ctx, filepath.Join(c.bin, "initdb"), "--pgdata", c.data, "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--data-checksums")
	if err != nil {
		return err
	}
	return c.configure(d, settings)
}

// run runs a program as the user of the server.
func (c *Cluster) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: c.user}, c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", filepath.Base(program), err, out)
	}
	return nil
}

// memoryDir is where Linux keeps files in memory, and minMemory the number of
// bytes that must be free there: the tests of several packages run in parallel.
const (
	memoryDir = "/dev/shm"
	minMemory = 8 << 30
)

// parentDir returns the directory in which to create a cluster. One that need
// not survive a crash is kept in memory if there is enough, because that clones a
// database in a tenth of the time a disk takes. TMPDIR overrides this; the long
// runs with much data use it.
func parentDir(d Durability) string {
	if d == Quick && os.Getenv("TMPDIR") == "" && freeBytes(memoryDir) >= minMemory {
		return memoryDir
	}
	return os.TempDir()
}

// freeBytes returns how much can be written below dir; 0 if dir does not exist.
func freeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // the types differ between systems
}

// URL returns the address of a database of the cluster, as superuser.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

func (c *Cluster) connect(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("pgtest: connect: %w", err)
	}
	return conn.Close(ctx)
}

// configure appends to postgresql.conf. Query parameters stay out of the
// server's log as in production, so that the search for leaks covers that log.
func (c *Cluster) configure(d Durability, settings []string) error {
	fsync := "off"
	if d == Durable {
		fsync = "on"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = '%s'\n", c.port, c.dir)
	fmt.Fprintf(&b, "fsync = %[1]s\nfull_page_writes = %[1]s\nsynchronous_commit = %[1]s\n", fsync)
	b.WriteString("max_connections = 300\nshared_buffers = 128MB\nlog_parameter_max_length = 0\nlog_parameter_max_length_on_error = 0\n")
	if d == Quick {
		b.WriteString("max_wal_size = 128MB\n") // it may be in memory
	}
	for _, s := range settings {
		b.WriteString(s + "\n")
	}
	return c.appendConfig(b.String())
}

func (c *Cluster) appendConfig(text string) error {
	f, err := os.OpenFile(filepath.Join(c.data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("pgtest: configure: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// binaries finds the newest installed PostgreSQL.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", errors.New("pgtest: no PostgreSQL server is installed (Debian: apt-get install postgresql)")
	}
	return filepath.Dir(path), nil
}
