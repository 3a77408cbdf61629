package linemodel

import (
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
)

// Compare returns in what the fold (+) of a history differs from the model (-).
//
// A history is circular when the effects of its reports depend on each other in a
// circle, so that the rules have no result or more than one. Then there is no difference
// if the model has no result, or also has the one that the fold found.
func Compare(h *line.History, terms line.TermsAt) (diff string, circular bool) {
	got, outcomes := line.Fold(h, terms, line.Forever)
	want, wanted, settled := Settle(h, terms)
	same := func() bool { return want == got && slices.Equal(wanted, outcomes) }
	if !settled {
		return "", true
	}
	if same() {
		return "", false
	}
	first, firstWanted := want, wanted
	for _, lateEnd := range []bool{false, true} {
		if want, wanted, settled = SettleFrom(outcomes, lateEnd, h, terms); settled && same() {
			return "", true
		}
	}
	if first != got {
		diff = "the row differs from the model:\n" + cmp.Diff(FormatRow(first), FormatRow(got))
	}
	if !slices.Equal(firstWanted, outcomes) {
		diff += "the outcomes differ from the model:\n" + Format(h, firstWanted, outcomes) + "\n"
	}
	return diff, false
}
