package policy_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// midday returns the UTC offset of a policy's zone on a day in June, in hours.
func midday(p policy.Policy) float64 {
	_, offset := noon.In(p.Zone()).Zone()
	return float64(offset) / 3600
}

// The zone is that of the policy's time zone, and UTC where there is none. It is
// loaded once.
func TestZone(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of the whole process
	p := policy.Defaults()
	if got := midday(p); got != 1 {
		t.Errorf("the default zone is %v hours ahead of UTC; want 1, as in Lagos", got)
	}
	if p != policy.Defaults() {
		t.Error("two equal policies differ")
	}
	if n := testing.AllocsPerRun(100, func() { p.Zone() }); n != 0 {
		t.Errorf("each call allocates %v times: is the zone loaded again?", n)
	}
	p.TimeZone = "Asia/Kolkata"
	if got := midday(p); got != 5.5 {
		t.Errorf("after a change the zone is %v hours ahead of UTC; want 5.5, as in India", got)
	}
	if zone := (policy.Policy{}).Zone(); zone != time.UTC {
		t.Errorf("the zone of the zero policy is %v", zone)
	}
}

// A machine needs no zone files: here a process that cannot open any file loads a
// zone.
func TestZoneNeedsNoFiles(t *testing.T) {
	t.Parallel()
	const inChild = "LINEPROOF_TEST_NO_FILES"
	if os.Getenv(inChild) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestZoneNeedsNoFiles$", "-test.v")
		cmd.Env = append(os.Environ(), inChild+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir("/"); !errors.Is(err, syscall.EMFILE) {
		t.Fatalf("this process can still open files: %v", err)
	}
	if got := midday(policy.Defaults()); got != 1 {
		t.Errorf("the default zone is %v hours ahead of UTC; want 1, as in Lagos", got)
	}
}
