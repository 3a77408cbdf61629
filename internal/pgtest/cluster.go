package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a PostgreSQL server of our own on a private port.
type Cluster struct {
	dir   string
	port  int
	guard *exec.Cmd
	stdin io.Closer
}

// Durability says whether a cluster keeps its promises across a crash.
type Durability bool

// The two kinds of cluster: quick ones for tests of logic, durable ones for
// kills, faults and measurements.
const (
	Quick   Durability = false
	Durable Durability = true
)

// guardScript runs the server for as long as its standard input stays open, so
// that no server outlives the process that wanted it, however that ends.
const guardScript = `
"$0"/postgres -D "$1/data" >"$1/log" 2>&1 &
server=$!
read -r _
kill -QUIT "$server" 2>/dev/null
wait "$server" 2>/dev/null
rm -rf "$1"
`

// Start makes a new cluster and waits until it answers. It runs as user
// postgres when the caller is root, because initdb refuses root. Settings are
// further lines of its configuration, for measurements at a size for which the
// usual ones are too small.
func Start(ctx context.Context, d Durability, settings ...string) (*Cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(place(d), "lineproof-pg-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: make a directory: %w", err)
	}
	as, err := credential(dir)
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", filepath.Join(dir, "data"), "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--data-checksums")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	if err := configure(dir, port, d, settings); err != nil {
		return nil, err
	}

	c := &Cluster{dir: dir, port: port}
	c.guard = exec.Command("sh", "-c", guardScript, bin, dir) // without ctx: the pipe ends it
	c.guard.Dir = dir
	c.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C at the terminal is for the tests, not for the server
	if as != nil {
		c.guard.SysProcAttr.Credential = as.Credential
	}
	if c.stdin, err = c.guard.StdinPipe(); err != nil {
		return nil, fmt.Errorf("pgtest: pipe: %w", err)
	}
	if err := c.guard.Start(); err != nil {
		return nil, fmt.Errorf("pgtest: start the server: %w", err)
	}
	if err := c.wait(ctx); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		c.Stop()
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	return c, nil
}

// inMemory is where Linux keeps files in memory, and enoughMemory what must be
// free there: the suites of some packages run beside each other.
const (
	inMemory     = "/dev/shm"
	enoughMemory = 8 << 30
)

// place says where a cluster lies. One that promises nothing lies in memory if
// there is room, where a database is cloned in a tenth of the time that a disk
// takes. TMPDIR overrules that, as the long runs with much data do.
func place(d Durability) string {
	if d == Quick && os.Getenv("TMPDIR") == "" && freeBytes(inMemory) >= enoughMemory {
		return inMemory
	}
	return os.TempDir()
}

// freeBytes returns how much can be written below dir; 0 when there is no such
// place.
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

// LogFile returns the path of the server's own log.
func (c *Cluster) LogFile() string { return filepath.Join(c.dir, "log") }

// Stop ends the server and removes its files.
func (c *Cluster) Stop() {
	_ = c.stdin.Close()
	_ = c.guard.Wait()
}

func (c *Cluster) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("pgtest: the server did not answer: %w", err)
		}
	}
}

// configure writes the settings of the cluster. Parameters are kept out of the
// server's log as in production, so that the search for leaks covers it.
func configure(dir string, port int, d Durability, settings []string) error {
	fsync := "off"
	if d == Durable {
		fsync = "on"
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "listen_addresses = '127.0.0.1'\nport = %d\nunix_socket_directories = '%s'\n", port, dir)
	fmt.Fprintf(&b, "fsync = %[1]s\nfull_page_writes = %[1]s\nsynchronous_commit = %[1]s\n", fsync)
	b.WriteString("max_connections = 300\nshared_buffers = 128MB\nlog_parameter_max_length = 0\nlog_parameter_max_length_on_error = 0\n")
	if d == Quick {
		b.WriteString("max_wal_size = 128MB\n") // it may lie in memory
	}
	for _, s := range settings {
		b.WriteString(s + "\n")
	}
	f, err := os.OpenFile(filepath.Join(dir, "data", "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("pgtest: configure: %w", err)
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}

// binaries finds the newest PostgreSQL that is installed.
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

// credential returns how to run as user postgres, or nil when the caller is not
// root, and hands dir over to that user.
func credential(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nil is what exec wants for "as myself"
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("pgtest: root needs a user postgres to run the server: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
		return nil, fmt.Errorf("pgtest: hand the directory over: %w", err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func freePort(ctx context.Context) (int, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("pgtest: find a port: %w", err)
	}
	defer ln.Close()
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("pgtest: find a port: not TCP")
	}
	return addr.Port, nil
}
