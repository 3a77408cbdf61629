package patronitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Member is a PostgreSQL and the Patroni that runs it.
type Member struct {
	Database string // the address of PostgreSQL

	name    string
	rest    string // the address of Patroni
	data    string
	patroni *process.Server
	cluster *Cluster
}

// stopServer ends the PostgreSQL that Patroni leaves behind when it is killed.
const stopServer = `
if [ -f data/postmaster.pid ]; then
	pid=$(head -n 1 data/postmaster.pid)
	kill -CONT -- "-$pid" "$pid"
	kill -QUIT "$pid"
	for _ in $(seq 100); do kill -0 "$pid" || break; sleep 0.1; done
fi 2>/dev/null
`

func (c *Cluster) startMember(ctx context.Context, i int, etcd string) (*Member, error) {
	m := &Member{name: fmt.Sprintf("db-%d", i+1), cluster: c}
	var err1, err2 error
	m.Database, err1 = address(ctx)
	m.rest, err2 = address(ctx)
	dir, err3 := os.MkdirTemp("", "lineproof-patroni-")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("patronitest: %w", err)
	}
	m.data = filepath.Join(dir, "data")
	user, err := process.As("postgres", dir)
	if err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(c.root, "deploy", "ha", "patroni.yml"))
	if err != nil {
		return nil, fmt.Errorf("patronitest: %w", err)
	}
	config = []byte(strings.ReplaceAll(string(config), "/etc/patroni/tls", c.tls))
	file := filepath.Join(dir, "patroni.yml") // the user postgres may not be able to read the repository
	if err := os.WriteFile(file, config, 0o644); err != nil {
		return nil, fmt.Errorf("patronitest: %w", err)
	}
	m.patroni, err = process.New(process.Spec{
		Program: "patroni", Args: []string{file}, Dir: dir, Credential: user, StopSignal: "KILL", Cleanup: stopServer, Timeout: 2 * time.Minute,
		Env: []string{
			"PATRONI_NAME=" + m.name, "PATRONI_ETCD_HOSTS=" + etcd, "PATRONI_ETCD_PROTOCOL=https", "PATRONI_ETCD_CACERT=" + c.file("authority.crt"), "PATRONI_ETCD_CERT=" + c.file("server.crt"), "PATRONI_ETCD_KEY=" + c.file("server.key"),
			"PATRONI_RESTAPI_LISTEN=" + m.rest, "PATRONI_RESTAPI_CONNECT_ADDRESS=" + m.rest,
			"PATRONI_POSTGRESQL_LISTEN=" + m.Database, "PATRONI_POSTGRESQL_CONNECT_ADDRESS=" + m.Database, "PATRONI_POSTGRESQL_DATA_DIR=" + m.data,
			"PATRONI_POSTGRESQL_BIN_DIR=" + c.bin, "PATRONI_SUPERUSER_USERNAME=postgres", "PATRONI_SUPERUSER_PASSWORD=" + password,
			"PATRONI_REPLICATION_USERNAME=replicator", "PATRONI_REPLICATION_PASSWORD=" + password, "PATRONI_REWIND_USERNAME=rewinder", "PATRONI_REWIND_PASSWORD=" + password,
			"PATRONI_SUPERUSER_SSLMODE=verify-full", "PATRONI_SUPERUSER_SSLROOTCERT=" + c.file("authority.crt"), "PATRONI_REPLICATION_SSLMODE=verify-full", "PATRONI_REPLICATION_SSLROOTCERT=" + c.file("authority.crt"), "PATRONI_REWIND_SSLMODE=verify-full", "PATRONI_REWIND_SSLROOTCERT=" + c.file("authority.crt"),
			"PATRONI_POSTGRESQL_PGPASS=" + filepath.Join(dir, "pgpass"), "HOME=" + dir,
		},
		Ready: func(ctx context.Context) error {
			if status := m.ask(ctx, "patroni"); status == 0 {
				return errors.New("patroni does not answer")
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return m, m.patroni.Start(ctx)
}

// ask returns the status with which Patroni answers, or 0.
func (m *Member) ask(ctx context.Context, what string) int {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+m.rest+"/"+what, http.NoBody)
	if err != nil {
		return 0
	}
	res, err := m.cluster.client(time.Second).Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// is reports whether Patroni says that the member is a primary, synchronous or replica.
func (m *Member) is(ctx context.Context, role string) bool {
	return m.ask(ctx, role) == http.StatusOK
}

// postmaster returns the id of PostgreSQL's first process.
func (m *Member) postmaster() (int, error) {
	text, err := os.ReadFile(filepath.Join(m.data, "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("patronitest: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(first)
}

// processes returns the ids of PostgreSQL and all of its sessions.
func (m *Member) processes() ([]int, error) {
	first, err := m.postmaster()
	if err != nil {
		return nil, err
	}
	return process.WithChildren(first)
}

// KillDatabase kills PostgreSQL; Patroni goes on.
func (m *Member) KillDatabase() error {
	all, err := m.processes()
	if err != nil {
		return err
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return nil
}

// Kill kills Patroni and PostgreSQL, as if the machine had lost its power.
func (m *Member) Kill() error {
	return errors.Join(m.patroni.Kill(), m.KillDatabase())
}

// Start starts Patroni again after Kill, which starts PostgreSQL.
func (m *Member) Start(ctx context.Context) error { return m.patroni.Start(ctx) }

// Freeze stops Patroni and PostgreSQL, as if the machine hung: connections are accepted, and
// nothing answers.
func (m *Member) Freeze() error {
	err := m.patroni.Freeze()
	all, also := m.processes()
	for _, pid := range all {
		_ = process.Freeze(pid)
	}
	return errors.Join(err, also)
}

// Thaw ends Freeze.
func (m *Member) Thaw() error {
	all, err := m.processes()
	for _, pid := range all {
		_ = process.Thaw(pid)
	}
	return errors.Join(err, m.patroni.Thaw())
}

func (m *Member) stop() { m.patroni.Stop() }

// Writable reports whether the member is no standby. It may still wait for one before it commits.
func (m *Member) Writable(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := m.connect(ctx)
	if err != nil {
		return false
	}
	defer conn.Close(ctx)
	var standby bool
	return conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby) == nil && !standby
}

// Commit returns when the member has confirmed a commit, for which it waits for a synchronous
// standby.
func (m *Member) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := m.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'test', '')"); err != nil {
		return fmt.Errorf("patronitest: commit: %w", err)
	}
	return nil
}

func (m *Member) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres:%s@%s/postgres?%s", password, m.Database, m.cluster.query()))
	if err != nil {
		return nil, fmt.Errorf("patronitest: connect: %w", err)
	}
	return conn, nil
}
