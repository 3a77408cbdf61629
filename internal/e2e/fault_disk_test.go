package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/pgtest"
)

// newDisk returns a disk of its own for PostgreSQL's data. Where none can be
// made the test is skipped, aloud, unless the whole run was asked for.
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

// without skips a test that this machine cannot run. A run that was asked for
// with its count fails instead.
func without(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("LINEPROOF_E2E_FAULTS") != "" {
		t.Fatalf("this machine cannot do it: %s", why)
	}
	t.Skipf("NOT RUN, this machine cannot do it: %s", why)
}

// onDisk returns a world whose data lies on the disk, and is there to stay.
func onDisk(t *testing.T, disk *pgtest.Disk, settings ...string) (*pgtest.Node, *world) {
	t.Helper()
	// Nothing else is on the disk, so all of it can be synced at once after a crash.
	node, w := newHurt(t, disk.Dir, append(settings, "recovery_init_sync_method = syncfs")...)
	if err := disk.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return node, w
}

// When the power of PostgreSQL's disk is cut under load, everything that was
// answered is on the disk.
func TestFaultPowerCut(t *testing.T) {
	disk := newDisk(t, 2048)
	node, w := onDisk(t, disk)
	f := newTrial(t, w, w.url)
	f.gentle = true // a server that tries again hides it, and may
	n := faults(t, 2)
	for i := range n {
		f.load()
		powerCut(t, disk, node)
		f.whole(i)
	}
	f.load()
	f.end(n)
}

// powerCut cuts the power of the disk, and of the machine with it, and brings
// both back.
func powerCut(t *testing.T, disk *pgtest.Disk, node *pgtest.Node) {
	t.Helper()
	for _, step := range []func() error{
		disk.CutPower, node.Kill, func() error { return disk.Restore(t.Context()) }, func() error { return node.Up(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is full takes nothing more and loses nothing; once there is room
// again, the service answers again.
func TestFaultDiskFull(t *testing.T) {
	disk := newDisk(t, 400)
	node, w := onDisk(t, disk, "max_wal_size = 64MB", "min_wal_size = 32MB")
	f := newTrial(t, w, w.url)
	n := faults(t, 1)
	for i := range n {
		f.load()
		if err := disk.Fill(t.Context()); err != nil {
			t.Fatal(err)
		}
		// What PostgreSQL has set aside lasts for a while. Then nothing is answered.
		f.until("the disk is full and nothing is answered", func() bool {
			before, off := f.answered.Load(), f.putOff.Load()
			<-time.After(500 * time.Millisecond)
			return f.answered.Load() == before && f.putOff.Load() > off
		})
		first := f.next()
		if err := disk.Free(); err != nil {
			t.Fatal(err)
		}
		if !node.Running() { // a server that cannot write its log ends, and whoever runs it starts it again
			if err := node.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := node.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f.back(time.Now(), first)
		f.whole(i)
	}
	f.load()
	f.end(n)
}

// A disk that takes its time makes answers slow or puts callers off. When the
// power goes while flushes are under way, nothing is lost that was answered: a
// caller whose time is up is not told that all is well.
func TestFaultSlowDisk(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		without(t, "strace is not installed")
	}
	disk := newDisk(t, 2048)
	node, w := onDisk(t, disk)
	f := newTrial(t, w, w.url)
	f.gentle = true // a server that tries again hides a power cut, and may
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
		f.whole(i)
	}
	f.load()
	f.end(n)
}

// slow makes every flush of PostgreSQL to its disk wait before it begins, for as
// long as this PostgreSQL lives.
func slow(t *testing.T, node *pgtest.Node, by time.Duration) (ended <-chan struct{}) {
	t.Helper()
	args := []string{
		"-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync",
		"-e", fmt.Sprintf("inject=fdatasync,fsync:delay_enter=%d", by.Microseconds()),
	}
	for _, pid := range must(node.Processes())(t) {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	cmd := exec.Command("strace", args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what matters is whether it watches
		close(done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		<-done
	})
	until(t, "strace watches PostgreSQL", func() bool {
		select {
		case <-done:
			without(t, "strace cannot watch PostgreSQL: "+complaints.String())
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
	return done
}
