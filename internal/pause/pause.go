// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for a duration, or until ctx ends.
func For(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
