package cli

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// Whoever revokes the only secret that is used locks its client out, and is asked before.
func TestRevokingTheOnlyUsedSecretIsAsked(t *testing.T) {
	t.Parallel()
	now := time.Now()
	used, other, unused := access.SecretRow{ID: uuid.New(), LastUsedAt: now}, access.SecretRow{ID: uuid.New(), LastUsedAt: now}, access.SecretRow{ID: uuid.New()}
	for name, tc := range map[string]struct {
		list []access.SecretRow
		id   uuid.UUID
		want bool
	}{
		"the only one":            {[]access.SecretRow{used}, used.ID, true},
		"beside one never used":   {[]access.SecretRow{used, unused}, used.ID, true},
		"beside another that is":  {[]access.SecretRow{used, other}, used.ID, false},
		"one that was never used": {[]access.SecretRow{used, unused}, unused.ID, false},
		"the only, never used":    {[]access.SecretRow{unused}, unused.ID, false},
		"one that is not its":     {[]access.SecretRow{used}, unused.ID, false},
		"none":                    {nil, used.ID, false},
	} {
		if got := locksOut(tc.list, tc.id); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
