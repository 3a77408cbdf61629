package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// instance is one run of the program, usually of `lineproof serve`.
type instance struct {
	*process.Child

	public, private string // the addresses on which it listens
	log             string // the file with everything that it has written
}

// start runs the server on the fixture's database and waits until it listens.
// Settings have the form of the environment and override the usual ones.
func start(t *testing.T, w *fixture, settings ...string) *instance {
	t.Helper()
	return startProgram(t, w, must(os.Executable())(t), settings...)
}

// startProgram is start with another program than this test binary.
func startProgram(t *testing.T, w *fixture, program string, settings ...string) *instance {
	t.Helper()
	p := launchProgram(t, program, must(os.Create(filepath.Join(t.TempDir(), "server.log")))(t), append(w.settings(), settings...), "serve")
	for deadline := time.Now().Add(time.Minute); p.public == ""; {
		select {
		case <-p.Ended():
			t.Fatalf("the server ended with %d before it listened:\n%s", p.ExitCode(), p.output(t))
		case <-time.After(5 * time.Millisecond):
			p.findAddresses(t)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not listen:\n%s", p.output(t))
		}
	}
	return p
}

// findAddresses looks in the log for the line that says where the server listens.
func (p *instance) findAddresses(t *testing.T) {
	t.Helper()
	for text := range strings.Lines(p.output(t)) {
		var l logLine
		if json.Unmarshal([]byte(text), &l) == nil && l.Message == "listening" {
			p.public, p.private = l.Public, l.Private
		}
	}
}

// childEnv returns the environment of a child: the switch that makes the test
// binary run the command, what every program needs, and settings.
func childEnv(mode string, settings ...string) []string {
	return append([]string{childSwitch + "=" + mode, "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, settings...)
}

// launch starts the command as a child, which ends with this process at the
// latest. Its output goes to the file log.
func launch(t *testing.T, log *os.File, settings []string, args ...string) *instance {
	t.Helper()
	return launchProgram(t, must(os.Executable())(t), log, settings, args...)
}

func launchProgram(t *testing.T, program string, log *os.File, settings []string, args ...string) *instance {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = childEnv("1", settings...), t.TempDir()
	p := &instance{Child: must(process.Run(cmd, log))(t), log: log.Name()}
	_ = log.Close() // the child has its own handle
	t.Cleanup(p.Kill)
	return p
}

// terminate asks the process to end.
func (p *instance) terminate(t *testing.T) {
	t.Helper()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// wait returns once the process has ended by itself, or fails the test.
func (p *instance) wait(t *testing.T) {
	t.Helper()
	const limit = time.Minute
	select {
	case <-p.Ended():
	case <-time.After(limit):
		t.Fatalf("the server did not end within %s:\n%s", limit, p.output(t))
	}
}

// output returns what the process has written so far, at most the last 64 KiB.
func (p *instance) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	const maxOutput = 64 << 10
	b = b[max(0, len(b)-maxOutput):]
	return string(b)
}

// logLine has the attributes of a log line that the tests read.
type logLine struct {
	Level    string `json:"level"`
	Message  string `json:"msg"`
	Request  string `json:"request_id"`
	Record   string `json:"record_id"`
	Route    string `json:"route"`
	Status   int    `json:"status"`
	Public   string `json:"public"`
	Private  string `json:"private"`
	Stack    string `json:"stack"`
	WriteErr string `json:"write_error"`
	PID      int    `json:"pid"`
}

// hasher returns the id of the newest process that hashes passwords for the server.
func (p *instance) hasher(t *testing.T) (pid int) {
	t.Helper()
	for text := range strings.Lines(string(must(os.ReadFile(p.log))(t))) {
		var l logLine
		if json.Unmarshal([]byte(text), &l) == nil && l.Message == "passwords are hashed in a process of their own" {
			pid = l.PID
		}
	}
	if pid == 0 {
		t.Fatalf("the server has no process that hashes passwords:\n%s", p.output(t))
	}
	return pid
}

// lines returns the log. A line that is not JSON comes from the Go runtime: a
// panic outside a handler, or a data race.
func (p *instance) lines(t *testing.T) []logLine {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	var all []logLine
	for text := range strings.Lines(string(b)) {
		var l logLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("the server wrote a line that is not JSON: %s", text)
		}
		all = append(all, l)
	}
	return all
}
