package httpapi

import (
	"testing"
	"time"
)

// Ten refusals of a second are logged, whoever is refused, and ten of the next.
func TestRefusalsAreLoggedTenTimesASecond(t *testing.T) {
	t.Parallel()
	var thin thinner
	now := time.Now()
	for second := range 3 {
		logged := 0
		for range 1000 {
			if !thin.skip(now.Add(time.Duration(second) * time.Second)) {
				logged++
			}
		}
		if logged != mostRefusals {
			t.Errorf("second %d: %d lines, want %d", second, logged, mostRefusals)
		}
	}
}
