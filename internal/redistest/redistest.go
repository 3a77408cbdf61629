// Package redistest gives a test a Redis of its own, which it may kill, freeze
// and start again. There is no fake in this module: a test that needs Redis uses
// Redis.
package redistest

import (
	"bufio"
	"context"
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

// Server is a Redis on a private port that keeps nothing on disk.
type Server struct {
	port  int
	pid   int
	dir   string
	guard *exec.Cmd
	stdin io.Closer
}

// guardScript runs the server for as long as its standard input stays open, so
// that no server outlives the process that wanted it, however that ends.
const guardScript = `
redis-server --bind 127.0.0.1 --port "$1" --save "" --appendonly no --dir "$0" >"$0/log" 2>&1 &
server=$!
echo "$server"
read -r _
kill -KILL "$server" 2>/dev/null
wait "$server" 2>/dev/null
rm -rf "$0"
`

// New starts a server for a test.
func New(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs Redis; not run with -short")
	}
	s, err := Start(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// Start starts a server and waits until it answers.
func Start(ctx context.Context) (*Server, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("redistest: find a port: %w", err)
	}
	_, port, _ := strings.Cut(ln.Addr().String(), ":")
	if err := ln.Close(); err != nil {
		return nil, fmt.Errorf("redistest: find a port: %w", err)
	}
	s := &Server{}
	if s.port, err = strconv.Atoi(port); err != nil {
		return nil, fmt.Errorf("redistest: find a port: %w", err)
	}
	return s, s.run(ctx)
}

// URL returns the address of the server.
func (s *Server) URL() string { return "redis://" + s.address() + "/0" }

func (s *Server) address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// PID returns the id of its process.
func (s *Server) PID() int { return s.pid }

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	if s.guard == nil {
		return
	}
	_ = s.stdin.Close()
	_ = s.guard.Wait() // that it was ended is what it says
	s.guard = nil
}

// Restart starts the server again after Stop, on the same port. It has forgotten
// everything.
func (s *Server) Restart(ctx context.Context) error { return s.run(ctx) }

// Freeze lets the server take connections and answer nothing, until Thaw.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	if err := syscall.Kill(s.pid, sig); err != nil {
		return fmt.Errorf("redistest: signal: %w", err)
	}
	return nil
}

func (s *Server) run(ctx context.Context) (err error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return errors.New("redistest: there is no redis-server; install the package redis-server")
	}
	if s.dir, err = os.MkdirTemp("", "lineproof-redis-"); err != nil {
		return fmt.Errorf("redistest: make a directory: %w", err)
	}
	s.guard = exec.CommandContext(context.WithoutCancel(ctx), "sh", "-c", guardScript, s.dir, strconv.Itoa(s.port)) //nolint:gosec // our own directory and port; the pipe ends it
	s.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                                                       // a Ctrl-C at the terminal is for the tests, not for the server
	if s.stdin, err = s.guard.StdinPipe(); err != nil {
		return fmt.Errorf("redistest: pipe: %w", err)
	}
	out, err := s.guard.StdoutPipe()
	if err != nil {
		return fmt.Errorf("redistest: pipe: %w", err)
	}
	if err := s.guard.Start(); err != nil {
		return fmt.Errorf("redistest: start the server: %w", err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		s.pid, err = strconv.Atoi(strings.TrimSpace(said))
	}
	if err == nil {
		err = s.wait(ctx)
	}
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.Stop()
		return fmt.Errorf("redistest: start the server: %w\n%s", err, log)
	}
	return nil
}

// wait returns once the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
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
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.address())
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	said, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && said == "+PONG\r\n"
}
