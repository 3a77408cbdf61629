package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// newDisk returns a disk of its own for PostgreSQL's data. If none can be
// created, the test is skipped with a message, unless the full run was requested.
func newDisk(t *testing.T, megabytes int64) *pgtest.Disk {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	if os.Getuid() != 0 {
		without(t, "only root can mount a disk")
	}
	disk, err := pgtest.NewDisk(context.Background(), megabytes<<20)
	if err != nil {
		without(t, err.Error())
	}
	t.Cleanup(disk.Close)
	return disk
}

// without skips a test that this machine cannot run. A run that was requested with
// its size fails instead.
func without(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("LINEPROOF_E2E_FAULTS") != "" {
		t.Fatalf("this machine cannot do it: %s", why)
	}
	t.Skipf("NOT RUN, this machine cannot do it: %s", why)
}

// onDisk returns a fixture whose data is on the disk, flushed.
func onDisk(t *testing.T, disk *pgtest.Disk, settings ...string) (*pgtest.Node, *fixture) {
	t.Helper()
	// Nothing else is on the disk, so all of it can be synced at once after a crash.
	node, w := newFaultNode(t, disk.Dir, append(settings, "recovery_init_sync_method = syncfs")...)
	if err := disk.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return node, w
}

// When the power of PostgreSQL's disk is cut under load, every acknowledged answer
// is on the disk.
func TestFaultPowerCut(t *testing.T) {
	disk := newDisk(t, 2048)
	node, w := onDisk(t, disk)
	f := newFaultRun(t, w, w.url)
	f.mayPassUnnoticed = true // a server that retries hides it, which is allowed
	n := faults(t, 2)
	for i := range n {
		f.load()
		powerCut(t, disk, node)
		f.checkRecords(i)
	}
	f.load()
	f.end(n)
}

// powerCut cuts the power of the disk, and of the machine with it, and brings
// both back.
func powerCut(t *testing.T, disk *pgtest.Disk, node *pgtest.Node) {
	t.Helper()
	for _, step := range []func() error{
		disk.CutPower, node.Kill, func() error { return disk.Restore(t.Context()) }, func() error { return node.Start(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// A full disk loses nothing; once there is free space again, the service answers
// again.
func TestFaultDiskFull(t *testing.T) {
	disk := newDisk(t, 400)
	node, w := onDisk(t, disk, "max_wal_size = 64MB", "min_wal_size = 32MB")
	f := newFaultRun(t, w, w.url)
	n := faults(t, 1)
	for i := range n {
		f.load()
		if err := disk.Fill(t.Context()); err != nil {
			t.Fatal(err)
		}
		// PostgreSQL's preallocated files last for a while. Then nothing is answered.
		f.until("the disk is full and nothing is answered", func() bool {
			before, off := f.answered.Load(), f.putOff.Load()
			<-time.After(500 * time.Millisecond)
			return f.answered.Load() == before && f.putOff.Load() > off
		})
		first := f.next()
		if err := disk.Free(); err != nil {
			t.Fatal(err)
		}
		if !node.Running() { // a server that cannot write its WAL ends, and its supervisor restarts it
			if err := node.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := node.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f.back(time.Now(), first)
		f.checkRecords(i)
	}
	f.load()
	f.end(n)
}

// A slow disk makes answers slow or leads to 503. When the power is cut during a
// flush, no acknowledged answer is lost: a request that timed out is not
// acknowledged.
func TestFaultSlowDisk(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		without(t, "strace is not installed")
	}
	disk := newDisk(t, 2048)
	node, w := onDisk(t, disk)
	f := newFaultRun(t, w, w.url)
	f.mayPassUnnoticed = true // a server that retries hides a power cut, which is allowed
	n, long := faults(t, 1), time.Duration(size(t, "LINEPROOF_E2E_SLOW_SECONDS", 2))*time.Second
	for i := range n {
		f.load()
		wait := 100*time.Millisecond + rand.N(1400*time.Millisecond)
		ended := slow(t, node, wait)
		answered, off := f.answered.Load(), f.putOff.Load() // before, the disk was fast
		<-time.After(long)
		got := f.answered.Load() - answered
		t.Logf("with %s for each flush: %d answered and %d put off in %s", wait.Round(time.Millisecond), got, f.putOff.Load()-off, long)
		if most := int64(f.callers) * int64(long/wait+2); got > most {
			t.Errorf("the disk was not slow, so this proves nothing: each flush answers every caller at most once, which makes %d", most)
		}
		powerCut(t, disk, node)
		<-ended
		f.checkRecords(i)
	}
	f.load()
	f.end(n)
}

// slow delays every flush of PostgreSQL to its disk, until PostgreSQL ends.
func slow(t *testing.T, node *pgtest.Node, by time.Duration) (ended <-chan struct{}) {
	t.Helper()
	args := []string{
		"-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync",
		"-e", fmt.Sprintf("inject=fdatasync,fsync:delay_enter=%d", by.Microseconds()),
	}
	for _, pid := range must(node.Processes())(t) {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	log := must(os.Create(filepath.Join(t.TempDir(), "strace.log")))(t)
	strace := must(process.Run(exec.Command("strace", args...), log))(t)
	t.Cleanup(func() {
		_ = strace.Signal(os.Interrupt) // it may have ended
		<-strace.Ended()
		_ = log.Close()
	})
	process.Until(t, "strace watches PostgreSQL", func() bool {
		select {
		case <-strace.Ended():
			without(t, "strace cannot watch PostgreSQL: "+string(must(os.ReadFile(log.Name()))(t)))
		default:
		}
		for _, pid := range must(node.Processes())(t) {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err == nil && strings.Contains(string(status), "TracerPid:\t0\n") {
				return false
			}
		}
		return true
	})
	return strace.Ended()
}
