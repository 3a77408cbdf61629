package httpapi

import (
	"os"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/fault"
)

// Every code of a fault has a status, so that none goes out as 0.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, c := range fault.Codes {
		if statusOf[c] == 0 {
			t.Errorf("%s has no HTTP status", c)
		}
	}
	if len(statusOf) != len(fault.Codes) {
		t.Errorf("%d codes have a status, but there are %d codes", len(statusOf), len(fault.Codes))
	}
}

// Every code that a caller can meet is explained where callers look.
func TestEveryCodeIsInTheReference(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range fault.Codes {
		if !strings.Contains(string(page), "`"+string(c)+"`") {
			t.Errorf("docs/reference/errors.md does not explain %s", c)
		}
	}
}
