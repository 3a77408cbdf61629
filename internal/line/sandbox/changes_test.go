package sandbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/sandbox"
)

// A test clock that is moved over an announced churn date tells that it was reached, once.
func TestChangesHaveTheAnnouncedChurnDate(t *testing.T) {
	t.Parallel()

	s := sandbox.NewSimulator("NG")
	now := time.Now()
	due := func(from, to int) (n int) {
		day := 24 * time.Hour
		m := sandbox.Move{Before: sandbox.Clock{Start: now, Ahead: time.Duration(from) * day}, After: sandbox.Clock{Start: now, Ahead: time.Duration(to) * day}, Now: now}
		for _, c := range s.Changes(m, defaults()) {
			if c.FellDue && c.Before.State == line.StateNoticed {
				n++
			}
		}
		return n
	}
	got := []int{due(230, 240), due(230, 232), due(238, 260)}
	if !slices.Equal(got, []int{1, 0, 0}) {
		t.Errorf("announced churns that were reached: %v, want 1, 0, 0", got)
	}
}
