package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Child is a running program. Its standard input is a pipe that stays open until
// this process ends: a program that ends with its input does not outlive us.
type Child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{}
}

// Run starts a program whose output goes to the file log.
func Run(cmd *exec.Cmd, log *os.File) (*Child, error) {
	cmd.Stdout, cmd.Stderr = log, log
	return start(cmd)
}

func start(cmd *exec.Cmd) (*Child, error) {
	c := &Child{cmd: cmd, ended: make(chan struct{})}
	var err error
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("process: pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("process: start %s: %w", cmd.Path, err)
	}
	go func() {
		_ = cmd.Wait() // ExitCode returns the result
		close(c.ended)
	}()
	return c, nil
}

// PID returns the program's process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Ended is closed when the program has ended and its output is complete.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// ExitCode returns the exit code of a program that has ended; -1 if a signal
// ended it.
func (c *Child) ExitCode() int { return c.cmd.ProcessState.ExitCode() }

// Signal sends the program a signal.
func (c *Child) Signal(s os.Signal) error {
	if err := c.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("process: send %s: %w", s, err)
	}
	return nil
}

// Kill ends the program as kill -9 does, and returns once it has ended.
func (c *Child) Kill() {
	_ = c.cmd.Process.Kill() // it may have ended
	<-c.ended
}

// AtExit runs a shell script when done is called, or when this process ends
// without having called it, however it ends. The arguments are $0, $1 and so on.
// done returns after the script has ended.
func AtExit(script string, args ...string) (done func(), err error) {
	cmd := exec.Command("sh", append([]string{"-c", "read -r _\n" + script}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C at the terminal must not end it before it has cleaned up
	c, err := start(cmd)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = c.stdin.Close()
		<-c.ended
	}, nil
}
