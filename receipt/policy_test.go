package receipt_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/receipt"
)

// A line that is not a line of a policy, or names what is not there, is refused with its
// number.
func TestWrongPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"nothing":        "",
		"no log":         "quorum none\n",
		"a wrong key":    "log x\nquorum none\n",
		"unknown quorum": "quorum w\n",
		"unknown line":   "hello\n",
	} {
		if _, err := receipt.ParsePolicy(text); err == nil {
			t.Errorf("%s: it was accepted", what)
		} else if strings.Contains(text, "\n") && what != "no log" && !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
