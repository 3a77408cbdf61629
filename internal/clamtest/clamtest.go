// Package clamtest gives a test a clamd of its own, with signatures written for
// the purpose, which it may kill, freeze, blind and start again. There is no fake
// in this module: a test that needs a scanner uses ClamAV.
package clamtest

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Virus is a text that this clamd finds wherever it stands in a file, and
// Signature is what it calls it. No other scanner knows it.
const (
	Virus     = "LINEPROOF-TEST-VIRUS"
	Signature = "Lineproof.Test.UNOFFICIAL"
)

// Server is a clamd on a private socket and a private port.
type Server struct {
	lines []string // of its clamd.conf, before ours: the first of a kind counts
	port  int
	pid   int
	dir   string
	guard *exec.Cmd
	stdin io.WriteCloser
}

// guardScript runs the server for as long as its standard input stays open, so
// that no server outlives the process that wanted it, however that ends. A word
// on its input ends it and leaves its files.
const guardScript = `
clamd --config-file="$0/clamd.conf" >"$0/out" 2>&1 &
server=$!
echo "$server"
read -r keep
kill -KILL "$server" 2>/dev/null
wait "$server" 2>/dev/null
[ -n "$keep" ] || rm -rf "$0"
`

// New starts a server for a test. The lines go into its clamd.conf.
func New(tb testing.TB, lines ...string) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs clamd; not run with -short")
	}
	s, err := Start(tb.Context(), lines...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// Start starts a server and waits until it answers.
func Start(ctx context.Context, lines ...string) (*Server, error) {
	if _, err := exec.LookPath("clamd"); err != nil {
		return nil, errors.New("clamtest: there is no clamd; install the package clamav-daemon")
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("clamtest: find a port: %w", err)
	}
	_, port, _ := strings.Cut(ln.Addr().String(), ":")
	if err := ln.Close(); err != nil {
		return nil, fmt.Errorf("clamtest: find a port: %w", err)
	}
	s := &Server{lines: lines}
	if s.port, err = strconv.Atoi(port); err != nil {
		return nil, fmt.Errorf("clamtest: find a port: %w", err)
	}
	if s.dir, err = os.MkdirTemp("", "lineproof-clamd-"); err != nil {
		return nil, fmt.Errorf("clamtest: make a directory: %w", err)
	}
	if err := errors.Join(s.configure(), s.know(eicar(), Virus)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, s.run(ctx)
}

// Address returns its socket, as the setting LINEPROOF_CLAMD_ADDR takes it.
func (s *Server) Address() string { return "unix:" + filepath.Join(s.dir, "socket") }

// TCP returns its port, as that setting takes it.
func (s *Server) TCP() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// PID returns the id of its process.
func (s *Server) PID() int { return s.pid }

// Log returns what it has logged since it was first started; every clean file
// is a line that ends with ": OK".
func (s *Server) Log() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return "", fmt.Errorf("clamtest: read the log: %w", err)
	}
	return string(b), nil
}

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	s.end("")
	_ = os.RemoveAll(s.dir) // after Kill the guard has left them
}

// Kill ends the server at once, as a power cut would: its files stay.
func (s *Server) Kill() { s.end("keep\n") }

func (s *Server) end(word string) {
	if s.guard == nil {
		return
	}
	_, _ = io.WriteString(s.stdin, word)
	_ = s.stdin.Close()
	_ = s.guard.Wait() // that it was ended is what it says
	s.guard = nil
}

// Restart starts the server again after Kill, on the same socket and port.
func (s *Server) Restart(ctx context.Context) error { return s.run(ctx) }

// Blind ends the server and starts it again with signatures among which those of
// the tests are not: it answers and finds nothing. Sight ends that.
func (s *Server) Blind(ctx context.Context) error { return s.relearn(ctx, "nobody would write this") }

// Sight ends Blind.
func (s *Server) Sight(ctx context.Context) error { return s.relearn(ctx, eicar(), Virus) }

func (s *Server) relearn(ctx context.Context, texts ...string) error {
	s.Kill()
	if err := s.know(texts...); err != nil {
		return err
	}
	return s.run(ctx)
}

// Freeze lets the server take connections and answer nothing, until Thaw.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	if err := syscall.Kill(s.pid, sig); err != nil {
		return fmt.Errorf("clamtest: signal: %w", err)
	}
	return nil
}

// eicar returns the harmless test file. It is put together here, so that no
// scanner stops this source.
func eicar() string {
	return `X5O!P%@AP[4\PZX54(P^)7CC)7}$` + strings.Join([]string{"EICAR", "STANDARD", "ANTIVIRUS", "TEST", "FILE!$H+H*"}, "-")
}

// know writes the base of signatures: the first text counts at the start of a
// file, as EICAR's must, the others anywhere.
func (s *Server) know(texts ...string) error {
	var base strings.Builder
	name, where := "Eicar.Test", "0"
	for _, text := range texts {
		fmt.Fprintf(&base, "%s:0:%s:%s\n", name, where, hex.EncodeToString([]byte(text)))
		name, where = strings.TrimSuffix(Signature, ".UNOFFICIAL"), "*"
	}
	if err := os.WriteFile(filepath.Join(s.dir, "base", "test.ndb"), []byte(base.String()), 0o600); err != nil {
		return fmt.Errorf("clamtest: write the signatures: %w", err)
	}
	return nil
}

func (s *Server) configure() error {
	conf := fmt.Sprintf(`%[3]s
Foreground yes
DatabaseDirectory %[1]s/base
TemporaryDirectory %[1]s
LogFile %[1]s/log
LogFileMaxSize 0
LogClean yes
LocalSocket %[1]s/socket
TCPSocket %[2]d
TCPAddr 127.0.0.1
AlertExceedsMax yes
`, s.dir, s.port, strings.Join(s.lines, "\n"))
	err := errors.Join(os.Mkdir(filepath.Join(s.dir, "base"), 0o700), os.WriteFile(filepath.Join(s.dir, "clamd.conf"), []byte(conf), 0o600))
	if err != nil {
		return fmt.Errorf("clamtest: write the configuration: %w", err)
	}
	return nil
}

func (s *Server) run(ctx context.Context) (err error) {
	s.guard = exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", guardScript, s.dir) //nolint:gosec // our own directory; the pipe ends it
	s.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                                 // a Ctrl-C at the terminal is for the tests, not for the server
	if s.stdin, err = s.guard.StdinPipe(); err != nil {
		return fmt.Errorf("clamtest: pipe: %w", err)
	}
	out, err := s.guard.StdoutPipe()
	if err != nil {
		return fmt.Errorf("clamtest: pipe: %w", err)
	}
	if err := s.guard.Start(); err != nil {
		return fmt.Errorf("clamtest: start the server: %w", err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		s.pid, err = strconv.Atoi(strings.TrimSpace(said))
	}
	if err == nil {
		err = s.wait(ctx)
	}
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "out"))
		s.Stop()
		return fmt.Errorf("clamtest: start the server: %w\n%s", err, log)
	}
	return nil
}

// wait returns once the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.answers(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *Server) answers(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", filepath.Join(s.dir, "socket"))
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "zPING\x00"); err != nil {
		return false
	}
	said, err := bufio.NewReader(conn).ReadString(0)
	return err == nil && said == "PONG\x00"
}
