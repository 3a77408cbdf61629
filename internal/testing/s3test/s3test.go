// Package s3test starts an S3 server with one bucket for a test, which the test
// may kill, freeze and start again on the same data. There is no fake in this
// module: the server is versitygw, on a directory.
package s3test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// Region and Bucket are the same for every server.
const (
	Region = "us-east-1"
	Bucket = "lineproof"
)

// Server is an S3 server on a port of its own.
type Server struct {
	*process.Server

	AccessKey, SecretKey string

	dir  string
	port int
}

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

// Start starts a server and creates its bucket.
func Start(ctx context.Context) (*Server, error) {
	program, err := Binary(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{AccessKey: "lineproof", SecretKey: rand.Text()}
	if s.port, err = process.FreePort(ctx); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "lineproof-s3-"); err != nil {
		return nil, fmt.Errorf("s3test: create a directory: %w", err)
	}
	args := []string{"--port", s.address(), "--quiet", "--health", "/healthz", "posix"}
	if !hasAttributes(s.dir) {
		args = append(args, "--sidecar", filepath.Join(s.dir, "meta"))
	}
	s.Server, err = process.New(process.Spec{
		Program: program, Args: append(args, filepath.Join(s.dir, "data")), Dir: s.dir, Ready: s.healthy, Timeout: 60 * time.Second,
		Env: []string{"ROOT_ACCESS_KEY=" + s.AccessKey, "ROOT_SECRET_KEY=" + s.SecretKey, "VGW_REGION=" + Region},
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.create(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// create starts the server for the first time and creates the bucket.
func (s *Server) create(ctx context.Context) error {
	for _, name := range []string{"data", "meta"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			return fmt.Errorf("s3test: create a directory: %w", err)
		}
	}
	if err := s.Restart(ctx); err != nil {
		return err
	}
	client, err := minio.New(s.address(), &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, ""), Region: Region})
	if err == nil {
		err = client.MakeBucket(ctx, Bucket, minio.MakeBucketOptions{Region: Region})
	}
	if err != nil {
		return fmt.Errorf("s3test: create the bucket: %w", err)
	}
	return nil
}

// URL returns the address of the server.
func (s *Server) URL() string { return "http://" + s.address() }

func (s *Server) address() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Data is the directory in which the server stores the objects of its bucket,
// each as a file under its key.
func (s *Server) Data() string { return filepath.Join(s.dir, "data", Bucket) }

// Restart starts the server again after Kill, on the same port and data.
func (s *Server) Restart(ctx context.Context) error { return s.Start(ctx) }

func (s *Server) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/healthz", http.NoBody)
	if err != nil {
		return fmt.Errorf("s3test: health check: %w", err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return fmt.Errorf("s3test: health check: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("s3test: health check: %s", resp.Status)
	}
	return nil
}

// hasAttributes reports whether files in dir can have extended attributes. The
// server stores an object's metadata in them if it can.
func hasAttributes(dir string) bool {
	return syscall.Setxattr(dir, "user.lineproof", []byte("x"), 0) == nil
}
