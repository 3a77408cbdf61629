package hashing

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/lineproof/lineproof/internal/platform/confined"
)

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
	if confined.LowerPriority() == nil {
		got = append(got, fmt.Sprintf("nice %d", confined.Niceness))
	}
	// Where the kernel groups processes by session, the niceness of a process counts
	// only within its session, and this is the niceness of the session.
	if os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(confined.Niceness)), 0) == nil {
		got = append(got, fmt.Sprintf("session nice %d", confined.Niceness))
	}
	if len(got) == 0 {
		return "normal"
	}
	return strings.Join(got, ", ")
}

// protect keeps passwords in the memory of this process out of core files, and away
// from other processes of the same user.
func protect() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0) // it applies to the process, whichever thread calls it
}
