package process

import (
	"os"
	"testing"
	"time"
)

// untilLimit is how long Until waits. It is long, because the machine may have other work.
const untilLimit = 90 * time.Second

// Until returns as soon as something is so. If it takes too long, the test ends; what says
// what was awaited.
func Until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(untilLimit); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("within %s it has not come true that %s", untilLimit, what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

// Goal is how long something may take whose goal holds on a quiet machine: six times as long,
// because the tests run beside each other and on shared disks. A run that has the machine for
// itself says so by LINEPROOF_E2E_ENFORCE, and is held to the goal.
func Goal(quiet time.Duration) time.Duration {
	if os.Getenv("LINEPROOF_E2E_ENFORCE") != "" {
		return quiet
	}
	return 6 * quiet
}
