package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// FreePort returns a TCP port that nothing uses, below the range from which the
// system chooses the ports of outgoing connections. A server on it can end and
// come back: in the system's own range another connection could take the port in
// between, and a client that keeps dialling it can even connect to itself.
func FreePort(ctx context.Context) (int, error) {
	const first, ports = 20_000, 12_000
	var err error
	for range 1000 {
		port := first + rand.IntN(ports)
		var ln net.Listener
		if ln, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, ln.Close()
		}
	}
	return 0, fmt.Errorf("process: find a free port: %w", err)
}

// As returns the credential with which root runs a program as another user, and
// gives that user the directories. It returns nil if this process is not root:
// the program then runs as the current user.
func As(name string, dirs ...string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nil is what exec takes for the current user
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("process: as root, the tests need the user %s: %w", name, err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	err = errors.Join(err1, err2)
	for _, dir := range dirs {
		err = errors.Join(err, os.Chown(dir, int(uid), int(gid)))
	}
	if err != nil {
		return nil, fmt.Errorf("process: change the owner of a directory: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// Freeze stops one process until Thaw: it keeps its connections and locks, and
// does nothing.
func Freeze(pid int) error { return signal(pid, syscall.SIGSTOP) }

// Thaw ends Freeze. A process that has ended meanwhile needs none: a session of a
// database ends as soon as another of its processes runs again.
func Thaw(pid int) error {
	if err := signal(pid, syscall.SIGCONT); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

func signal(pid int, s syscall.Signal) error {
	if pid <= 0 { // kill(2) would signal a whole group, our own among them
		return fmt.Errorf("process: %s: the process is not running", s)
	}
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("process: %s to process %d: %w", s, pid, err)
	}
	return nil
}

// alive reports whether a process is running. A zombie is not: it has ended and
// only waits for its parent to reap it.
func alive(pid int) bool {
	found, _, state := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	return found != 0 && state != "Z" && state != "X"
}

// children returns the process ids of the direct children of a process.
func children(parent int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("process: list the processes: %w", err)
	}
	var all []int
	for _, name := range stats {
		if pid, above, _ := readStat(name); pid != 0 && above == parent {
			all = append(all, pid)
		}
	}
	return all, nil
}

// readStat reads /proc/PID/stat. The pid is 0 if the process has ended.
func readStat(name string) (pid, parent int, state string) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, 0, ""
	}
	// The program's name is in brackets and may contain any character, brackets
	// and spaces too.
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

// WithChildren returns a process id and those of its direct children.
func WithChildren(pid int) ([]int, error) {
	below, err := children(pid)
	return append([]int{pid}, below...), err
}
