package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// supervisor is a shell script that cleans up when its standard input is closed,
// which happens in whatever way this process ends.
type supervisor struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *os.File
}

// startSupervisor runs a script with arguments.
func startSupervisor(ctx context.Context, script string, args ...string) (*supervisor, error) {
	return startSupervisorIn(ctx, "", os.Environ(), script, args...)
}

// startSupervisorIn runs a script in a directory with an environment. The output
// of the script can be read from out.
func startSupervisorIn(ctx context.Context, dir string, environment []string, script string, args ...string) (*supervisor, error) {
	s := &supervisor{cmd: exec.CommandContext(context.WithoutCancel(ctx), "sh", append([]string{"-c", script}, args...)...)} //nolint:gosec // the scripts are ours
	s.cmd.Dir, s.cmd.Env = dir, environment
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C goes to this process only, which then stops the others
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: pipe: %w", err)
	}
	s.stdin = stdin
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("bench: pipe: %w", err)
	}
	s.out, s.cmd.Stdout = out, in
	err = s.cmd.Start()
	_ = in.Close() // the child has it
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("bench: start a supervisor: %w", err)
	}
	return s, nil
}

func (s *supervisor) stop() {
	_ = s.stdin.Close()
	_ = s.cmd.Wait() // its exit code does not matter
	_ = s.out.Close()
}
