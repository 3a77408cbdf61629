package hashing

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// niceness gives the process about a tenth of the weight of a normal one. Less would
// starve it: on a busy machine a login took longer than 8 s at the lowest weights
// (see docs/decisions/0026-passwords-are-hashed-in-a-separate-process.md).
const niceness = 10

// prSetDumpable is the option of prctl for core files and tracing.
const prSetDumpable = 4

// self returns the running program, even after an upgrade has replaced its file.
func self() string { return "/proc/self/exe" }

// tieToParent ends the process when this one ends, and gives it a session of its
// own: the signals of a terminal do not reach it, and a kernel that shares the
// processor between sessions (autogroup) counts it apart from the server.
func tieToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
}

// lowerPriority lowers the priority of this process and returns what it got.
func lowerPriority() string {
	var got []string
	if everyThread(setNice) == nil {
		got = append(got, fmt.Sprintf("nice %d", niceness))
	}
	// Where the kernel groups processes by session, the niceness of a process counts
	// only within its session, and this is the niceness of the session.
	if os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(niceness)), 0) == nil {
		got = append(got, fmt.Sprintf("session nice %d", niceness))
	}
	if len(got) == 0 {
		return "normal"
	}
	return strings.Join(got, ", ")
}

// everyThread calls set until it has found nothing to change in any thread. A thread
// inherits the priority of the one that creates it, so a pass over all threads
// without a change is the last.
func everyThread(set func(thread int) (changed bool, err error)) error {
	for again := true; again; {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("hashing: %w", err)
		}
		again = false
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return fmt.Errorf("hashing: %w", err)
			}
			changed, err := set(id)
			if err != nil && !errors.Is(err, syscall.ESRCH) { // a thread may end at any time
				return fmt.Errorf("hashing: set the niceness: %w", err)
			}
			again = again || changed
		}
	}
	return nil
}

func setNice(thread int) (changed bool, err error) {
	reversed, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread)
	if err != nil || 20-reversed >= niceness { // the kernel returns 20 less the niceness
		return false, err //nolint:wrapcheck // by the only caller
	}
	return true, syscall.Setpriority(syscall.PRIO_PROCESS, thread, niceness)
}

// protect keeps passwords in the memory of this process out of core files, and away
// from other processes of the same user.
func protect() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0) // it applies to the process, whichever thread calls it
}
