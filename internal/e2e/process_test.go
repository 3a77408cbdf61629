package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is one run of `lineproof serve`.
type process struct {
	public, private string // the addresses on which it listens
	log             string // the file with everything it ever wrote

	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and its output is complete
}

// start runs the server on the world's database and waits until it listens.
// Settings have the form of the environment and override the usual ones.
func start(t *testing.T, w *world, settings ...string) *process {
	t.Helper()
	return startProgram(t, w, must(os.Executable())(t), settings...)
}

// startProgram does the same with a program of which this test is no part.
func startProgram(t *testing.T, w *world, program string, settings ...string) *process {
	t.Helper()
	file := must(os.Create(filepath.Join(t.TempDir(), "server.log")))(t)
	out := &output{file: file, listening: make(chan listening, 1)}
	p := launchProgram(t, program, file, out, append(w.settings(), settings...), "serve")
	select {
	case at := <-out.listening:
		p.public, p.private = at.Public, at.Private
	case <-p.ended:
		t.Fatalf("the server ended with %d before it listened:\n%s", p.exitCode(), p.output(t))
	case <-time.After(time.Minute):
		t.Fatalf("the server does not listen:\n%s", p.output(t))
	}
	return p
}

// childEnv returns the environment of a child: the switch that makes it the
// command, what every program needs, and settings.
func childEnv(life string, settings ...string) []string {
	return append([]string{childSwitch + "=" + life, "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, settings...)
}

// launch starts the command as a child that ends with this process at the
// latest. What it writes goes to out, by which it reaches the file log.
func launch(t *testing.T, log *os.File, out io.Writer, settings []string, args ...string) *process {
	t.Helper()
	return launchProgram(t, must(os.Executable())(t), log, out, settings, args...)
}

func launchProgram(t *testing.T, program string, log *os.File, out io.Writer, settings []string, args ...string) *process {
	t.Helper()
	p := &process{log: log.Name(), cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = childEnv("1", settings...), t.TempDir(), out, out
	if _, err := p.cmd.StdinPipe(); err != nil { // held open for as long as this process lives
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the exit code says it all
		_ = log.Close()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as kill -9 does, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// terminate asks the process to end.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("SIGTERM: %v", err)
	}
}

// wait returns once the process has ended by itself, or fails the test.
func (p *process) wait(t *testing.T) {
	t.Helper()
	const limit = time.Minute
	select {
	case <-p.ended:
	case <-time.After(limit):
		t.Fatalf("the server did not end within %s:\n%s", limit, p.output(t))
	}
}

func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }

// output returns what the process wrote so far, the last part of it if it is
// much.
func (p *process) output(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	const most = 64 << 10
	b = b[max(0, len(b)-most):]
	return string(b)
}

// logLine is what the tests read of a line of the log.
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
}

// lines returns the log. A line that is not JSON is a complaint of the runtime:
// a panic outside a handler, or a race.
func (p *process) lines(t *testing.T) []logLine {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	var all []logLine
	for text := range strings.Lines(string(b)) {
		var l logLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("the server wrote something that is not its log: %s", text)
		}
		all = append(all, l)
	}
	return all
}

type listening struct{ Public, Private string }

// output keeps everything that the process writes, and looks for the line that
// says where it listens.
type output struct {
	file      *os.File
	listening chan listening

	mu    sync.Mutex
	first []byte // until it listens
	found bool
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.file.Write(p)
	if err != nil {
		return n, fmt.Errorf("e2e: keep the output: %w", err)
	}
	if o.found {
		return n, nil
	}
	o.first = append(o.first, p...)
	for !o.found {
		text, rest, whole := bytes.Cut(o.first, []byte("\n"))
		if !whole {
			return n, nil
		}
		o.first = rest
		var l logLine
		if json.Unmarshal(text, &l) == nil && l.Message == "listening" {
			o.found = true
			o.listening <- listening{l.Public, l.Private}
		}
	}
	return n, nil
}
