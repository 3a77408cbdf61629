// Package process starts the servers and programs that tests need as child
// processes, kills, freezes and restarts them, and makes sure that none of them
// outlives the test process, however that ends.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Spec describes a server.
type Spec struct {
	Program string
	Args    []string
	Env     []string // in addition to the environment of this process

	// Dir is the server's own directory. It is the working directory and holds
	// the log file; Stop removes it.
	Dir string

	// Credential is the user the server runs as; nil is the current user.
	Credential *syscall.Credential

	// StopSignal is the name of the signal by which Stop ends the server, as
	// kill(1) takes it; KILL if empty.
	StopSignal string

	// Cleanup is a shell script that runs after Stop has ended the server and
	// before Dir is removed. $0 is the program, $1 and so on are its arguments.
	Cleanup string

	// Ready returns nil once the server answers. Start calls it until then, but
	// not for longer than Timeout.
	Ready   func(ctx context.Context) error
	Timeout time.Duration
}

// Server is a server of a test. A shell, the guard, starts it and waits for it,
// and stops it when this process ends.
type Server struct {
	spec    Spec
	guard   *Child
	replies *bufio.Reader
	pid     int // 0 while the server is not running
}

// guardScript starts the server on the command "start" and waits for its end on
// the command "wait": a server that was killed must be reaped and not stay a
// zombie, because PostgreSQL's lock file is valid for as long as the process id
// in it exists. When the standard input ends, the script stops the server and
// removes its directory. The signal CONT is for a server that was frozen.
const guardScript = `
dir=$0 signal=$1 cleanup=$2
shift 2
server=
while read -r word; do
	case $word in
	start)
		"$@" >>"$dir/log" 2>&1 &
		server=$!
		echo "$server"
		;;
	wait)
		wait "$server"
		echo "$?"
		server=
		;;
	esac
done
if [ -n "$server" ]; then
	kill "-$signal" "$server"
	kill -CONT "$server"
	wait "$server"
fi
sh -c "$cleanup" "$@"
rm -rf "$dir"
`

// New prepares a server and does not start it. From now on Stop, or the end of
// this process, removes its directory.
func New(spec Spec) (*Server, error) {
	if spec.StopSignal == "" {
		spec.StopSignal = "KILL"
	}
	cmd := exec.Command("sh", append([]string{"-c", guardScript, spec.Dir, spec.StopSignal, spec.Cleanup, spec.Program}, spec.Args...)...)
	cmd.Dir, cmd.Env = spec.Dir, append(os.Environ(), spec.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: spec.Credential} // in a group of its own: Ctrl-C at the terminal ends the tests, and they end the server
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("process: pipe: %w", err)
	}
	s := &Server{spec: spec, replies: bufio.NewReader(out)}
	if s.guard, err = start(cmd); err != nil {
		return nil, err
	}
	return s, nil
}

// Start starts the server, for the first time or again after Kill, and waits
// until it is ready. The error ends with the last part of its log.
func (s *Server) Start(ctx context.Context) error {
	err := errors.New("the server was stopped")
	if s.guard != nil {
		s.pid, err = s.command("start")
	}
	if err == nil {
		err = s.waitReady(ctx)
	}
	if err != nil {
		log, _ := os.ReadFile(s.LogFile())
		const maxLog = 16 << 10
		return fmt.Errorf("process: start %s: %w\n%s", filepath.Base(s.spec.Program), err, log[max(0, len(log)-maxLog):])
	}
	return nil
}

func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.spec.Timeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.spec.Ready(ctx)
		if err == nil {
			return nil
		}
		if !s.Running() {
			return errors.New("it ended by itself")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", err)
		case <-tick.C:
		}
	}
}

// command sends the guard a command and returns the number it replies with.
func (s *Server) command(word string) (int, error) {
	if _, err := io.WriteString(s.guard.stdin, word+"\n"); err != nil {
		return 0, fmt.Errorf("process: send %q to the guard: %w", word, err)
	}
	reply, err := s.replies.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("process: read the guard's reply: %w", err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(reply))
	if err != nil {
		return 0, fmt.Errorf("process: read the guard's reply: %w", err)
	}
	return number, nil
}

// LogFile returns the path of the file with everything that the server has
// written to its standard output and standard error.
func (s *Server) LogFile() string { return filepath.Join(s.spec.Dir, "log") }

// PID returns the server's process id; 0 while it is not running.
func (s *Server) PID() int { return s.pid }

// Running reports whether the server was started and has not ended by itself.
func (s *Server) Running() bool { return s.pid != 0 && alive(s.pid) }

// Processes returns the process ids of the server and of its children.
func (s *Server) Processes() ([]int, error) {
	if s.pid == 0 {
		return nil, errors.New("process: the server is not running")
	}
	return WithChildren(s.pid)
}

// Stop ends the server and removes its directory. A second call does nothing.
func (s *Server) Stop() {
	if s.guard == nil {
		return
	}
	_ = s.guard.stdin.Close()
	<-s.guard.Ended()
	s.guard, s.pid = nil, 0
}

// Kill ends the server and its children as kill -9 does, and returns once all of
// them have ended. The directory stays, so that Start can start the server on
// the same data.
func (s *Server) Kill() error {
	if s.pid == 0 {
		return nil
	}
	all, err := s.freeze()
	if err != nil {
		return err
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return s.Wait(all...)
}

// Wait returns once the server has ended, and the other given processes too.
func (s *Server) Wait(others ...int) error {
	if _, err := s.command("wait"); err != nil {
		return err
	}
	s.pid = 0
	deadline := time.Now().Add(10 * time.Second)
	for _, pid := range others {
		for alive(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process: process %d does not end", pid)
			}
			<-time.After(time.Millisecond)
		}
	}
	return nil
}

// Freeze stops the server and its children until Thaw. The system still accepts
// connections for it, and nothing answers them.
func (s *Server) Freeze() error {
	_, err := s.freeze()
	return err
}

// freeze stops the server first, so that it can start no more children, and then
// the children. It returns all of them.
func (s *Server) freeze() ([]int, error) {
	_ = Freeze(s.pid) // it may have ended by itself
	all, err := s.Processes()
	for _, pid := range all {
		_ = Freeze(pid)
	}
	return all, err
}

// Thaw ends Freeze.
func (s *Server) Thaw() error {
	all, err := s.Processes()
	for _, pid := range all {
		err = errors.Join(err, Thaw(pid))
	}
	return err
}
