package confined

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Self returns the running program, even after an upgrade has replaced its file.
func Self() string { return "/proc/self/exe" }

// TieToParent ends the process when this one ends, and protects it from the signals of
// the terminal. The thread that starts it must be locked: the signal for the end of the
// parent is tied to that.
func TieToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// WasKilled reports whether a process was ended by SIGKILL: because of its CPU
// limit, or from outside.
func WasKilled(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

const (
	prSetDumpable   = 4
	prSetNoNewPrivs = 38
)

// Limit sets the limits of this process, which it cannot raise again: memory, CPU time and
// open files; no core file, no written file, no new privileges, no tracing. Memory is
// limited as data, not as address space: Go reserves far more addresses than it ever uses.
func Limit(memory int64, limit time.Duration, openFiles uint64) error {
	seconds := uint64(max(limit, 0)/time.Second) + 1
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"memory", syscall.RLIMIT_DATA, uint64(memory)}, //nolint:gosec // positive: the caller's setting
		{"processor", syscall.RLIMIT_CPU, seconds},
		{"core files", syscall.RLIMIT_CORE, 0},
		{"written files", syscall.RLIMIT_FSIZE, 0},
		{"open files", syscall.RLIMIT_NOFILE, openFiles},
	} {
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("confined: limit of %s: %w", l.name, err)
		}
	}
	for _, option := range [][2]uintptr{{prSetNoNewPrivs, 1}, {prSetDumpable, 0}} {
		_, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, option[0], option[1], 0, 0, 0, 0)
		if errno == syscall.ENOTSUP {
			// A program with cgo, such as a test with the race detector, can set it only
			// for this thread and those that it starts.
			_, _, errno = syscall.RawSyscall6(syscall.SYS_PRCTL, option[0], option[1], 0, 0, 0, 0)
		}
		if errno != 0 {
			return fmt.Errorf("confined: set the limits: %w", errno)
		}
	}
	return nil
}
