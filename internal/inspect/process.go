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
)

// argument tells a process that it was started to inspect a file. No command
// of the program can be called that.
const argument = "--inspect-the-file-on-standard-input"

// clean is what a process says that found nothing wrong. Anything else it may
// say is the code of a refusal.
const clean = "clean"

// What an inspection may use when its Inspector does not say.
const (
	DefaultTimeout = 30 * time.Second
	DefaultMemory  = 768 << 20
)

// patience is how many times the time on the processor may pass on the clock. A
// file can take time of the processor only; the clock runs out on a machine that
// is busy with something else.
const patience = 10

// grace is how much longer a process waits that nobody ends.
const grace = 10 * time.Second

// maxAnswer is longer than any answer of an inspection.
const maxAnswer = 64

// Inspector opens files, each in a process of its own that may use little and
// reach nothing: no environment, no other file, no way to write one. Whatever a
// file does to it, the caller loses a process that it meant to lose.
//
// The zero value works: it starts the running program again, whose main must
// call Main first.
type Inspector struct {
	Command     []string      // the program and its arguments; the running one when empty
	Timeout     time.Duration // on the processor; DefaultTimeout when 0
	Clock       time.Duration // on the clock; ten times Timeout when 0
	MemoryBytes int64         // DefaultMemory when 0
}

// Inspect opens a file that claims to be of a media type. It returns nil for a
// file that may be shown and a *Refusal for one that may not. A process that
// crashes, meets a limit or says something else refuses the file as Unreadable.
//
// Any other error means that there was no inspection, through no fault of the
// file: the process could not be started, was killed from outside, or got no
// time on the processor. Try again later.
//
// The file is read from its beginning wherever it stands, and stays there.
func (i *Inspector) Inspect(ctx context.Context, f *os.File, mediaType string) error {
	timeout, clock, memory := i.Timeout, i.Clock, i.MemoryBytes
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	if clock <= 0 {
		clock = patience * timeout
	}
	if memory <= 0 {
		memory = DefaultMemory
	}
	command := i.Command
	if len(command) == 0 {
		command = []string{self()}
	}
	limited, cancel := context.WithTimeout(ctx, clock)
	defer cancel()

	args := append(command[1:len(command):len(command)], argument, mediaType, strconv.FormatInt(memory, 10), timeout.String(), clock.String())
	cmd := exec.CommandContext(limited, command[0], args...) //nolint:gosec // the program itself, or what the settings of a test name
	var answer answerBuffer
	cmd.Stdin, cmd.Stdout = f, &answer
	cmd.Env = []string{"GOTRACEBACK=none", "GOMAXPROCS=1"} // and none of the caller's secrets
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	leash(cmd)

	// The leash is tied to the thread that starts the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("inspect: start: %w", err)
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("inspect: %w", context.Cause(ctx)) // the caller gave up, which says nothing of the file
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	said := answer.String()
	refusal, known := reason(said)
	switch {
	case cmd.ProcessState.ExitCode() == statusUnable:
		return errUnable
	case err != nil && wasKilled(cmd.ProcessState) && used < timeout/2: // the kernel counts the limit by another clock
		return fmt.Errorf("inspect: %w after %v on the processor: %w", errKilled, used, err)
	case err != nil:
		return Unreadable
	case said == clean:
		return nil
	case known:
		return refusal
	default:
		return Unreadable
	}
}

// The ways in which there is no inspection.
var (
	errKilled = errors.New("the process was killed")
	errUnable = errors.New("inspect: the process could not limit itself or read the file")
)

// statusUnable is the status of a process that could not begin.
const statusUnable = 75

// answerBuffer keeps the beginning of what a process says, and swallows the
// rest.
type answerBuffer struct{ bytes.Buffer }

func (b *answerBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxAnswer-min(b.Len(), maxAnswer))])
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

// serve inspects one file and returns the status of the process.
func serve(f *os.File, w io.Writer, mediaType, memory, timeout, clock string) int {
	bytes, err := strconv.ParseInt(memory, 10, 64)
	if err != nil {
		return statusUnable
	}
	limit, err := time.ParseDuration(timeout)
	if err != nil {
		return statusUnable
	}
	wait, err := time.ParseDuration(clock)
	if err != nil {
		return statusUnable
	}
	// The collector works harder before the hard limit ends the process.
	debug.SetMemoryLimit(bytes / 4 * 3)
	if err := restrain(bytes, limit); err != nil {
		return statusUnable
	}
	time.AfterFunc(wait+grace, func() { os.Exit(statusUnable) }) // should nobody be there to do it
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return statusUnable
	}
	answer := clean
	if err := File(f, info.Size(), mediaType); err != nil {
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			return statusUnable
		}
		answer = refusal.Code
	}
	if _, err := io.WriteString(w, answer); err != nil {
		return 1
	}
	return 0
}
