// Package clamtest starts a clamd for a test, with a few test signatures. The
// test may kill it, freeze it, take its signatures away and start it again. There
// is no fake in this module: a test that needs a virus scanner uses ClamAV.
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
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Virus is a text that this clamd finds anywhere in a file, and Signature is the
// name it reports for it. No other scanner knows it.
const (
	Virus     = "LINEPROOF-TEST-VIRUS"
	Signature = "Lineproof.Test.UNOFFICIAL"
)

// Server is a clamd on a socket and a port of its own.
type Server struct {
	*process.Server

	lines []string // of clamd.conf, before the usual ones: clamd takes the first of a kind
	port  int
	dir   string
}

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
	program, err := exec.LookPath("clamd")
	if err != nil {
		return nil, errors.New("clamtest: there is no clamd; install the package clamav-daemon")
	}
	s := &Server{lines: lines}
	if s.port, err = process.FreePort(ctx); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "lineproof-clamd-"); err != nil {
		return nil, fmt.Errorf("clamtest: create a directory: %w", err)
	}
	s.Server, err = process.New(process.Spec{
		Program: program, Args: []string{"--config-file=" + filepath.Join(s.dir, "clamd.conf")}, Dir: s.dir, Ready: s.ping, Timeout: 60 * time.Second,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err = errors.Join(s.configure(), s.writeSignatures(eicar(), Virus)); err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Address returns its socket in the form of the setting LINEPROOF_CLAMD_ADDR.
func (s *Server) Address() string { return "unix:" + s.socket() }

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// TCP returns its port in the form of that setting.
func (s *Server) TCP() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Log returns clamd's own log since its first start. It has a line that ends
// with ": OK" for every clean file.
func (s *Server) Log() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, "clamd.log"))
	if err != nil {
		return "", fmt.Errorf("clamtest: read the log: %w", err)
	}
	return string(b), nil
}

// Restart starts the server again after Kill, on the same socket and port.
func (s *Server) Restart(ctx context.Context) error { return s.Start(ctx) }

// Blind restarts the server without the test signatures: it answers and finds
// nothing, until Sight.
func (s *Server) Blind(ctx context.Context) error {
	return s.restartWith(ctx, "a text that no file contains")
}

// Sight ends Blind.
func (s *Server) Sight(ctx context.Context) error { return s.restartWith(ctx, eicar(), Virus) }

func (s *Server) restartWith(ctx context.Context, texts ...string) error {
	if err := errors.Join(s.Kill(), s.writeSignatures(texts...)); err != nil {
		return err
	}
	return s.Restart(ctx)
}

// eicar returns the harmless EICAR test file. It is assembled here, so that no
// scanner reports this source file.
func eicar() string {
	return `X5O!P%@AP[4\PZX54(P^)7CC)7}$` + strings.Join([]string{"EICAR", "STANDARD", "ANTIVIRUS", "TEST", "FILE!$H+H*"}, "-")
}

// writeSignatures writes the signature database: the first text is found at the
// start of a file only, as EICAR must be, the others anywhere.
func (s *Server) writeSignatures(texts ...string) error {
	var signatures strings.Builder
	name, offset := "Eicar.Test", "0"
	for _, text := range texts {
		fmt.Fprintf(&signatures, "%s:0:%s:%s\n", name, offset, hex.EncodeToString([]byte(text)))
		name, offset = strings.TrimSuffix(Signature, ".UNOFFICIAL"), "*"
	}
	if err := os.WriteFile(filepath.Join(s.dir, "base", "test.ndb"), []byte(signatures.String()), 0o600); err != nil {
		return fmt.Errorf("clamtest: write the signatures: %w", err)
	}
	return nil
}

func (s *Server) configure() error {
	conf := fmt.Sprintf(`%[3]s
Foreground yes
DatabaseDirectory %[1]s/base
TemporaryDirectory %[1]s
LogFile %[1]s/clamd.log
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

func (s *Server) ping(ctx context.Context) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", s.socket())
	if err != nil {
		return fmt.Errorf("clamtest: connect: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "zPING\x00"); err != nil {
		return fmt.Errorf("clamtest: send PING: %w", err)
	}
	reply, err := bufio.NewReader(conn).ReadString(0)
	if err != nil || reply != "PONG\x00" {
		return fmt.Errorf("clamtest: reply to PING: %q, %w", reply, err)
	}
	return nil
}
