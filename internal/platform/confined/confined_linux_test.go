package confined_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/lineproof/lineproof/internal/platform/confined"
)

const (
	asService = "-lineproof.service"
	asChild   = "-lineproof.hostile"
	asNothing = "-lineproof.nothing"
	secret    = "pepper-0123456789abcdef0123456789abcdef"
	nobody    = 54321 // the service's user, where the test is run by root
)

func TestMain(m *testing.M) {
	confined.Main()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case asNothing:
			os.Exit(0)
		case asService:
			runService(os.Args[2], os.Args[3])
			os.Exit(0)
		case asChild:
			attack(os.Args[2], os.Args[3], os.Args[4])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// attempts are everything that a hostile child tries.
func attempts(parent int, dir, address string) map[string]func() error {
	pid := strconv.Itoa(parent)
	read := func(path string) func() error {
		return func() error {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.Read(make([]byte, 1))
			if errors.Is(err, io.EOF) || strings.HasSuffix(path, "/mem") { // nothing is at the address 0
				err = nil
			}
			return err
		}
	}
	open := func(path string, flag int) func() error {
		return func() error {
			f, err := os.OpenFile(path, flag, 0o600)
			if err == nil {
				err = f.Close()
			}
			return err
		}
	}
	call := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			var a [6]uintptr
			copy(a[:], args)
			if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	socket := func(domain, kind int) func() error {
		return func() error {
			fd, err := unix.Socket(domain, kind, 0)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		}
	}
	dial := func(network, address string) func() error {
		return func() error {
			c, err := net.DialTimeout(network, address, 5*time.Second)
			if err == nil {
				err = c.Close()
			}
			return err
		}
	}
	run := func(path string) func() error { return func() error { return exec.Command(path, "-c", "true").Run() } }
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	return map[string]func() error{
		"read the environment of the service": read("/proc/" + pid + "/environ"),
		"read the memory of the service":      read("/proc/" + pid + "/mem"),
		"write the memory of the service":     open("/proc/"+pid+"/mem", os.O_RDWR),
		"read the arguments of the service":   read("/proc/" + pid + "/cmdline"),
		"read a file through the service":     read("/proc/" + pid + "/root" + dir + "/settings"),
		"trace the service":                   call(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(parent)),
		"copy the memory of the service": func() error {
			one := []byte{0}
			_, err := unix.ProcessVMReadv(parent, []unix.Iovec{{Base: &one[0], Len: 1}}, []unix.RemoteIovec{{Base: 4096, Len: 1}}, 0)
			return err
		},
		"signal the service": func() error { return unix.Kill(parent, 0) },
		"limit the service":  func() error { return unix.Prlimit(parent, unix.RLIMIT_CORE, nil, &limit) },
		"get a handle of the service": func() error {
			fd, err := unix.PidfdOpen(parent, 0)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		},
		"read the settings":  read(dir + "/settings"),
		"read the pepper":    read(dir + "/pepper"),
		"read the users":     read("/etc/passwd"),
		"list a directory":   func() error { _, err := os.ReadDir("/etc"); return err },
		"list the processes": func() error { _, err := os.ReadDir("/proc"); return err },
		"connect over TCP":   dial("tcp", address),
		"connect over UNIX":  dial("unix", dir+"/socket"),
		"connect by a name":  dial("unix", "@lineproof-"+pid),
		"send a datagram":    dial("udp", "127.0.0.1:9"),
		"listen": func() error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				err = l.Close()
			}
			return err
		},
		"open a UNIX socket":     socket(unix.AF_UNIX, unix.SOCK_STREAM),
		"open a netlink socket":  socket(unix.AF_NETLINK, unix.SOCK_RAW),
		"make a pair of sockets": func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"fork":                   fork,
		"run a shell":            run("/bin/sh"),
		"run the program again":  func() error { c := exec.Command(confined.Own, asNothing); return c.Run() },
		"create a file":          open(dir+"/open/new", os.O_WRONLY|os.O_CREATE),
		"write a file":           open(dir+"/open/file", os.O_WRONLY),
		"empty a file":           func() error { return os.Truncate(dir+"/open/file", 0) },
		"delete a file":          func() error { return os.Remove(dir + "/open/doomed") },
		"rename a file":          func() error { return os.Rename(dir+"/open/moved", dir+"/open/renamed") },
		"link a file":            func() error { return os.Link(dir+"/open/file", dir+"/open/linked") },
		"make a directory":       func() error { return os.Mkdir(dir+"/open/made", 0o700) },
		"make a symbolic link":   func() error { return os.Symlink("/etc/passwd", dir+"/open/symbolic") },
		"change a mode":          func() error { return os.Chmod(dir+"/open/file", 0o777) },
		"open the input again":   open("/proc/self/fd/0", os.O_RDWR),
		"make a file in memory": func() error {
			fd, err := unix.MemfdCreate("x", 0)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		},
		"raise its own limit":    func() error { return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) },
		"read a clock of others": call(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0),
		"use io_uring":           call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&make([]byte, 256)[0]))),
		"use BPF":                call(unix.SYS_BPF, 0, 0, 0),
		"use keys":               call(unix.SYS_KEYCTL, 0, ^uintptr(2), 1),
		"leave its namespaces":   func() error { return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNET) },
		"share memory":           call(unix.SYS_SHMGET, 0, 4096, 0o1600),
		"watch files": func() error {
			fd, err := unix.InotifyInit1(0)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		},
	}
}

// beyondTheService are what the system refuses to every ordinary process, confined or not.
var beyondTheService = []string{"use BPF", "read a clock of others", "raise its own limit", "call by the i386 table", "call by the x32 table"}

// fork starts a copy of the process, which ends at once.
func fork() error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}

// attack tries everything and says what was possible.
func attack(parent, dir, address string) {
	pid, err := strconv.Atoi(parent)
	if err != nil {
		panic(err)
	}
	list := attempts(pid, dir, address)
	names := make([]string, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		result := "done"
		// The last three mean that the call was allowed, and its arguments were wrong.
		if err := list[name](); err != nil && !errors.Is(err, unix.EFAULT) && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EINVAL) {
			result = err.Error()
		}
		fmt.Fprintf(os.Stdout, "%s\t%s\n", name, result)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Fprintln(os.Stdout, "the end\tdone")
	result := unix.Exec("/bin/echo", []string{"echo", "become another program\tdone"}, nil) // which prints this
	fmt.Fprintf(os.Stdout, "become another program\t%v\n", result)
}

// runService is the service: it has secrets, listens, and starts the child.
func runService(dir, how string) {
	for path, text := range map[string]string{"settings": secret, "pepper": secret, "open/file": "x", "open/doomed": "x", "open/moved": "x", "input": "a document"} {
		check(os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
		check(os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	for _, name := range []string{dir + "/socket", "@lineproof-" + strconv.Itoa(os.Getpid())} {
		_, err := net.Listen("unix", name)
		check(err)
	}
	input, err := os.OpenFile(filepath.Join(dir, "input"), os.O_RDWR, 0) // as a temporary file is
	check(err)
	leave(dir+"/pepper", os.O_RDONLY, 50)
	leave(dir+"/open/file", os.O_WRONLY, 51)
	pid := strconv.Itoa(os.Getpid())
	if how != "confined" {
		check(unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)) // as a service is that was not started by root
	}
	if how == "hidden" {
		check(confined.Hide())
	}
	var out bytes.Buffer
	for _, p := range []confined.Program{
		{Path: dir + "/attacks", Args: []string{pid, dir}},
		{Path: confined.Own, Args: []string{asChild, pid, dir, tcp.Addr().String()}, Threads: true},
	} {
		p.Memory, p.CPU, p.OpenFiles = 256<<20, 20*time.Second, 32
		cmd, run := p.Command(context.Background()), confined.Run
		if how != "confined" {
			cmd, run = exec.Command(p.Path, p.Args...), (*exec.Cmd).Run
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = input, &out, os.Stderr
		check(run(cmd))
	}
	_, _ = out.WriteTo(os.Stdout)
}

// leave leaves a file open so that every process that is started gets it, as a file is that
// the service was started with.
func leave(path string, flag, number int) {
	fd, err := unix.Open(path, flag, 0)
	check(err)
	check(unix.Dup3(fd, number, 0))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// service runs this program as the service, by a user who is not root, and returns what its
// child could do.
func service(t *testing.T, how string) map[string]string {
	t.Helper()
	dir, err := os.MkdirTemp("", "confined") //nolint:usetesting // t.TempDir is below a folder that only root can enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if text, err := exec.CommandContext(t.Context(), "gcc", "-static", "-pthread", "-o", dir+"/attacks", "testdata/attacks.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	cmd := exec.CommandContext(t.Context(), confined.Own, asService, dir, how)
	cmd.Env = []string{"LINEPROOF_PEPPERS=" + secret}
	if os.Getuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderrOf(err))
	}
	results := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), "\t")
		results[name] = result
	}
	for _, end := range []string{"the end", "the end of calls"} {
		if results[end] != "done" {
			t.Fatalf("a child did not come to its end: %s", out)
		}
		delete(results, end)
	}
	return results
}

func stderrOf(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as Output returns it
		return exit.Stderr
	}
	return nil
}

// A child that works on a file of a stranger, taken over by it, reaches nothing: no secret of
// the service, no other process, no file, no network. The same attempts succeed in a child
// that is not confined, so they are real.
func TestHostileChildReachesNothing(t *testing.T) {
	t.Parallel()
	for name, result := range service(t, "free") {
		if result != "done" && !slices.Contains(beyondTheService, name) {
			t.Errorf("a child that is not confined can't %s: %s", name, result)
		}
	}
	if missing := confined.Missing(); len(missing) > 0 {
		t.Skipf("this kernel lacks %v", missing)
	}
	results := service(t, "confined")
	if len(results) < 85 {
		t.Errorf("only %d attempts were made", len(results))
	}
	for name, result := range results {
		if result == "done" {
			t.Errorf("a confined child can %s", name)
		}
	}
}

// The service hides its memory and its environment even from a process of its own user that
// is not confined.
func TestServiceIsHidden(t *testing.T) {
	t.Parallel()
	results := service(t, "hidden")
	for _, name := range []string{
		"read the environment of the service", "read the memory of the service", "write the memory of the service",
		"copy the memory of the service", "read a file through the service",
	} {
		if results[name] == "done" {
			t.Errorf("a process of the same user can %s", name)
		}
	}
}

// A program that is a script, or is not there, is not started at all.
func TestOnlyBinariesAreConfined(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/usr/bin/ldd", "/nonexistent"} {
		p := confined.Program{Path: path, Memory: 64 << 20, CPU: time.Second, OpenFiles: 16}
		err := confined.Run(p.Command(t.Context()))
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != confined.ExitNotConfined {
			t.Errorf("%s: %v", path, err)
		}
	}
}
