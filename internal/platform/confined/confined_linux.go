package confined

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// self returns the running program, even after an upgrade has replaced its file.
func self() string { return Own }

func tieToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// WasKilled reports whether a process was ended by SIGKILL: because of its CPU
// limit, or from outside.
func WasKilled(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Main becomes a confined program, if the process was started for that; otherwise it
// returns at once. A program that uses this package calls it first in main, and a test in
// TestMain.
func Main() {
	if len(os.Args) < minArgs || os.Args[1] != argument {
		return
	}
	err := become(os.Args[2], os.Args[3], os.Args[4], os.Args[5] == "true", os.Args[6] == "true", os.Args[7:])
	_, _ = fmt.Fprintln(os.Stderr, err)
	os.Exit(ExitNotConfined)
}

// What a program may reserve in addresses beyond its memory: for libraries and fonts, and
// what Go reserves and does not use. Without this limit tables of pages would have none.
const (
	addresses   = 512 << 20
	addressesGo = 4 << 30
)

// become turns this process into a program, with limits that it cannot raise again; it
// returns only why it could not. Memory
// is limited as data, because Go reserves far more addresses than it uses.
func become(memory, seconds, openFiles string, threads, weak bool, program []string) error {
	for _, l := range []struct {
		name     string
		resource int
		value    string
	}{
		{"memory", unix.RLIMIT_DATA, memory},
		{"processor", unix.RLIMIT_CPU, seconds},
		{"core files", unix.RLIMIT_CORE, "0"},
		{"written files", unix.RLIMIT_FSIZE, "0"},
		{"open files", unix.RLIMIT_NOFILE, openFiles},
	} {
		n, err := strconv.ParseUint(l.value, 10, 64)
		if err == nil {
			err = syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: n, Max: n})
		}
		if err != nil {
			return fmt.Errorf("confined: limit of %s: %w", l.name, err)
		}
	}
	// A program that tries to write a file, as the cache of fonts does, gets an error and
	// not a signal.
	signal.Ignore(syscall.SIGXFSZ)
	if missing := Missing(); len(missing) > 0 && !weak {
		return fmt.Errorf("confined: this kernel lacks %v", missing)
	}
	if err := restrictFiles(program[0]); err != nil {
		return err
	}
	// What this process was started with, or a library has left open.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !weak {
		return fmt.Errorf("confined: close files: %w", err)
	}
	filter, err := filterOf(threads)
	if err != nil && !weak {
		return err
	}
	// From here on the runtime must need neither addresses nor threads.
	debug.SetGCPercent(-1)
	if err := limitAddresses(memory, threads); err != nil {
		return err
	}
	if err := restrictCalls(filter); err != nil && !weak {
		return err
	}
	err = syscall.Exec(program[0], program, os.Environ()) //nolint:gosec // as the parent chose it
	return fmt.Errorf("confined: start the program: %w", err)
}

// limitAddresses limits the addresses of the program. Of this process itself it may be less than
// it has: then it gets no more.
func limitAddresses(memory string, threads bool) error {
	limit, err := strconv.ParseUint(memory, 10, 64)
	if err != nil {
		return fmt.Errorf("confined: limit of addresses: %w", err)
	}
	if limit += addresses; threads {
		limit += addressesGo
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("confined: limit of addresses: %w", err)
	}
	return nil
}

// Hide keeps other processes of the same user from reading the memory and the environment
// of this one, as long as it runs.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("confined: hide the process: %w", err)
	}
	return nil
}
