package nation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/lineproof/lineproof/internal/cli/console"
)

// stopTime is how long a command may take to end when it is asked to; the service answers what it
// has taken.
const stopTime = time.Minute

// findProgram returns the path of the program lineproof: the one beside this program, or the one
// of the PATH.
func findProgram() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "lineproof")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("lineproof")
	if err != nil {
		return "", errors.New("the program lineproof is neither beside this one nor in the PATH")
	}
	return path, nil
}

// execute runs the program in env until it ends or, once ctx has ended, is asked to, and returns
// its exit code. It can't be left behind, and signals of the terminal do not reach it.
func execute(ctx context.Context, program string, env console.Env) int {
	cmd := exec.CommandContext(ctx, program, env.Args...) //nolint:gosec // the program of the same package
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Environ, env.Stdin, env.Stdout, env.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	tieToParent(cmd)
	runtime.LockOSThread() // the program ends with the thread that has started it
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(env.Stderr, err)
		return console.ExitFailed
	}
	return cmd.ProcessState.ExitCode()
}
