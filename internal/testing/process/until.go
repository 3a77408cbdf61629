package process

import (
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
