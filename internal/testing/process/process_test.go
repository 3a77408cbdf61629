package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// A server is started, frozen, thawed, killed with its children, started again in
// the same directory and stopped, and leaves nothing behind.
func TestServer(t *testing.T) {
	t.Parallel()
	dir, after := filepath.Join(t.TempDir(), "server"), filepath.Join(t.TempDir(), "after")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(dir, "ready")
	s, err := process.New(process.Spec{
		Program: "sh", Args: []string{"-c", `echo started; sleep 1000 & touch ready; wait`, after}, Dir: dir, Timeout: 10 * time.Second, StopSignal: "QUIT",
		Cleanup: `touch "$3"`, Ready: func(context.Context) error { _, err := os.Stat(ready); return err },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	var all []int
	for range 2 {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		started, err := s.Processes()
		if err != nil || len(started) != 2 || !s.Running() {
			t.Fatalf("%d processes (%v), running: %t", len(started), err, s.Running())
		}
		all = append(all, started...)
		for _, step := range []func() error{
			s.Freeze, func() error { return waitState(started[1], "T") },
			s.Thaw, func() error { return waitState(started[1], "S") },
			s.Freeze, s.Kill, func() error { return os.Remove(ready) },
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		if s.Running() || s.PID() != 0 {
			t.Error("a killed server is running")
		}
	}
	if log, err := os.ReadFile(s.LogFile()); err != nil || strings.Count(string(log), "started") != 2 {
		t.Errorf("the log: %q, %v", log, err)
	}
	for _, pid := range all {
		if err := waitState(pid, ""); err != nil {
			t.Error(err)
		}
	}
	s.Stop()
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of a stopped server: %v", err)
	}
	if _, err := os.Stat(after); err != nil {
		t.Errorf("the cleanup did not run: %v", err)
	}
	if s.Start(t.Context()) == nil || s.Freeze() == nil {
		t.Error("a stopped server was started or frozen")
	}
}

// A server that ends before it is ready fails the start at once, with its log.
func TestServerEndsBeforeItIsReady(t *testing.T) {
	t.Parallel()
	s, err := process.New(process.Spec{
		Program: "sh", Args: []string{"-c", "echo no memory; exit 3"}, Dir: t.TempDir(), Timeout: time.Hour,
		Ready: func(context.Context) error { return errors.New("not yet") },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if err := s.Start(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "it ended by itself\nno memory\n") {
		t.Errorf("the start: %v", err)
	}
}

// waitState waits until a process is in a state of proc(5); "" is for one that
// has ended.
func waitState(pid int, state string) error {
	var text []byte
	for range 5000 {
		text, _ = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if state == "" && len(text) == 0 || state != "" && strings.Contains(string(text), ") "+state+" ") {
			return nil
		}
		<-time.After(time.Millisecond)
	}
	return fmt.Errorf("process %d is not in state %q: %s", pid, state, text)
}
