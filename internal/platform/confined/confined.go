// Package confined runs a program on a file of a stranger so that the program can do
// nothing but read that file and write its result.
//
// The running program is started again with [Main]'s argument. That process gives up what
// it does not need before it becomes the program: the new program is confined from its first
// instruction, and no thread of the old one is left. What holds on Linux:
//
//   - Files (Landlock): it can read libraries and fonts, and execute only itself. It can
//     write, create, rename or delete nothing, and does not see /proc.
//   - System calls (seccomp): only those in a list. It has no sockets, starts no process,
//     signals and traces nobody, and has no second thread unless [Program.Threads] says so.
//   - Limits: memory, CPU time, open files; no written byte, no core file, no new privileges.
//   - It has no environment, and nothing open but three pipes to its parent: it can neither
//     write the file that it reads nor move in it.
//
// On a kernel without Landlock or seccomp nothing is started, unless [Program.Weak] says
// so: see [Missing].
package confined

import (
	"context"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"time"
)

// minArgs is how many arguments such a process has at least: the first two, the limits, what is
// allowed, and the program.
const minArgs = 8

// argument tells a process that it was started to become a confined program. No command
// of the program has this name.
const argument = "--become-a-confined-program"

// Own stands for the running program itself as [Program.Path].
const Own = "/proc/self/exe"

// ExitNotConfined is the exit code of a process that could not be confined: the program
// was not started.
const ExitNotConfined = 75

// Program is a program that is run confined.
type Program struct {
	Path      string   // a binary, not a script; Own for the running program
	Args      []string // without its name
	Memory    int64    // bytes of data
	CPU       time.Duration
	OpenFiles uint64
	// Threads lets it start threads, as every program in Go does. They have no limit of
	// their own: their number is limited for all processes of the user together.
	Threads bool
	// Weak starts the program also where the kernel can't confine it.
	Weak bool
}

// Command returns a command that becomes the program, with an empty environment; [Run] runs
// it.
func (p *Program) Command(ctx context.Context) *exec.Cmd {
	seconds := int64(max(p.CPU, 0)/time.Second) + 1
	args := []string{
		argument, strconv.FormatInt(p.Memory, 10), strconv.FormatInt(seconds, 10),
		strconv.FormatUint(p.OpenFiles, 10), strconv.FormatBool(p.Threads), strconv.FormatBool(p.Weak), p.Path,
	}
	cmd := exec.CommandContext(ctx, self(), append(args, p.Args...)...) //nolint:gosec // the program itself
	cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=1"}              // and none of the caller's secrets
	cmd.Dir, cmd.WaitDelay = "/", time.Second
	return cmd
}

// Run starts a command and waits for its end, which comes at the latest when this process
// ends.
func Run(cmd *exec.Cmd) error {
	tieToParent(cmd)
	// What is not a file becomes a pipe. A process that had the file could write what this
	// one wrote into it, whatever rights the process has.
	if cmd.Stdin != nil {
		cmd.Stdin = struct{ io.Reader }{cmd.Stdin}
	}
	for _, w := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if *w != nil {
			*w = struct{ io.Writer }{*w}
		}
	}
	// The signal for the end of the parent is tied to the thread that starts the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
