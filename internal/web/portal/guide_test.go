package portal_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/line"
)

// Everybody can read the advice for every status, and only NORMAL is allowed.
func TestEveryStatusHasAdvice(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, role := range []string{"nobody", "member", "auditor"} {
		res := s.get(t, "/portal/guide/answers", s.as(t, role).session)
		wantPage(t, res, http.StatusOK, "Never silently allow", "503")
		body := res.Body.String()
		for _, status := range line.Statuses {
			_, row, ok := strings.Cut(body, `id="answer-`+string(status)+`"`)
			row, _, _ = strings.Cut(row, "</tr>")
			if !ok || strings.Contains(row, "Allow") != (status == line.Normal) {
				t.Errorf("as %s: the advice on %s is %q", role, status, row)
			}
		}
	}
}
