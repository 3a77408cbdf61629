//go:build !linux

package confined

import (
	"os"
	"os/exec"
	"time"
)

// Self returns the running program.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// TieToParent does nothing here.
func TieToParent(*exec.Cmd) {}

// WasKilled is not known here.
func WasKilled(*os.ProcessState) bool { return false }

// Limit sets no limits: the service runs on Linux, and elsewhere only on the machines of
// its developers.
func Limit(int64, time.Duration, uint64) error { return nil }
