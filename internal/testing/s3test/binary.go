package s3test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const tool = "github.com/versity/versitygw/cmd/versitygw"

// Binary returns the path of the server's program, bin/versitygw, and builds it
// if it is missing or older than the go.mod that pins its version. That takes
// minutes, so make does it before the tests.
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
	// The tests of several packages run in parallel; only one of them builds.
	lock, err := os.OpenFile(binary+".lock", os.O_CREATE|os.O_RDWR, 0o600)
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
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-modfile="+pinned, "-o", binary+".new", tool)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("s3test: build the server (or run: make s3): %w\n%s", err, out)
	}
	if err := os.Rename(binary+".new", binary); err != nil {
		return "", fmt.Errorf("s3test: build the server: %w", err)
	}
	return binary, nil
}

// fresh reports whether the program exists and is newer than the file that pins
// its version.
func fresh(binary, pinned string) bool {
	b, err := os.Stat(binary)
	if err != nil {
		return false
	}
	p, err := os.Stat(pinned)
	return err == nil && !b.ModTime().Before(p.ModTime())
}
