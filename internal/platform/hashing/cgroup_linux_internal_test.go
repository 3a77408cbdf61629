package hashing

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The cgroup of a process is read from the line of version 2. The root is nobody's to
// divide.
func TestOwnCgroup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0::/system.slice/lineproof.service/serve\n":     "/sys/fs/cgroup/system.slice/lineproof.service/serve",
		"1:cpu:/a\n0::/system.slice/lineproof.service\n": "/sys/fs/cgroup/system.slice/lineproof.service",
		"0::/\n": "", "1:cpu:/system.slice/lineproof.service\n": "", "": "",
	} {
		dir, ok := ownCgroup(text)
		if ok != (want != "") || ok && dir != want {
			t.Errorf("ownCgroup(%q) = %q, %v, want %q", text, dir, ok, want)
		}
	}
}

// A directory in which the processor cannot be shared is left as it was found.
func TestFailedCgroupLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if delegated(dir) {
		t.Error("a directory without the mark is delegated")
	}
	if g, err := makeCgroup(dir); err == nil {
		t.Errorf("made %s", g.dir)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// In a delegated cgroup the process gets one of its own, of low weight, which is
// removed at the end. It needs root and a machine that has only version 2.
func TestProcessGetsACgroup(t *testing.T) {
	t.Parallel()
	above := filepath.Join(cgroupRoot, "lineproof-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(above, 0o755); err != nil {
		t.Skipf("cgroups cannot be made here: %v", err)
	}
	defer os.Remove(above)
	controllers, err := os.ReadFile(filepath.Join(above, "cgroup.controllers"))
	if err != nil || !strings.Contains(string(controllers), "cpu") {
		t.Skipf("no cpu controller of version 2 (%v)", err)
	}
	if err := syscall.Setxattr(above, "user.delegate", []byte("1"), 0); err != nil || !delegated(above) {
		t.Fatalf("the mark of a delegated cgroup: %v", err)
	}
	g, err := makeCgroup(above)
	if err != nil {
		t.Fatal(err)
	}
	defer g.remove()
	p := Start(t.Context(), slog.New(slog.DiscardHandler))
	defer p.Close()
	pid := p.current.Load().process.Pid
	if err := g.add(pid); err != nil {
		t.Fatal(err)
	}
	weight, err := os.ReadFile(filepath.Join(g.dir, "cpu.weight"))
	if err != nil || strings.TrimSpace(string(weight)) != cgroupWeight {
		t.Errorf("cpu.weight = %q, %v", weight, err)
	}
	where, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil || !strings.Contains(string(where), filepath.Base(g.dir)) {
		t.Errorf("the process is in %q, %v", where, err)
	}
	p.Close()
	g.remove()
	if _, err := os.Stat(g.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cgroup is left: %v", err)
	}
}
