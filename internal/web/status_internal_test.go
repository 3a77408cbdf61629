package web

import (
	"testing"

	"github.com/lineproof/lineproof/internal/fault"
)

// Every fault code has a status, so that no response has the status 0.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, c := range fault.Codes {
		if Status(c) < 400 {
			t.Errorf("%s has the HTTP status %d", c, Status(c))
		}
	}
	if len(statuses) != len(fault.Codes) {
		t.Errorf("%d codes have a status, but there are %d codes", len(statuses), len(fault.Codes))
	}
}
