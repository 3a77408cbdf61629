// Package patronitest starts the database cluster of deploy/ha for a test: three etcd, and three
// PostgreSQL under Patroni with the configuration that operators get. The test may kill, freeze
// and switch over all of them.
package patronitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Members is how many machines the cluster stands for.
const Members = 3

// Cluster is a running cluster.
type Cluster struct {
	Nodes [Members]*Member
	Etcd  [Members]*process.Server

	root string // of the repository
	bin  string // of PostgreSQL
	tls  string // the directory with the certificates of all machines
}

// password is that of all logins.
const password = "harmattan-38-dust"

// Start starts a cluster and waits until a leader and a synchronous standby answer. The
// configuration is read from deploy/ha below root.
func Start(ctx context.Context, root string) (*Cluster, error) {
	for _, program := range []string{"patroni", "etcd"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("patronitest: install patroni and etcd-server: %w", err)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return nil, errors.New("patronitest: no PostgreSQL is installed")
	}
	c := &Cluster{root: root, bin: found[len(found)-1]}
	err := c.start(ctx)
	if err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.makeCertificates(ctx); err != nil {
		return err
	}
	clients, err := c.startEtcd(ctx)
	if err != nil {
		return err
	}
	for i := range c.Nodes {
		if c.Nodes[i], err = c.startMember(ctx, i, clients); err != nil {
			return err
		}
		if i == 0 { // it makes the cluster, and the others copy it
			if _, err := c.Leader(ctx); err != nil {
				return err
			}
		}
	}
	return c.WaitSynchronous(ctx)
}

// startEtcd starts the etcd of each machine and returns their addresses for Patroni.
func (c *Cluster) startEtcd(ctx context.Context) (clients string, err error) {
	var peers, addresses [Members]string
	var members []string
	for i := range peers {
		if peers[i], err = address(ctx); err != nil {
			return "", err
		}
		if addresses[i], err = address(ctx); err != nil {
			return "", err
		}
		members = append(members, fmt.Sprintf("db-%d=https://%s", i+1, peers[i]))
	}
	for i := range c.Etcd {
		dir, err := os.MkdirTemp("", "lineproof-etcd-")
		if err != nil {
			return "", fmt.Errorf("patronitest: %w", err)
		}
		c.Etcd[i], err = process.New(process.Spec{
			Program: "etcd", Dir: dir, Timeout: 30 * time.Second,
			Env: []string{
				"ETCD_NAME=" + fmt.Sprintf("db-%d", i+1), "ETCD_DATA_DIR=" + filepath.Join(dir, "data"),
				"ETCD_LISTEN_PEER_URLS=https://" + peers[i], "ETCD_INITIAL_ADVERTISE_PEER_URLS=https://" + peers[i],
				"ETCD_LISTEN_CLIENT_URLS=https://" + addresses[i], "ETCD_ADVERTISE_CLIENT_URLS=https://" + addresses[i],
				"ETCD_INITIAL_CLUSTER=" + strings.Join(members, ","), "ETCD_INITIAL_CLUSTER_TOKEN=lineproof", "ETCD_INITIAL_CLUSTER_STATE=new", "ETCD_ENABLE_V2=true",
				"ETCD_CERT_FILE=" + c.file("server.crt"), "ETCD_KEY_FILE=" + c.file("server.key"), "ETCD_TRUSTED_CA_FILE=" + c.file("authority.crt"), "ETCD_CLIENT_CERT_AUTH=true",
				"ETCD_PEER_CERT_FILE=" + c.file("server.crt"), "ETCD_PEER_KEY_FILE=" + c.file("server.key"), "ETCD_PEER_TRUSTED_CA_FILE=" + c.file("authority.crt"), "ETCD_PEER_CLIENT_CERT_AUTH=true",
			},
			Ready: func(context.Context) error { return nil }, // alone it never is
		})
		if err != nil {
			return "", err
		}
		if err := c.Etcd[i].Start(ctx); err != nil {
			return "", err
		}
	}
	return strings.Join(addresses[:], ","), nil
}

// Stop ends everything.
func (c *Cluster) Stop() {
	for _, m := range c.Nodes {
		if m != nil {
			m.stop()
		}
	}
	for _, e := range c.Etcd {
		if e != nil {
			e.Stop()
		}
	}
}

// URL returns the address of a database that names all members, as the superuser. The first is
// the one that Start made the leader.
func (c *Cluster) URL(database string) string {
	var hosts []string
	for _, m := range c.Nodes {
		hosts = append(hosts, m.Database)
	}
	return fmt.Sprintf("postgres://postgres:%s@%s/%s?%s", password, strings.Join(hosts, ","), database, c.query())
}

// Leader waits until a member is the leader and accepts writes, and returns it.
func (c *Cluster) Leader(ctx context.Context) (*Member, error) {
	var leader *Member
	err := within(ctx, 2*time.Minute, func(ctx context.Context) bool {
		for _, m := range c.Nodes {
			if m != nil && m.is(ctx, "primary") && m.Writable(ctx) {
				leader = m
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("patronitest: no member became the leader: %w\n%s", err, c.logs())
	}
	return leader, nil
}

// WaitSynchronous waits until a standby is synchronous, so that another one can become the
// leader without loss, and all members run.
func (c *Cluster) WaitSynchronous(ctx context.Context) error {
	err := within(ctx, 3*time.Minute, func(ctx context.Context) bool {
		leaders, standbys, synchronous := 0, 0, 0
		for _, m := range c.Nodes {
			switch {
			case m.is(ctx, "primary"):
				leaders++
			case m.is(ctx, "synchronous"):
				synchronous++
			case m.is(ctx, "replica"):
				standbys++
			}
		}
		return leaders == 1 && synchronous == 1 && standbys == Members-2
	})
	if err != nil {
		return fmt.Errorf("patronitest: no standby became synchronous: %w\n%s", err, c.logs())
	}
	return nil
}

// Switchover asks Patroni to make a synchronous standby the leader.
func (c *Cluster) Switchover(ctx context.Context) error {
	from, err := c.Leader(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"leader": from.name})
	if err != nil {
		return fmt.Errorf("patronitest: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+from.rest+"/switchover", strings.NewReader(string(body)))
	if err != nil {
		return fmt.Errorf("patronitest: %w", err)
	}
	res, err := c.client(time.Minute).Do(req)
	if err != nil {
		return fmt.Errorf("patronitest: switch over: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("patronitest: switch over: %s", res.Status)
	}
	return nil
}

// logs returns the ends of the logs, for a message.
func (c *Cluster) logs() string {
	const lines = 15
	var all strings.Builder
	for _, m := range c.Nodes {
		if m == nil {
			continue
		}
		fmt.Fprintf(&all, "%s answers to primary, synchronous and replica: %d, %d, %d\n", m.name, m.ask(context.Background(), "primary"), m.ask(context.Background(), "synchronous"), m.ask(context.Background(), "replica"))
		text, _ := os.ReadFile(m.patroni.LogFile())
		tail := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&all, "%s:\n%s\n", m.name, strings.Join(tail[max(0, len(tail)-lines):], "\n"))
	}
	return all.String()
}

func address(ctx context.Context) (string, error) {
	port, err := process.FreePort(ctx)
	return "127.0.0.1:" + strconv.Itoa(port), err
}

// within repeats a question until the answer is yes.
func within(ctx context.Context, limit time.Duration, so func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for !so(ctx) {
		select {
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // the callers say what they waited for
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
