package web_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/web"
)

// A sampler lets ten lines of each second through, whoever is refused.
func TestSamplerLetsTenLinesASecondThrough(t *testing.T) {
	t.Parallel()
	var s web.LogSampler
	now := time.Now()
	for second := range 3 {
		logged := 0
		for range 1000 {
			if !s.Skip(now.Add(time.Duration(second) * time.Second)) {
				logged++
			}
		}
		if logged != web.LinesPerSecond {
			t.Errorf("second %d: %d lines, want %d", second, logged, web.LinesPerSecond)
		}
	}
}
