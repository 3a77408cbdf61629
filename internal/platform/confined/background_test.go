package confined_test

import (
	"runtime"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/confined"
)

func TestBackgroundLeavesHalfOfTheProcessorsToOthers(t *testing.T) { //nolint:paralleltest // it changes the whole process
	for given, want := range map[int]int{1: 1, 2: 1, 5: 2, 8: 4} {
		before := runtime.GOMAXPROCS(given)
		if err := confined.BackgroundPriority(); err != nil {
			t.Errorf("with %d processors: %v", given, err)
		}
		if got := runtime.GOMAXPROCS(before); got != want {
			t.Errorf("with %d processors it uses %d, want %d", given, got, want)
		}
	}
}
