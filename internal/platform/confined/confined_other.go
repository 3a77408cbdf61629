//go:build !linux

package confined

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// FullLandlock is for Linux.
const FullLandlock = 6

// LandlockVersion is 0 here.
func LandlockVersion() int { return 0 }

// Missing says that the service runs on Linux, and elsewhere only on the machines of its
// developers.
func Missing() []string { return []string{"Landlock", "seccomp"} }

func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func tieToParent(*exec.Cmd) {}

// WasKilled is not known here.
func WasKilled(*os.ProcessState) bool { return false }

// Hide does nothing here.
func Hide() error { return nil }

// Main becomes a program without any confinement, if the process was started for that and
// may do so.
func Main() {
	if len(os.Args) < minArgs || os.Args[1] != argument {
		return
	}
	if path := os.Args[7]; os.Args[6] == "true" {
		if path == Own {
			path = self()
		}
		_, _ = fmt.Fprintln(os.Stderr, syscall.Exec(path, os.Args[7:], os.Environ())) //nolint:gosec // as the parent chose it
	}
	os.Exit(ExitNotConfined)
}
