// Package s3test gives a test an S3 server of its own with one bucket, which it
// may kill, freeze and start again on the same data. There is no fake in this
// module: the server is versitygw, on a directory.
package s3test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Region and Bucket are the same for every server.
const (
	Region = "us-east-1"
	Bucket = "lineproof"
)

// Server is an S3 server on a private port.
type Server struct {
	AccessKey, SecretKey string

	binary string
	dir    string
	port   int
	pid    int
	guard  *exec.Cmd
	stdin  io.WriteCloser
}

// guardScript runs the server until its standard input ends, so that no server
// and no data outlive the process that wanted them, however that ends. A line on
// the input keeps the data for a server to come.
const guardScript = `
dir=$0 binary=$1 port=$2
shift 2
"$binary" --port "127.0.0.1:$port" --quiet --health /healthz posix "$@" "$dir/data" >>"$dir/log" 2>&1 &
server=$!
echo "$server"
word=
read -r word
kill -KILL "$server" 2>/dev/null
wait "$server" 2>/dev/null
[ "$word" = keep ] || rm -rf "$dir"
`

// New starts a server for a test.
func New(tb testing.TB) *Server {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs an S3 server; not run with -short")
	}
	s, err := Start(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// Start starts a server and makes its bucket.
func Start(ctx context.Context) (_ *Server, err error) {
	s := &Server{AccessKey: "lineproof", SecretKey: rand.Text()}
	if s.binary, err = Binary(ctx); err != nil {
		return nil, err
	}
	if s.port, err = freePort(ctx); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "lineproof-s3-"); err != nil {
		return nil, fmt.Errorf("s3test: make a directory: %w", err)
	}
	for _, name := range []string{"data", "meta"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("s3test: make a directory: %w", err)
		}
	}
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	client, err := minio.New(s.address(), &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: Region})
	if err == nil {
		err = client.MakeBucket(ctx, Bucket, minio.MakeBucketOptions{Region: Region})
	}
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("s3test: make the bucket: %w", err)
	}
	return s, nil
}

// freePort finds a port below those from which connections are made, so that it
// is still free when the server comes back.
func freePort(ctx context.Context) (int, error) {
	var tried error
	for range 100 {
		port := 20_000 + mathrand.N(12_000) //nolint:gosec // any will do
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return port, ln.Close()
		}
		tried = err
	}
	return 0, fmt.Errorf("s3test: find a port: %w", tried)
}

// URL returns the address of the server.
func (s *Server) URL() string { return "http://" + s.address() }

func (s *Server) address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Data is the directory in which the server keeps the files of its bucket, each
// under its name.
func (s *Server) Data() string { return filepath.Join(s.dir, "data", Bucket) }

// PID returns the id of its process.
func (s *Server) PID() int { return s.pid }

// Stop ends the server and removes its data.
func (s *Server) Stop() { s.end("") }

// Kill ends the server at once and keeps its data.
func (s *Server) Kill() {
	_ = s.signal(syscall.SIGKILL) // the guard does it, too, a moment later
	s.end("keep\n")
}

func (s *Server) end(word string) {
	if s.guard == nil {
		return
	}
	_, _ = io.WriteString(s.stdin, word)
	_ = s.stdin.Close()
	_ = s.guard.Wait() // that it was ended is what it says
	s.guard = nil
}

// Restart starts the server again after Kill, on the same port and data.
func (s *Server) Restart(ctx context.Context) error { return s.run(ctx) }

// Freeze lets the server take connections and answer nothing, until Thaw.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	if err := syscall.Kill(s.pid, sig); err != nil {
		return fmt.Errorf("s3test: signal: %w", err)
	}
	return nil
}

func (s *Server) run(ctx context.Context) error {
	args := []string{"-c", guardScript, s.dir, s.binary, strconv.Itoa(s.port)}
	if !attributes(s.dir) {
		args = append(args, "--sidecar", filepath.Join(s.dir, "meta"))
	}
	s.guard = exec.CommandContext(context.WithoutCancel(ctx), "sh", args...) //nolint:gosec // our own directory and port; the pipe ends it
	s.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                // a Ctrl-C at the terminal is for the tests, not for the server
	s.guard.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey, "VGW_REGION="+Region)
	var err error
	if s.stdin, err = s.guard.StdinPipe(); err != nil {
		return fmt.Errorf("s3test: pipe: %w", err)
	}
	out, err := s.guard.StdoutPipe()
	if err != nil {
		return fmt.Errorf("s3test: pipe: %w", err)
	}
	if err := s.guard.Start(); err != nil {
		return fmt.Errorf("s3test: start the server: %w", err)
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
		return fmt.Errorf("s3test: start the server: %w\n%s", err, log)
	}
	return nil
}

// attributes reports whether files in dir may carry attributes, in which the
// server keeps what it knows of an object.
func attributes(dir string) bool {
	return syscall.Setxattr(dir, "user.lineproof", []byte("x"), 0) == nil
}
