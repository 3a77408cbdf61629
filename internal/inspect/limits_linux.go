package inspect

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// self is the running program, also after its file was replaced by an upgrade.
func self() string { return "/proc/self/exe" }

// leash ends the process when this one ends, and keeps the terminal's signals
// from it.
func leash(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// wasKilled says whether a process was ended by the signal that nothing can
// catch: by its limit on the processor, or from outside.
func wasKilled(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

const (
	prSetDumpable   = 4
	prSetNoNewPrivs = 38
	enoughFiles     = 16 // what the runtime itself may open
)

// restrain sets the limits of this process, which it cannot lift again. Memory
// is limited as data, not as address space: Go reserves far more addresses than
// it ever uses.
func restrain(memory int64, limit time.Duration) error {
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
		{"open files", syscall.RLIMIT_NOFILE, enoughFiles},
	} {
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("inspect: limit of %s: %w", l.name, err)
		}
	}
	for _, option := range [][2]uintptr{{prSetNoNewPrivs, 1}, {prSetDumpable, 0}} {
		_, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, option[0], option[1], 0, 0, 0, 0)
		if errno == syscall.ENOTSUP {
			// A program with cgo, such as a test with the race detector, can do it
			// for this thread and those that it starts.
			_, _, errno = syscall.RawSyscall6(syscall.SYS_PRCTL, option[0], option[1], 0, 0, 0, 0)
		}
		if errno != 0 {
			return fmt.Errorf("inspect: restrain: %w", errno)
		}
	}
	return nil
}
