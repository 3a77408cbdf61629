package httpapi

import (
	"os"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// Every error code is explained in the reference.
func TestEveryCodeIsInTheReference(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range fault.Codes {
		if !strings.Contains(string(page), "`"+string(c)+"`") {
			t.Errorf("docs/reference/errors.md does not explain %s", c)
		}
	}
}
