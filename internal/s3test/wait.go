package s3test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

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
		if errors.Is(syscall.Kill(s.pid, 0), syscall.ESRCH) {
			return errors.New("it ended")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *Server) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/healthz", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

const tool = "github.com/versity/versitygw/cmd/versitygw"

// Binary returns the path of the server's program, bin/versitygw, and builds it
// if it is missing or older than the file that pins it. That takes minutes, so
// make does it before the tests.
func Binary(ctx context.Context) (string, error) {
	gomod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("s3test: find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	pinned, binary := filepath.Join(root, "tools", "s3", "go.mod"), filepath.Join(root, "bin", "versitygw")
	if fresh(binary, pinned) {
		return binary, nil
	}
	if err := os.MkdirAll(filepath.Dir(binary), 0o750); err != nil {
		return "", fmt.Errorf("s3test: build the server: %w", err)
	}
	// The tests of several packages run at once; one of them builds.
	lock, err := os.OpenFile(binary+".lock", os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // inside the checkout
	if err != nil {
		return "", fmt.Errorf("s3test: build the server: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("s3test: build the server: %w", err)
	}
	if fresh(binary, pinned) {
		return binary, nil
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-modfile="+pinned, "-o", binary+".new", tool) //nolint:gosec // our own file and tool
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("s3test: build the server (or run: make s3): %w\n%s", err, said)
	}
	if err := os.Rename(binary+".new", binary); err != nil {
		return "", fmt.Errorf("s3test: build the server: %w", err)
	}
	return binary, nil
}

// fresh reports whether the program is there and younger than what pins it.
func fresh(binary, pinned string) bool {
	b, err := os.Stat(binary)
	if err != nil {
		return false
	}
	p, err := os.Stat(pinned)
	return err == nil && !b.ModTime().Before(p.ModTime())
}
