package nation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	// logOrigin is the name of the public log, and logPath is where the service shows it.
	logOrigin  = "nation.example/log/0/demo"
	logPath    = "/log/0/demo"
	policyFile = "policy.txt"
)

// witnesses are the names of the witnesses of the public log.
var witnesses = []string{"university", "newspaper"}

// part is a command that runs until the nation ends.
type part struct {
	name   string
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

// start runs a command until stop is called. What it prints goes to out, or to its log
// like everything else that it writes. If it ends before, the nation ends.
func (n *nation) start(ctx context.Context, name string, out io.Writer, args ...string) error {
	if err := n.files(n.path("logs")); err != nil {
		return err
	}
	log, err := os.OpenFile(n.path("logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	if out == nil {
		out = log
	}
	// It ends when stop says so, in its turn, and not with ctx.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &part{name: name, cancel: cancel, ended: make(chan struct{})}
	n.parts = append(n.parts, p)
	go func() {
		defer close(p.ended)
		code := execute(ctx, n.program, console.Env{Args: args, Environ: n.env, Stdin: strings.NewReader(""), Stdout: out, Stderr: log})
		_ = log.Close() // it is only a log
		if pipe, ok := out.(*io.PipeWriter); ok {
			_ = pipe.Close() // never fails
		}
		switch {
		case code != console.ExitOK:
			p.err = fmt.Errorf("%s ended with exit code %d; see %s", name, code, log.Name())
		case ctx.Err() == nil:
			p.err = fmt.Errorf("%s has ended by itself; see %s", name, log.Name())
		}
		if p.err != nil && ctx.Err() == nil {
			select {
			case n.failed <- p.err:
			default: // others have failed before
			}
		}
	}()
	return nil
}

// stop ends all parts, those that were started last first, and waits for each: the
// service still reaches its witnesses while it publishes the last answers.
func (n *nation) stop() error {
	var errs []error
	for _, p := range slices.Backward(n.parts) {
		p.cancel()
		<-p.ended
		errs = append(errs, p.err)
	}
	return errors.Join(errs...)
}

// path returns the path of a file of the nation.
func (n *nation) path(names ...string) string {
	path := filepath.Join(append([]string{n.dir}, names...)...)
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// startWitnesses starts the witnesses, and writes the policy that names them.
func (n *nation) startWitnesses(ctx context.Context) error {
	text, err := n.run(ctx, "", "log", "key", "--json", n.path("log.pem"))
	if err != nil {
		return err
	}
	var key struct {
		Verifier string `json:"key"`
	}
	if err := decode(text, &key); err != nil {
		return err
	}
	policy := []string{"log " + key.Verifier}
	for _, name := range witnesses {
		said := &firstLines{want: 2, ready: make(chan struct{})}
		err := n.start(ctx, "witness-"+name, said, "witness", "--name", name+".example", "--key-file", n.path("witness-"+name+".pem"),
			"--state", n.path("witness-"+name), "--log", key.Verifier, "--listen", n.st.Addresses[name])
		if err != nil {
			return err
		}
		select {
		case <-said.ready:
		case err := <-n.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
		policy = append(policy, fmt.Sprintf("witness %s %s http://%s", name, strings.Fields(said.text())[1], n.st.Addresses[name]))
	}
	policy = append(policy, "group both all "+strings.Join(witnesses, " "), "quorum both\n")
	return fault.Wrap(os.WriteFile(n.path(policyFile), []byte(strings.Join(policy, "\n")), 0o600), "nation")
}

// startService starts the service, with a stand-in for the scanner of documents, and waits until it is
// ready.
func (n *nation) startService(ctx context.Context) error {
	if !hasSetting(n.con.Env.Environ, "LINEPROOF_CLAMD_ADDR") {
		if err := ScanAll(ctx, n.st.Addresses[atScanner]); err != nil {
			return err
		}
	}
	if err := n.start(ctx, "service", nil, "serve"); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; {
		if get(ctx, "http://"+n.st.Addresses[atPrivate]+"/readyz", io.Discard) == nil {
			return nil
		}
		select {
		case err := <-n.failed:
			return err
		default:
			pause.For(ctx, 50*time.Millisecond)
		}
	}
	return errors.New("the service is not ready after a minute; see " + n.path("logs", "service.log"))
}

var plainHTTP = &http.Client{Timeout: 10 * time.Second}

// get reads a page of this machine.
func get(ctx context.Context, address string, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	res, err := plainHTTP.Do(req)
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // everything was read
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("nation: %s: %s", address, res.Status)
	}
	return nil
}
