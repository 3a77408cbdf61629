package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// childVariable is the environment variable that makes this program run as one of
// its child processes. They are separate processes so that their CPU is measured
// separately.
const childVariable = "BENCH_CHILD"

// childTasks are the tasks of child processes. Each reads one line from its
// standard input and exits when that is closed, so that none outlives its parent.
var childTasks = map[string]func(ctx context.Context, in []byte, out io.Writer) error{
	"bare":     serveBare,
	"generate": generate,
}

// runAsChild runs the task of a child process, if this process is one.
func runAsChild() (code int, isChild bool) {
	task, isChild := childTasks[os.Getenv(childVariable)]
	if !isChild {
		return 0, false
	}
	in := bufio.NewReader(os.Stdin)
	first, err := in.ReadBytes('\n')
	if err != nil {
		return exitFailed, true
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		os.Exit(exitFailed)
	}()
	if err := task(context.Background(), first, os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return exitFailed, true
	}
	return exitOK, true
}

// child is a running child process.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Reader
	stderr *bytes.Buffer
}

// startChild starts a child process and sends it its input.
func startChild(ctx context.Context, name string, input any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("bench: find this program: %w", err)
	}
	first, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("bench: encode the input of %s: %w", name, err)
	}
	c := &child{cmd: exec.CommandContext(context.WithoutCancel(ctx), self), stderr: new(bytes.Buffer)} //nolint:gosec // our own program; it exits when its input is closed
	c.cmd.Env = []string{childVariable + "=" + name, "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C goes to this process only, which then stops the others
	c.cmd.Stderr = c.stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("bench: pipe: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: pipe: %w", err)
	}
	c.lines = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("bench: start %s: %w", name, err)
	}
	if _, err := c.stdin.Write(append(first, '\n')); err != nil {
		c.stop()
		return nil, fmt.Errorf("bench: send the input of %s: %w: %s", name, err, c.stderr)
	}
	return c, nil
}

// read reads the next message of the child. After the timeout, or when ctx ends,
// it stops the child and fails.
func (c *child) read(ctx context.Context, timeout time.Duration, into any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.stdin.Close() })()
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		c.stop() // so that its error output is complete
		return fmt.Errorf("bench: no message from a child process: %w: %s", err, c.stderr)
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("bench: malformed message from a child process: %w", err)
	}
	return nil
}

// stop stops the child. It may be called more than once.
func (c *child) stop() {
	_ = c.stdin.Close()
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Wait() // the error only says that it was stopped
	}
}
