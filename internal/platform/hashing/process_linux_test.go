package hashing_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/hashing"
)

// orphanSwitch makes this program a parent that is going to be killed.
const orphanSwitch = "HASHING_TEST_PARENT"

// haveAProcess starts a process, keeps it busy, and writes its id.
func haveAProcess() {
	p := hashing.Start(context.Background(), slog.New(slog.DiscardHandler))
	if os.Getenv(orphanSwitch) == "busy" {
		go func() { _, _ = p.Derive(derivation("password", endless)) }()
	}
	fmt.Fprintln(os.Stdout, p.PID())
	select {}
}

// statFields returns the fields of /proc/PID/stat behind the name of the program.
func statFields(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
}

// cpuTicks returns the processor time of a process in clock ticks.
func cpuTicks(t *testing.T, pid int) int {
	t.Helper()
	n, err := strconv.Atoi(statFields(t, pid)[11])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Every thread of the process has a low priority, also after it has worked, and this
// process keeps its own. The process is in a session of its own.
func TestPriorityIsLow(t *testing.T) {
	t.Parallel()
	p := start(t)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			_, _ = p.Derive(derivation("password", low))
		}()
	}
	for range 8 {
		<-done
	}
	reversed, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	own := 20 - reversed
	if least, most := niceOf(t, os.Getpid()); err != nil || least != own || most != own {
		t.Errorf("the threads of the parent have a niceness of %d to %d (%v)", least, most, err)
	}
	want := max(own, 10)
	if least, most := niceOf(t, p.PID()); least != want || most != want {
		t.Errorf("the threads of the process have a niceness of %d to %d, want %d", least, most, want)
	}
	if session := statFields(t, p.PID())[3]; session != strconv.Itoa(p.PID()) {
		t.Errorf("the process is in session %s, want one of its own", session)
	}
}

// niceOf returns the lowest and highest niceness of the threads of a process.
func niceOf(t *testing.T, pid int) (least, most int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	least, most = 99, -99
	for _, path := range threads {
		id, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		reversed, err := syscall.Getpriority(syscall.PRIO_PROCESS, id)
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		least, most = min(least, 20-reversed), max(most, 20-reversed)
	}
	return least, most
}

// The process ends when its parent is killed, whether it works or waits.
func TestNoProcessOutlivesItsParent(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"busy", "idle"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			parent := exec.CommandContext(t.Context(), "/proc/self/exe")
			parent.Env = []string{orphanSwitch + "=" + state}
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			text, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil || pid == 0 || syscall.Kill(pid, 0) != nil {
				t.Fatalf("the parent has no process: %q, %v", text, err)
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait()
			eventually(t, "the end of the process", func() bool { return hasEnded(pid) })
		})
	}
}

// hasEnded reports whether a process has ended, even if nobody has waited for it.
func hasEnded(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

// The process gets neither the environment of its parent nor a password in its
// arguments, and its signals do not reach it: the server decides when it ends.
func TestProcessSeesNothingOfItsParent(t *testing.T) {
	t.Setenv("LINEPROOF_TEST_SECRET", "hunter2")
	p := start(t)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID()))
	if err == nil && strings.Contains(string(environ), "LINEPROOF") {
		t.Errorf("its environment is %q", environ)
	}
	if _, err := p.Derive(derivation("correct horse", low)); err != nil {
		t.Fatal(err)
	}
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID()))
	if err != nil || strings.Contains(string(arguments), "horse") {
		t.Errorf("its arguments are %q, %v", arguments, err)
	}
	pid := p.PID()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Derive(derivation("password", low)); err != nil || p.PID() != pid {
		t.Errorf("after the signals: %v in process %d, was %d", err, p.PID(), pid)
	}
}
