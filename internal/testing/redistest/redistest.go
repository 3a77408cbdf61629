// Package redistest starts a Redis server for a test, which the test may stop,
// freeze and start again. There is no fake in this module: a test that needs
// Redis uses Redis.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Server is a Redis on a port of its own that stores nothing on disk.
type Server struct {
	*process.Server

	port int
}

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
	tb.Cleanup(func() { s.Stop() })
	return s
}

// Start starts a server and waits until it answers.
func Start(ctx context.Context) (*Server, error) {
	port, err := process.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{port: port}
	return s, s.Restart(ctx)
}

// URL returns the address of the server.
func (s *Server) URL() string { return "redis://" + s.address() + "/0" }

func (s *Server) address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Restart starts the server again after Stop, on the same port and empty.
func (s *Server) Restart(ctx context.Context) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return errors.New("redistest: there is no redis-server; install the package redis-server")
	}
	dir, err := os.MkdirTemp("", "lineproof-redis-")
	if err != nil {
		return fmt.Errorf("redistest: create a directory: %w", err)
	}
	s.Server, err = process.New(process.Spec{
		Program: program, Dir: dir, Ready: s.ping, Timeout: 30 * time.Second,
		Args: []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--save", "", "--appendonly", "no", "--dir", dir},
	})
	if err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		s.Stop()
		return err
	}
	return nil
}

func (s *Server) ping(ctx context.Context) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.address())
	if err != nil {
		return fmt.Errorf("redistest: connect: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return fmt.Errorf("redistest: send PING: %w", err)
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || reply != "+PONG\r\n" {
		return fmt.Errorf("redistest: reply to PING: %q, %w", reply, err)
	}
	return nil
}
