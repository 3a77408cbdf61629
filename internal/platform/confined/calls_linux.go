package confined

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Missing returns what the kernel lacks to confine a program; nothing is started then. What
// an older version of Landlock leaves out, seccomp refuses too: see [FullLandlock].
func Missing() (missing []string) {
	if LandlockVersion() < 1 {
		missing = append(missing, "Landlock")
	}
	if !seccomp.Supported() {
		missing = append(missing, "seccomp")
	}
	return missing
}

// allowed are the system calls of a program: those that pdftoppm, pdfinfo and the Go runtime
// made over the corpus of documents, and their kin on other architectures and in other
// versions of libc. A call that an architecture does not have is skipped.
var allowed = []string{
	// The program starts, once more and with the same restrictions.
	"execve", "brk", "munmap", "mremap", "mprotect", "madvise", "mincore", "arch_prctl", "set_tid_address", "set_robust_list",
	"get_robust_list", "rseq", "getrlimit", "restart_syscall", "exit", "exit_group",
	// It reads files and its streams, and writes its result.
	"read", "readv", "pread64", "write", "writev", "close", "lseek", "fstat", "stat", "lstat", "newfstatat", "statx", "statfs", "fstatfs",
	"access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd", "dup", "dup2", "dup3",
	"poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "pipe", "pipe2", "fadvise64",
	// Threads, signals of its own and time.
	"futex", "sched_yield", "sched_getaffinity", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
	"getrandom", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid",
	"uname", "sysinfo", "getrusage", "membarrier",
}

// Some calls are allowed with some arguments only. Memory is private, or shared with a file that
// can't be written: the kernel counts no other as data. A descriptor has no owner, who would
// get its signals.
func allowedWith(threads bool) []seccomp.NameWithConditions {
	const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	when := func(name string, argument uint32, operation seccomp.Operation, value uint64) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{{Argument: argument, Operation: operation, Value: value}}}
	}
	own := uint64(os.Getpid()) //nolint:gosec // not negative
	list := []seccomp.NameWithConditions{
		when("mmap", 3, seccomp.BitsNotSet, unix.MAP_GROWSDOWN|unix.MAP_SHARED),
		when("mmap", 3, seccomp.BitsNotSet, unix.MAP_GROWSDOWN|unix.MAP_ANONYMOUS),
		when("open", 1, seccomp.BitsNotSet, writing),
		when("openat", 2, seccomp.BitsNotSet, writing),
		when("prlimit64", 0, seccomp.Equal, 0),
		when("tgkill", 0, seccomp.Equal, own),
		when("prctl", 0, seccomp.Equal, unix.PR_SET_NAME),
		when("prctl", 0, seccomp.Equal, unix.PR_SET_VMA),
		when("prctl", 0, seccomp.Equal, unix.PR_SET_DUMPABLE),
	}
	for _, command := range []uint64{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL} {
		list = append(list, when("fcntl", 1, seccomp.Equal, command))
	}
	if threads {
		list = append(list, when("clone", 0, seccomp.BitsSet, unix.CLONE_THREAD))
	}
	return list
}

// filterOf returns the filter that leaves a process the allowed system calls. Every other
// fails: with "not implemented" where libc then tries an older one, and else with "not
// permitted".
func filterOf(threads bool) ([]unix.SockFilter, error) {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("confined: list the system calls: %w", err)
	}
	known := func(name string) bool { _, ok := machine.SyscallNames[name]; return ok }
	allow := seccomp.SyscallGroup{Action: seccomp.ActionAllow}
	for _, name := range allowed {
		if known(name) {
			allow.Names = append(allow.Names, name)
		}
	}
	for _, c := range allowedWith(threads) {
		if known(c.Name) {
			allow.NamesWithCondtions = append(allow.NamesWithCondtions, c)
		}
	}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
		allow,
		{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
	}}
	program, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("confined: make the filter: %w", err)
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("confined: make the filter: %w", err)
	}
	filter := make([]unix.SockFilter, 0, len(raw))
	for _, r := range raw {
		filter = append(filter, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	return filter, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// restrictCalls gives all threads of this process a filter. The runtime does not hear of the
// call: it starts a thread when one takes long, which the filter may forbid.
func restrictCalls(filter []unix.SockFilter) error {
	if len(filter) == 0 {
		return nil // Weak, and it could not be made
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}                                                                                //nolint:gosec // some hundred instructions
	thread, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))) //nolint:gosec // the call takes an address
	if errno != 0 || thread != 0 {
		return fmt.Errorf("confined: restrict system calls: thread %d: %w", thread, errno)
	}
	return nil
}
