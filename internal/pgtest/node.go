package pgtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Node is a cluster that a test may hurt: kill, stop, start again on the same
// data, copy to a standby and promote. It is durable.
type Node struct {
	*Cluster

	bin     string
	as      *syscall.SysProcAttr // who it runs as
	data    string
	pid     int // of the server; 0 when it was not started
	say     io.Writer
	replies *bufio.Reader
}

// nodeScript starts the server whenever it is told to and waits for its end
// whenever it is told to: a server that was killed must be gone and not a
// zombie, because its lock file counts for as long as its number is in use. The
// script ends with its standard input, as guardScript does. A server that was
// killed cannot give its shared memory back; its lock file says which that is.
const nodeScript = `
server=
while read -r word; do
	case $word in
	start)
		"$0"/postgres -D "$2" >>"$1/log" 2>&1 &
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
	kill -QUIT "$server"
	kill -CONT "$server"
	wait "$server"
fi
if [ -f "$2/postmaster.pid" ]; then
	set -- "$1" "$2" $(sed -n 7p "$2/postmaster.pid")
	ipcrm -m "$4"
fi
rm -rf "$1"
`

// seed is a data directory with the migrated database, which every node of this
// process begins with. It ends with the process.
var seed = sync.OnceValues(func() (*Node, error) {
	ctx := context.Background()
	port, err := SteadyPort(ctx)
	if err != nil {
		return nil, err
	}
	n, err := newNode("", port)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error {
			return n.run(ctx, filepath.Join(n.bin, "initdb"), "--pgdata", n.data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8",
				"--locale", "C.UTF-8", "--no-sync", "--data-checksums")
		},
		// Shared memory that lies beside the data goes with it.
		func() error { return configure(n.dir, port, Durable, []string{"dynamic_shared_memory_type = mmap"}) },
		func() error { return n.Up(ctx) },
		func() error { return n.MakeTemplate(ctx) },
		n.shutDown,
	} {
		if err := step(); err != nil {
			n.Stop()
			return nil, err
		}
	}
	return n, nil
})

// StartNode makes a new node with a migrated database and waits until it
// answers. Its data lies in a directory of its own under dir, or beside its log
// if dir is empty. Settings are further lines of its configuration.
func StartNode(ctx context.Context, dir string, settings ...string) (*Node, error) {
	from, err := seed()
	if err != nil {
		return nil, err
	}
	port, err := SteadyPort(ctx)
	if err != nil {
		return nil, err
	}
	n, err := newNode(dir, port)
	if err != nil {
		return nil, err
	}
	if err = n.run(ctx, "cp", "-a", from.data, n.data); err == nil {
		err = n.Configure(append([]string{fmt.Sprintf("port = %d", port), "unix_socket_directories = '" + n.dir + "'"}, settings...)...)
	}
	if err == nil {
		err = n.Up(ctx)
	}
	if err != nil {
		n.Stop()
		return nil, err
	}
	return n, nil
}

// Database returns the address of the node's one database.
func (n *Node) Database() string { return n.URL(template) }

// newNode makes the directories of a node and the process that will start it.
func newNode(dir string, port int) (*Node, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "lineproof-pg-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: make a directory: %w", err)
	}
	if dir == "" {
		dir = home
	}
	n := &Node{Cluster: &Cluster{dir: home, port: port}, bin: bin, data: filepath.Join(dir, "data")}
	if n.as, err = credential(home); err == nil && dir != home {
		_, err = credential(dir)
	}
	if err != nil {
		return nil, err
	}
	n.guard = exec.Command("sh", "-c", nodeScript, bin, home, n.data) // without a context: the pipe ends it
	n.guard.Dir = home
	n.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if n.as != nil {
		n.guard.SysProcAttr.Credential = n.as.Credential
	}
	stdin, err := n.guard.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pgtest: pipe: %w", err)
	}
	stdout, err := n.guard.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("pgtest: pipe: %w", err)
	}
	n.stdin, n.say, n.replies = stdin, stdin, bufio.NewReader(stdout)
	if err := n.guard.Start(); err != nil {
		return nil, fmt.Errorf("pgtest: start the guard of the server: %w", err)
	}
	return n, nil
}

// Up starts the server on the data that it has, and waits until it answers.
func (n *Node) Up(ctx context.Context) error {
	var err error
	if n.pid, err = n.tell("start"); err != nil {
		return err
	}
	if err := n.wait(ctx); err != nil {
		log, _ := os.ReadFile(n.LogFile())
		const most = 16 << 10
		return fmt.Errorf("%w\n%s", err, log[max(0, len(log)-most):])
	}
	return nil
}

// Kill ends the server and everything that it has started at once, as kill -9
// does, and waits until all of it is gone.
func (n *Node) Kill() error {
	if n.pid == 0 {
		return nil
	}
	all, err := n.stopAll()
	if err != nil {
		return err
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return n.reap(all)
}

// shutDown ends the server in good order.
func (n *Node) shutDown() error {
	if err := syscall.Kill(n.pid, syscall.SIGINT); err != nil {
		return fmt.Errorf("pgtest: shut down: %w", err)
	}
	return n.reap(nil)
}

// reap returns once the server and all that it had started have ended.
func (n *Node) reap(all []int) error {
	if _, err := n.tell("wait"); err != nil {
		return err
	}
	n.pid = 0
	deadline := time.Now().Add(10 * time.Second)
	for _, pid := range all {
		for alive(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("pgtest: process %d does not end", pid)
			}
			<-time.After(time.Millisecond)
		}
	}
	return nil
}

// Running reports whether the server has not ended by itself.
func (n *Node) Running() bool { return n.pid != 0 && alive(n.pid) }

// Pause stops the server and everything that it has started until Resume: it
// still has its connections, and answers nothing.
func (n *Node) Pause() error {
	_, err := n.stopAll()
	return err
}

// Resume is the reverse of Pause.
func (n *Node) Resume() error {
	all, err := n.Processes()
	for _, pid := range all {
		err = errors.Join(err, syscall.Kill(pid, syscall.SIGCONT))
	}
	return err
}

// stopAll stops the server first, so that it starts nothing more, and then what
// it has started. It returns all of them.
func (n *Node) stopAll() ([]int, error) {
	_ = syscall.Kill(n.pid, syscall.SIGSTOP) // it may have ended
	all, err := n.Processes()
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	return all, err
}

// Processes returns the numbers of the server and of everything that it has
// started.
func (n *Node) Processes() ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("pgtest: list the processes: %w", err)
	}
	all := []int{n.pid}
	for _, name := range stats {
		pid, parent, _ := readStat(name)
		if parent == n.pid {
			all = append(all, pid)
		}
	}
	return all, nil
}

// readStat returns what the system says about a process. A process that has
// ended meanwhile has no number.
func readStat(name string) (pid, parent int, state string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, ""
	}
	// The name of the program stands in brackets and may contain anything.
	end := bytes.LastIndexByte(text, ')')
	before, _, _ := strings.Cut(string(text), " ")
	rest := strings.Fields(string(text[end+1:]))
	if end < 0 || len(rest) < 2 {
		return 0, 0, ""
	}
	pid, _ = strconv.Atoi(before)
	parent, _ = strconv.Atoi(rest[1])
	return pid, parent, rest[0]
}

// alive reports whether a process still runs. One that has ended may wait for
// its parent to notice; it holds nothing any more.
func alive(pid int) bool {
	found, _, state := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	return found != 0 && state != "Z" && state != "X"
}

// tell has the guard do something and returns its reply.
func (n *Node) tell(word string) (int, error) {
	if _, err := io.WriteString(n.say, word+"\n"); err != nil {
		return 0, fmt.Errorf("pgtest: tell the guard to %s: %w", word, err)
	}
	reply, err := n.replies.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("pgtest: hear from the guard: %w", err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(reply))
	if err != nil {
		return 0, fmt.Errorf("pgtest: hear from the guard: %w", err)
	}
	return number, nil
}

// run runs a program as the user of the server.
func (n *Node) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr, cmd.Dir = n.as, n.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", filepath.Base(program), err, out)
	}
	return nil
}

// SteadyPort returns a port that nobody uses and that the system gives to
// nobody by itself. Whoever listens there can end and come back; on a port from
// the system's own range a caller that tries in between may meet itself.
func SteadyPort(ctx context.Context) (int, error) {
	const first, ports = 20_000, 10_000
	for range 1000 {
		port := first + rand.IntN(ports)
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, ln.Close()
		}
	}
	return 0, errors.New("pgtest: find a port: all are in use")
}
