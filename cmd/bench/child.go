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

// childSwitch turns this program into one of its helpers, each of which is a
// process of its own so that its CPU can be told from that of the others.
const childSwitch = "BENCH_CHILD"

// The helpers. Each reads one line from its standard input and ends when that
// ends, so that none outlives the process that wanted it.
var helpers = map[string]func(ctx context.Context, in []byte, out io.Writer) error{
	"bare":     serveBare,
	"generate": generate,
}

// runAsChild does what a helper does, if this process is one.
func runAsChild() (code int, is bool) {
	help, is := helpers[os.Getenv(childSwitch)]
	if !is {
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
	if err := help(context.Background(), first, os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return exitFailed, true
	}
	return exitFine, true
}

// child is a helper that runs.
type child struct {
	cmd        *exec.Cmd
	stdin      io.WriteCloser
	lines      *bufio.Reader
	complaints *bytes.Buffer
}

// startChild starts a helper and gives it its task.
func startChild(ctx context.Context, name string, task any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("bench: find the own program: %w", err)
	}
	first, err := json.Marshal(task)
	if err != nil {
		return nil, fmt.Errorf("bench: write the task of %s: %w", name, err)
	}
	c := &child{cmd: exec.CommandContext(context.WithoutCancel(ctx), self), complaints: new(bytes.Buffer)} //nolint:gosec // our own program; its input ends it
	c.cmd.Env = []string{childSwitch + "=" + name, "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for this process, which then ends the others
	c.cmd.Stderr = c.complaints
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
		return nil, fmt.Errorf("bench: give %s its task: %w: %s", name, err, c.complaints)
	}
	return c, nil
}

// read returns the next line that the helper says. It gives up after a time, or
// when ctx ends, by ending the helper.
func (c *child) read(ctx context.Context, within time.Duration, into any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.stdin.Close() })()
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		c.stop() // so that its complaints are complete
		return fmt.Errorf("bench: a helper says nothing more: %w: %s", err, c.complaints)
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("bench: a helper says what is not understood: %w", err)
	}
	return nil
}

// stop ends the helper. It may be called again.
func (c *child) stop() {
	_ = c.stdin.Close()
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Wait() // that it was ended is what it says
	}
}
