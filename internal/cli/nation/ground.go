package nation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// defaultDir holds the files unless LINEPROOF_DATA names another directory.
const defaultDir = "lineproof-demo"

// open reads the settings and what an earlier run has left, and makes sure that neither
// the database nor the machine is somebody else's.
func (n *nation) open(ctx context.Context) error {
	cfg, err := n.con.Settings(ctx)
	if err != nil {
		return err
	}
	if cfg.Region != "NG" {
		return fault.New(fault.IncompatibleState, "the nation of the demo has Nigerian numbers; unset LINEPROOF_REGION")
	}
	if n.dir = defaultDir; hasSetting(n.con.Env.Environ, "LINEPROOF_DATA") {
		n.dir = cfg.Data
	}
	if err := n.files(n.dir); err != nil {
		return err
	}
	if n.st, err = readState(n.dir); err != nil {
		return err
	}
	if err := n.claimDatabase(ctx, cfg); err != nil {
		return err
	}
	if n.st.Lines == 0 {
		n.st.Lines, n.st.AsOf = n.o.Lines, time.Now().UTC().Truncate(time.Second).Add(-time.Minute)
	} else if n.st.Lines != n.o.Lines {
		n.show.note("The nation has %d lines from an earlier run; --lines has no effect.", n.st.Lines)
	}
	if n.lines, err = newOperators(n.st.Lines, n.st.AsOf); err != nil {
		return err
	}
	if err := n.chooseAddresses(ctx, cfg); err != nil {
		return err
	}
	n.env = n.settings()
	n.api = &client.Client{BaseURL: n.base(), UserAgent: "lineproof-demo"}
	return n.st.save()
}

func hasSetting(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(entry string) bool {
		value, ok := strings.CutPrefix(entry, name+"=")
		return ok && value != ""
	})
}

// claimDatabase makes sure that the database is empty or that of an earlier run.
func (n *nation) claimDatabase(ctx context.Context, cfg config.Config) error {
	db, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Conns: 1, Unverified: cfg.UnverifiedDatabase()})
	if err != nil {
		return fmt.Errorf("connect to the database (LINEPROOF_DATABASE_URL): %w", err)
	}
	defer db.Close()
	var id string
	var tables int
	err = db.QueryRow(ctx, `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()),
		(SELECT count(*) FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND s.nspname NOT IN ('pg_catalog', 'information_schema'))`).Scan(&id, &tables)
	if err != nil {
		return fmt.Errorf("read the database: %w", err)
	}
	switch {
	case n.st.Database == id && (tables > 0 || !n.st.isDone("migrate")):
		return nil
	case n.st.Database == "" && tables == 0:
		n.st.Database = id
		return nil
	case n.st.Database == "":
		return fault.New(fault.IncompatibleState, "the database is not empty, and the demo did not create what it has. Create an empty one, such as with `createdb nation`, and name it in LINEPROOF_DATABASE_URL")
	default:
		return fault.New(fault.IncompatibleState, "the directory "+n.dir+" belongs to the demo in another database. Use that database, or delete the directory to begin anew in an empty one")
	}
}

// The names of the addresses.
const (
	atService  = "service"
	atPrivate  = "private"
	atReceiver = "receiver"
	atScanner  = "scanner"
)

// chooseAddresses chooses an address for every part, the same one in every run: the
// service knows those of the witnesses and of the bank's receiver.
func (n *nation) chooseAddresses(ctx context.Context, cfg config.Config) error {
	listen := cfg.Listen
	if n.o.Listen != "" {
		listen = n.o.Listen
	}
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || (host != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return console.Usagef("the demo runs on this machine only: --listen must be an address such as 127.0.0.1:8080")
	}
	at := n.st.Addresses
	if port != "0" {
		at[atService], at[atPrivate] = listen, cfg.PrivateListen
	}
	for _, name := range []string{atService, atPrivate, atReceiver, atScanner, witnesses[0], witnesses[1]} {
		if at[name] == "" {
			if at[name], err = freeAddress(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func freeAddress(ctx context.Context) (string, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("nation: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// base is the address of the service. Browsers treat localhost as they treat HTTPS.
func (n *nation) base() string {
	_, port, _ := net.SplitHostPort(n.st.Addresses[atService])
	return "http://localhost:" + port
}

// settings is the environment of every command.
func (n *nation) settings() []string {
	own := map[string]string{
		"LINEPROOF_DATA": n.path("data"), "LINEPROOF_LISTEN": n.st.Addresses[atService], "LINEPROOF_PRIVATE_LISTEN": n.st.Addresses[atPrivate],
		"LINEPROOF_PUBLIC_URL": n.base(), "LINEPROOF_NODE": "nation", "LINEPROOF_STAFF_SECOND_FACTOR": "false", "LINEPROOF_SECOND_FACTOR": "false",
		"LINEPROOF_LOG_ORIGIN": logOrigin, "LINEPROOF_LOG_KEY": n.path("log.pem"), "LINEPROOF_LOG_POLICY": n.path(policyFile),
		"LINEPROOF_WEBHOOK_LOOPBACK": "true", "LINEPROOF_WEBHOOK_LOOPBACK_LIVE": "true", "LINEPROOF_JOURNAL_DISK_BYTES": "107374182400",
	}
	if !hasSetting(n.con.Env.Environ, "LINEPROOF_CLAMD_ADDR") {
		own["LINEPROOF_CLAMD_ADDR"] = n.st.Addresses[atScanner]
	}
	list := slices.DeleteFunc(slices.Clone(n.con.Env.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := own[name]
		return replaced
	})
	for name, value := range own {
		list = append(list, name+"="+value)
	}
	return list
}

// run runs a command of the program and returns what it printed. A change that
// waits for a second person is no failure.
func (n *nation) run(ctx context.Context, stdin string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	code := execute(ctx, n.program, console.Env{Args: args, Environ: n.env, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr})
	if code != console.ExitOK && code != console.ExitWaits {
		return "", errors.New("lineproof " + strings.Join(args[:min(2, len(args))], " ") + ": " + strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// migrate creates the tables.
func (n *nation) migrate(ctx context.Context) error {
	if _, err := n.run(ctx, "", "migrate"); err != nil {
		return err
	}
	return n.st.done("migrate")
}

// newPassword returns a password that is easy to read and copy.
func newPassword() string {
	text := strings.ToLower(rand.Text())
	return text[:4] + "-" + text[4:8] + "-" + text[8:12]
}
