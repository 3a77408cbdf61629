package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// cpuGroups is where groups of processes with a share of the CPU are made
// (version 1 of the kernel's control groups).
const cpuGroups = "/sys/fs/cgroup/cpu"

// quota limits processes to a share of one core, so that the load generator has the
// rest and can really offer more than their capacity.
type quota struct {
	t     *testing.T
	group string // empty without control groups: then they share one core, at low priority
}

// newQuota makes a quota of so many hundredths of a core. It applies to
// short periods, because in a long one all requests would wait for its end; the
// kernel's minimum is a millisecond.
func newQuota(t *testing.T, whose string, percent int) *quota {
	t.Helper()
	q := &quota{t: t}
	period := max(5000, 1000*100/percent) // microseconds
	group := filepath.Join(cpuGroups, fmt.Sprintf("lineproof-%s-%d", whose, os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Logf("no group with a quota can be made (%v): the %s is on the first core with nice 19 instead, and the figures depend on what else runs there", err, whose)
		return q
	}
	// Only an empty group can be removed: its processes must have ended by then.
	t.Cleanup(must(process.AtExit(`for try in 1 2 3 4 5 6 7 8 9; do rmdir "$0" && exit; sleep 0.2; done`, group))(t))
	err := errors.Join(os.WriteFile(filepath.Join(group, "cpu.cfs_period_us"), []byte(strconv.Itoa(period)), 0o600),
		os.WriteFile(filepath.Join(group, "cpu.cfs_quota_us"), []byte(strconv.Itoa(period*percent/100)), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	q.group = group
	return q
}

// add puts processes under the quota, and what they start.
func (q *quota) add(pids ...int) {
	q.t.Helper()
	for _, pid := range pids {
		number := strconv.Itoa(pid)
		if q.group != "" {
			if err := os.WriteFile(filepath.Join(q.group, "cgroup.procs"), []byte(number), 0o600); err != nil {
				q.t.Fatal(err)
			}
			continue
		}
		for _, args := range [][]string{{"taskset", "-a", "-c", "-p", "0", number}, {"renice", "-n", "19", "-p", number}} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				q.t.Fatalf("%s: %v\n%s", args[0], err, out)
			}
		}
	}
}

// memory returns how much memory a process has in use.
func memory(pid int) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0 // it has ended
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
