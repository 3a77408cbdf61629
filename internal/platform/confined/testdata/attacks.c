// What a program that a file has taken over tries with calls that Go has no functions for.
// Its arguments are the id of the service and a directory of the service.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// What of an attempt the system refused; anything else means that the call was made.
static int refused(int e) { return e == EPERM || e == EACCES || e == ENOSYS || e == ENOMEM || e == ENODEV || e == EAGAIN; }

static void say(const char *name, long result) {
	int e = errno;
	printf("%s\t%s\n", name, result == -1 && refused(e) ? strerror(e) : "done");
	fflush(stdout);
}

static void *idle(void *x) { return x; }
static int thread(void) {
	pthread_t t;
	errno = pthread_create(&t, NULL, idle, NULL);
	return errno ? -1 : pthread_join(t, NULL);
}

static int map(size_t size, int rights, int how, int fd) {
	char *p = mmap(NULL, size, rights, how, fd, 0);
	if (p == MAP_FAILED) return -1;
	if (rights & PROT_WRITE) p[0] = 'X';
	return munmap(p, size);
}

// A shared mapping that is read only until it is made writable.
static int rewrite(int fd) {
	char *p = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || mprotect(p, 1, PROT_READ | PROT_WRITE)) return -1;
	p[0] = 'X';
	return 0;
}

static jmp_buf back;
static void caught(int s) { siglongjmp(back, s); }
static long i386(void) {
	long r = -1;
	errno = ENOSYS;
#ifdef __x86_64__
	signal(SIGSEGV, caught);
	if (sigsetjmp(back, 1)) return errno = ENOSYS, -1; // the kernel does not have it
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20 /* getpid */) : "memory", "r8", "r9", "r10", "r11");
	if (r < 0) errno = -r, r = -1;
#endif
	return r;
}

int main(int n, char **argv) {
	pid_t service = atoi(argv[1]);
	char path[4096], one[1];
	int pair[2] = {-1, -1};
	siginfo_t info = {.si_code = -60};
	struct iovec here = {one, 1}, there = {(void *)4096, 1};
	struct { unsigned bytes; int type; char handle[128]; } handle = {128, 0, {0}};

	int left = read(50, one, 1);
	if (left == -1 && errno == EBADF) errno = EACCES;
	say("read a file that the service has open", left);
	left = write(51, "x", 1);
	if (left == -1 && errno == EBADF) errno = EACCES;
	say("write a file that the service has open", left);
	say("write the input", map(1, PROT_READ | PROT_WRITE, MAP_SHARED, 0));
	say("write the input later", rewrite(0));
	say("start a thread", thread());
	say("share memory with no limit", map(4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1));
	say("reserve 8 GiB of addresses", map(8ul << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
	say("grow another stack", map(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1));
	if (pipe(pair)) perror("pipe");
	say("let a pipe signal the service", fcntl(pair[0], F_SETOWN, service));
	say("choose the signal of a pipe", fcntl(pair[0], F_SETSIG, SIGKILL));
	say("enlarge a pipe", fcntl(pair[0], F_SETPIPE_SZ, 1 << 20));
	say("call by the i386 table", i386());
	say("call by the x32 table", syscall(0x40000000 + 39));
	say("start a process by clone3", syscall(SYS_clone3, NULL, 0));
	say("run a file by its descriptor", syscall(SYS_execveat, -1, "/nonexistent", NULL, NULL, 0));
	say("get a handle of a file", syscall(SYS_name_to_handle_at, AT_FDCWD, "/etc/passwd", &handle, &left, 0));
	say("open by openat2", syscall(SYS_openat2, AT_FDCWD, "/etc/ld.so.cache", NULL, 0));
	say("open a tree of mounts", syscall(SYS_open_tree, AT_FDCWD, "/", 0));
	say("be traced", ptrace(PTRACE_TRACEME, 0, 0, 0));
	say("write into the service", process_vm_writev(service, &here, 1, &there, 1, 0));
	say("kill the service", syscall(SYS_kill, service, 0));
	say("kill a thread of the service", syscall(SYS_tkill, service, 0));
	say("kill a thread of the service by its group", syscall(SYS_tgkill, service, service, 0));
	say("queue a signal for the service", syscall(SYS_rt_sigqueueinfo, service, 0, &info));
	say("signal by a handle", syscall(SYS_pidfd_send_signal, -1, 0, NULL, 0));
	say("slow the service down", setpriority(PRIO_PROCESS, service, 19));
	say("slow the reads of the service", syscall(SYS_ioprio_set, 1, service, 3 << 13));
	say("move the memory of the service", syscall(SYS_migrate_pages, service, 0, NULL, NULL));
	say("bind the service to a processor", syscall(SYS_sched_setaffinity, service, 0, NULL));
	say("get the limits of the service", syscall(SYS_prlimit64, service, RLIMIT_CORE, NULL, NULL));
	say("handle faults by userfaultfd", syscall(SYS_userfaultfd, 1));
	say("send a queue of messages", msgget(IPC_PRIVATE, 0600));
	say("make a semaphore", semget(IPC_PRIVATE, 1, 0600));
	say("open a queue of messages", syscall(SYS_mq_open, "lineproof-attack", O_RDONLY, 0, NULL));
	say("type on the terminal", ioctl(0, TIOCSTI, "x"));
	say("copy between files", syscall(SYS_copy_file_range, -1, NULL, -1, NULL, 1, 0));
	say("splice", syscall(SYS_splice, -1, NULL, -1, NULL, 1, 0));
	say("change its personality", syscall(SYS_personality, 0xffffffff));
	say("watch a file system", syscall(SYS_fanotify_mark, -1, 0, 0, -1, NULL));
	snprintf(path, sizeof path, "/dev/shm/lineproof-attack-%d", getpid());
	say("make shared memory", open(path, O_CREAT | O_RDWR, 0600));
	unlink(path);
	snprintf(path, sizeof path, "%s/open", argv[2]);
	say("make a file without a name", open(path, O_TMPFILE | O_RDWR, 0600));
	say("list what others share", open("/usr/share", O_RDONLY | O_DIRECTORY));
	say("change its directory", chdir(path));
	say("listen for changes of a directory", fcntl(open("/usr/lib", O_RDONLY), F_NOTIFY, 0));
	printf("the end of calls\tdone\n");
	return 0;
}
