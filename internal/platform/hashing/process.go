package hashing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	// startTimeout is how long the process may take until it is ready. It is long,
	// because a machine that is busy lets a process of low priority wait.
	startTimeout = 10 * time.Second

	// answerTimeout is how long one password may take. A process that needs longer is
	// stuck, and is replaced.
	answerTimeout = 10 * time.Second

	minBackOff = 100 * time.Millisecond
	maxBackOff = 5 * time.Second
)

// The causes of a password that was not hashed.
var (
	errNotRunning = errors.New("hashing: the process is not running")
	errEnded      = errors.New("hashing: the process has ended")
	errStuck      = errors.New("hashing: the process gave no answer in time")
)

// Process is a process that hashes passwords, and is started again whenever it ends.
type Process struct {
	log     *slog.Logger
	timeout time.Duration         // of one answer
	current atomic.Pointer[pipes] // nil while no process is ready
	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// Start starts the process and keeps it running until Close. It returns when the
// process is ready, or when the first attempt has failed: then passwords cannot be
// hashed until a later attempt succeeds.
func Start(ctx context.Context, log *slog.Logger) *Process {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // requests are answered while the server drains
	p := &Process{log: log, timeout: answerTimeout, stop: stop}
	attempted := make(chan struct{})
	p.stopped.Go(func() { p.supervise(ctx, sync.OnceFunc(func() { close(attempted) })) })
	<-attempted
	return p
}

// Close ends the process.
func (p *Process) Close() {
	p.stop()
	p.stopped.Wait()
}

// Derive computes a key in the process. If there is no answer, the error is a
// fault with the code Unavailable.
func (p *Process) Derive(d secret.Derivation) ([]byte, error) {
	c := p.current.Load()
	if c == nil {
		return nil, secret.NoHashing(errNotRunning)
	}
	key, err := c.derive(&d, p.timeout)
	if err != nil {
		return nil, secret.NoHashing(err)
	}
	return key, nil
}

// supervise runs one process after the other until ctx ends.
func (p *Process) supervise(ctx context.Context, attempted func()) {
	// The signal for the end of the parent is tied to the thread that starts the
	// process: this thread must live as long as the server.
	runtime.LockOSThread()
	defer attempted()
	for wait := minBackOff; ; wait = min(2*wait, maxBackOff) {
		started := time.Now()
		err := p.run(ctx, attempted)
		if ctx.Err() != nil {
			return
		}
		attempted()
		if time.Since(started) > maxBackOff {
			wait = minBackOff
		}
		p.log.LogAttrs(ctx, slog.LevelError, "the process that hashes passwords has ended and is started again", slog.Any("error", err), slog.Duration("in", wait))
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// run starts a process and returns when it has ended.
func (p *Process) run(ctx context.Context, ready func()) error {
	input, requests, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("hashing: %w", err)
	}
	defer requests.Close()
	answers, output, err := os.Pipe()
	if err != nil {
		return errors.Join(fmt.Errorf("hashing: %w", err), input.Close())
	}
	defer answers.Close()

	cmd := exec.CommandContext(ctx, self(), argument) //nolint:gosec // the program itself
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout = input, output
	cmd.Env = []string{"GOTRACEBACK=none"} // and none of the caller's secrets
	cmd.Dir = "/"
	cmd.Cancel = requests.Close // its input ends, and so does the process
	cmd.WaitDelay = time.Second
	tieToParent(cmd)
	err = cmd.Start()
	_, _ = input.Close(), output.Close() // the process has its own
	if err != nil {
		return fmt.Errorf("hashing: start: %w", err)
	}
	c := &pipes{requests: requests, waiting: map[uint32]chan<- []byte{}, process: cmd.Process}
	_ = answers.SetReadDeadline(time.Now().Add(startTimeout))
	priority, err := readFrame(answers)
	if err == nil {
		_ = answers.SetReadDeadline(time.Time{})
		if group, err := newCgroup(); err == nil {
			defer group.remove()
			if group.add(cmd.Process.Pid) == nil {
				priority = append(priority, ", cgroup weight "+cgroupWeight...)
			}
		}
		p.log.LogAttrs(ctx, slog.LevelInfo, "passwords are hashed in a process of their own",
			slog.Int("pid", cmd.Process.Pid), slog.String("priority", string(priority)))
		p.current.Store(c)
		ready()
		err = c.receive(answers)
		p.current.Store(nil)
	}
	c.kill() // if it has not ended, its answers cannot be read
	c.end()
	return errors.Join(cmd.Wait(), err)
}
