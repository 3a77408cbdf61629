package alerts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/testing/redistest"
)

const (
	origin     = "lineproof.example/log/0/2027"
	verifyPath = "/api/v1/phone/api/phone-numbers/verify"
)

// site is an installation: a node on a database of its own that holds the demonstration's data,
// with Redis, a virus scanner, a published log and a witness, all real, each of which can be broken.
type site struct {
	dir             string
	cluster         *pgtest.Cluster
	url             string
	redis           *redistest.Server
	clam            *clamtest.Server
	witness         *process.Child
	node            *process.Child
	exporter        *process.Child // the node exporter; nil until a fault needs it
	public, private string
	exporterAddress string // once there is a Prometheus
	settings        []string
	witnessArgs     []string
	demo            struct {
		ClientID, ClientSecret, EntityUID, APIKey string
	}
	client  http.Client
	closing []func()
}

// open starts everything. What was started before an error is in closing.
func (s *site) open(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "lineproof-alerts-"); err != nil {
		return err
	}
	s.closing = append(s.closing, func() { _ = os.RemoveAll(s.dir) })
	s.client.Timeout = 5 * time.Second
	if s.cluster, err = pgtest.Start(ctx, pgtest.Durable); err != nil {
		return err
	}
	s.closing = append(s.closing, s.cluster.Stop)
	if err := s.cluster.MakeTemplate(ctx); err != nil {
		return err
	}
	database, err := s.cluster.Clone(ctx)
	if err != nil {
		return err
	}
	s.url = s.cluster.URL(database)
	if s.redis, err = redistest.Start(ctx); err != nil {
		return err
	}
	s.closing = append(s.closing, func() { s.redis.Stop() })
	if s.clam, err = clamtest.Start(ctx); err != nil {
		return err
	}
	s.closing = append(s.closing, s.clam.Stop)
	for _, address := range []*string{&s.public, &s.private} {
		if *address, err = freeAddress(ctx); err != nil {
			return err
		}
	}
	s.settings = []string{
		"LINEPROOF_DATABASE_URL=" + s.url, "LINEPROOF_PEPPERS=" + pgtest.Pepper, "LINEPROOF_DATA=" + filepath.Join(s.dir, "data"), "LINEPROOF_NODE=node-1",
		"LINEPROOF_LISTEN=" + s.public, "LINEPROOF_PRIVATE_LISTEN=" + s.private, "LINEPROOF_API_URL=http://" + s.public,
		"LINEPROOF_REDIS_URL=" + s.redis.URL(), "LINEPROOF_CLAMD_ADDR=" + s.clam.Address(),
		"LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1", "LINEPROOF_KEY_RATE=10000", "LINEPROOF_KEY_BURST=10000",
		"LINEPROOF_VERIFY_TIMEOUT=2s", "LINEPROOF_LOG_LEVEL=warn", "LINEPROOF_JOURNAL_DISK_BYTES=1000000000000",
	}
	text, err := s.command(ctx, "demo", "--accounts=false", "--json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), &s.demo); err != nil {
		return fmt.Errorf("demo printed %s: %w", text, err)
	}
	if err := s.turnOnTheLog(ctx); err != nil {
		return err
	}
	return s.serve(ctx)
}

func (s *site) close() {
	for _, c := range []*process.Child{s.node, s.witness, s.exporter} {
		if c != nil {
			c.Kill()
		}
	}
	for _, end := range slices.Backward(s.closing) {
		end()
	}
}

func freeAddress(ctx context.Context) (string, error) {
	port, err := process.FreePort(ctx)
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// turnOnTheLog makes the keys of the log and starts a witness, which the policy needs.
func (s *site) turnOnTheLog(ctx context.Context) error {
	key, policy := filepath.Join(s.dir, "log.key"), filepath.Join(s.dir, "policy")
	listen, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	printed, err := s.commandWith(ctx, []string{"LINEPROOF_LOG_ORIGIN=" + origin}, "log", "key", key)
	if err != nil {
		return err
	}
	verifier := strings.Fields(printed)[len(strings.Fields(printed))-1]
	s.witnessArgs = []string{
		"witness", "--name", "north.example", "--key-file", filepath.Join(s.dir, "witness.key"), "--state", filepath.Join(s.dir, "witness"),
		"--log", verifier, "--listen", listen,
	}
	if err := s.startWitness(); err != nil {
		return err
	}
	var witnessKey string
	err = until(ctx, "the witness prints its key", func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(s.dir, "witness.log"))
		if at := strings.Index(string(text), "key"); err == nil && at >= 0 && len(strings.Fields(string(text)[at:])) > 1 {
			witnessKey = strings.Fields(string(text)[at:])[1]
			return nil
		}
		return errors.New(string(text))
	})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("log %s\nwitness north %s http://%s\nquorum north\n", verifier, witnessKey, listen)
	s.settings = append(s.settings, "LINEPROOF_LOG_ORIGIN="+origin, "LINEPROOF_LOG_KEY="+key, "LINEPROOF_LOG_POLICY="+policy)
	return os.WriteFile(policy, []byte(text), 0o600)
}

func (s *site) startWitness() (err error) {
	s.witness, err = s.launch("witness.log", nil, s.witnessArgs...)
	return err
}

// launch starts the command as a server. Its output goes to a file.
func (s *site) launch(log string, settings []string, args ...string) (*process.Child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return s.launchProgram(program, log, settings, args...)
}

func (s *site) launchProgram(program, log string, settings []string, args ...string) (*process.Child, error) {
	file, err := os.OpenFile(filepath.Join(s.dir, log), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = environment(asServer, settings), s.dir
	return process.Run(cmd, file)
}

func environment(mode string, settings []string) []string {
	return append([]string{childSwitch + "=" + mode, "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, settings...)
}

// serve starts the node, for the first time or again, and waits until it is ready. Settings
// override those of the site.
func (s *site) serve(ctx context.Context, settings ...string) (err error) {
	if s.node != nil {
		s.node.Kill()
	}
	if s.node, err = s.launch("node.log", slices.Concat(s.settings, settings), "serve"); err != nil {
		return err
	}
	return until(ctx, "the node is ready", s.ready)
}

func (s *site) ready(ctx context.Context) error {
	_, err := s.get(ctx, "http://"+s.private+"/readyz")
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "node.log"))
		return fmt.Errorf("%w\n%s", err, log[max(0, len(log)-4096):])
	}
	return nil
}

// command runs a command with the settings of the service, and returns what it printed.
func (s *site) command(ctx context.Context, args ...string) (string, error) {
	return s.commandWith(ctx, nil, args...)
}

func (s *site) commandWith(ctx context.Context, settings []string, args ...string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = environment(asCommand, slices.Concat(s.settings, settings)), s.dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("lineproof %s: %w\n%s%s", strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out), nil
}

// sql runs statements as superuser, for whom no trigger fires: the operator's mistake, or time
// that is moved.
func (s *site) sql(ctx context.Context, text string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "SET session_replication_role = replica; "+text)
	return err
}

func (s *site) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return s.do(request)
}

func (s *site) do(request *http.Request) ([]byte, error) {
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %d: %s", request.URL.Path, response.StatusCode, body.Bytes())
	}
	return body.Bytes(), nil
}

// verify asks about a number of the demonstration.
func (s *site) verify(ctx context.Context, key, number string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.public+verifyPath, strings.NewReader(`{"phoneNumber":"`+number+`"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	_, err = s.do(request)
	return err
}

// load verifies a number 20 times a second until the function that it returns is called. Failures
// are what some tests want.
func (s *site) load(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_ = s.verify(ctx, s.demo.APIKey, "+2348031234567")
			pause.For(ctx, 50*time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}

// until calls check until it succeeds, for at most a minute and a half.
func until(ctx context.Context, what string, check func(context.Context) error) error {
	return within(ctx, 90*time.Second, what, check)
}

// within is until with another limit.
func within(ctx context.Context, limit time.Duration, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: not in time: %w", what, err)
		}
		pause.For(ctx, 100*time.Millisecond)
	}
}

// shared is the site of the tests that break nothing; it is started by the first of them.
var shared struct {
	site *site
	err  error
}

func sharedSite(t *testing.T) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL, clamd, Redis and Prometheus; not run with -short")
	}
	if shared.site == nil {
		shared.site = &site{}
		shared.err = shared.site.open(context.Background())
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.site
}
