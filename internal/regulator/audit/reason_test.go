package audit_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A reason has from 10 to 500 characters, on one line.
func TestReasonsHaveAMinimumLength(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]string{
		"": fault.Required, "   ": fault.Required, "because  ": fault.TooShort, "Case 12/26": "", "投诉二零二六年第十二号": "", strings.Repeat("x", 500): "",
		strings.Repeat("x", 501): fault.TooLong, "Case 12 of\n2026": fault.BadFormat,
	} {
		var wrong fault.Form
		audit.CheckReason(&wrong, "reason", reason)
		var codes []string
		for _, v := range wrong.Violations() {
			codes = append(codes, v.Code)
		}
		got := strings.Join(codes, " ")
		if got != code {
			t.Errorf("%q: %q, want %q", reason, got, code)
		}
	}
}
