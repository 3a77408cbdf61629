package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// guard is a shell that does something when its standard input ends: however
// this process ends, that happens.
type guard struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *os.File
}

// startGuard runs a script with arguments.
func startGuard(ctx context.Context, script string, args ...string) (*guard, error) {
	return startGuardIn(ctx, "", os.Environ(), script, args...)
}

// startGuardIn does so in a directory and with an environment. What the script
// says can be read from out.
func startGuardIn(ctx context.Context, dir string, environment []string, script string, args ...string) (*guard, error) {
	g := &guard{cmd: exec.CommandContext(context.WithoutCancel(ctx), "sh", append([]string{"-c", script}, args...)...)} //nolint:gosec // the scripts are ours
	g.cmd.Dir, g.cmd.Env = dir, environment
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for this process, which then ends the others
	stdin, err := g.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: pipe: %w", err)
	}
	g.stdin = stdin
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("bench: pipe: %w", err)
	}
	g.out, g.cmd.Stdout = out, in
	err = g.cmd.Start()
	_ = in.Close() // the child has it
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("bench: start a guard: %w", err)
	}
	return g, nil
}

func (g *guard) stop() {
	_ = g.stdin.Close()
	_ = g.cmd.Wait() // what it did is what counts
	_ = g.out.Close()
}
