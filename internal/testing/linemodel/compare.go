package linemodel

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
)

// Compare returns how the code (+) differs from the model (-), at the end and at every instant of a history.
func Compare(h *line.History, terms line.TermsAt) (diff string) {
	untils := []line.Instant{line.Forever}
	for _, e := range h.Events {
		untils = append(untils, e.Effective, e.Effective-1)
	}
	for _, until := range untils {
		want, wantOutcomes := Model(h, terms, until)
		got, gotOutcomes := line.Fold(h, terms, until)
		if want != got || !slices.Equal(wantOutcomes, gotOutcomes) {
			return fmt.Sprintf("until %s the code (+) differs from the model (-):\n%s\n%s", at(until),
				cmp.Diff(FormatRow(want), FormatRow(got)), Format(h, wantOutcomes, gotOutcomes))
		}
	}
	return ""
}
