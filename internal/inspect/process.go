package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/lineproof/lineproof/internal/confined"
)

// argument tells a process that it was started to inspect a file. No command of
// the program has this name.
const argument = "--inspect-the-file-on-standard-input"

// clean is the output of a process that found nothing wrong. Any other valid
// output is the code of a refusal.
const clean = "clean"

// The default limits of an inspection.
const (
	DefaultTimeout = 30 * time.Second
	DefaultMemory  = 768 << 20
)

// clockFactor is the default ratio of elapsed time to CPU time. A file can only use
// CPU time; more time elapses on a machine that is busy with other work.
const clockFactor = 10

// exitDelay is how long after its time limit a process ends itself if its parent has not
// ended it.
const exitDelay = 10 * time.Second

// maxOpenFiles are for the Go runtime itself.
const maxOpenFiles = 16

// maxResult is longer than any output of an inspection.
const maxResult = 64

// Inspector inspects files, each in a separate process with low limits and no
// access: no environment, no other file, no way to write one. Whatever a file does
// to that process, the caller only loses a process that ends anyway.
//
// The zero value is ready to use: it starts the running program again, whose main
// must call Main first.
type Inspector struct {
	Command     []string      // the program and its arguments; if empty, the running program
	Timeout     time.Duration // CPU time; 0 means DefaultTimeout
	Clock       time.Duration // elapsed time; 0 means ten times Timeout
	MemoryBytes int64         // 0 means DefaultMemory
}

// Inspect inspects a file of the given media type. It returns nil for a file that
// may be shown and a *Refusal for one that may not. If the process crashes, exceeds
// a limit or has unexpected output, the file is refused as Unreadable.
//
// Any other error means that there was no inspection, for a reason other than the
// file: the process could not be started, was killed from outside, or got no CPU
// time. Try again later.
//
// The file is read from its start whatever its offset, and the offset does not
// change.
func (i *Inspector) Inspect(ctx context.Context, f *os.File, mediaType string) error {
	timeout, clock, memory := i.Timeout, i.Clock, i.MemoryBytes
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	if clock <= 0 {
		clock = clockFactor * timeout
	}
	if memory <= 0 {
		memory = DefaultMemory
	}
	command := i.Command
	if len(command) == 0 {
		command = []string{confined.Self()}
	}
	clockCtx, cancel := context.WithTimeout(ctx, clock)
	defer cancel()

	args := append(command[1:len(command):len(command)], argument, mediaType, strconv.FormatInt(memory, 10), timeout.String(), clock.String())
	cmd := exec.CommandContext(clockCtx, command[0], args...) //nolint:gosec // the program itself, or that of a test
	var result resultBuffer
	cmd.Stdin, cmd.Stdout = f, &result
	cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=1"} // and none of the caller's secrets
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	confined.TieToParent(cmd)

	// The signal for the end of the parent (Pdeathsig) is tied to the thread that
	// starts the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("inspect: start: %w", err)
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("inspect: %w", context.Cause(ctx)) // the caller cancelled, which says nothing about the file
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	output := result.String()
	refusal, known := reason(output)
	switch {
	case cmd.ProcessState.ExitCode() == exitNotInspected:
		return errNotInspected
	case err != nil && confined.WasKilled(cmd.ProcessState) && used < timeout/2: // the kernel measures the limit by another clock
		return fmt.Errorf("inspect: %w after %v of CPU time: %w", errKilled, used, err)
	case err != nil:
		return Unreadable
	case output == clean:
		return nil
	case known:
		return refusal
	default:
		return Unreadable
	}
}

// The errors without an inspection.
var (
	errKilled       = errors.New("the process was killed")
	errNotInspected = errors.New("inspect: the process could not limit itself or read the file")
)

// exitNotInspected is the exit code of a process that could not start the inspection.
const exitNotInspected = 75

// resultBuffer keeps the start of the output of a process and discards the rest.
type resultBuffer struct{ bytes.Buffer }

func (b *resultBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxResult-min(b.Len(), maxResult))])
	return len(p), nil
}

// Main does the inspection and ends the process, if the process was started
// for one; otherwise it returns at once. A program that uses an Inspector calls
// it first in main, and a test in TestMain.
func Main() {
	if len(os.Args) != 6 || os.Args[1] != argument {
		return
	}
	os.Exit(serve(os.Stdin, os.Stdout, os.Args[2], os.Args[3], os.Args[4], os.Args[5]))
}

// serve inspects one file and returns the exit code of the process.
func serve(f *os.File, w io.Writer, mediaType, memory, timeout, clock string) int {
	bytes, err := strconv.ParseInt(memory, 10, 64)
	if err != nil {
		return exitNotInspected
	}
	limit, err := time.ParseDuration(timeout)
	if err != nil {
		return exitNotInspected
	}
	elapsedLimit, err := time.ParseDuration(clock)
	if err != nil {
		return exitNotInspected
	}
	// The garbage collector works harder before the hard limit ends the process.
	debug.SetMemoryLimit(bytes / 4 * 3)
	if err := confined.Limit(bytes, limit, maxOpenFiles); err != nil {
		return exitNotInspected
	}
	time.AfterFunc(elapsedLimit+exitDelay, func() { os.Exit(exitNotInspected) }) // if the parent does not end it
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return exitNotInspected
	}
	result := clean
	if err := File(f, info.Size(), mediaType); err != nil {
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			return exitNotInspected
		}
		result = refusal.Code
	}
	if _, err := io.WriteString(w, result); err != nil {
		return 1
	}
	return 0
}
