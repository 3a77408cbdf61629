package linemodel_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

// setting returns a number from the environment, or the default.
func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// histories visits random histories until it is told to stop.
func histories(t *testing.T, visit func(r *rand.Rand, h *line.History) (goOn bool)) {
	t.Helper()
	n := 25_000
	if testing.Short() {
		n = 2_000
	}
	r := rand.New(rand.NewPCG(uint64(setting("LINEMODEL_SEED", 1)), 1))
	for range setting("LINEMODEL_HISTORIES", n) {
		if !visit(r, linemodel.RandomHistory(r, linemodel.World{Networks: 3, Events: 9})) {
			return
		}
	}
}

func TestFoldAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	differs := func(h *line.History) bool { return linemodel.Compare(h, linemodel.RandomTerms) != "" }
	sorts, n, most := map[string]int{}, 0, setting("LINEMODEL_DIFFERENCES", 1)
	histories(t, func(_ *rand.Rand, h *line.History) bool {
		if !differs(h) {
			return true
		}
		h = linemodel.Minimize(h, differs)
		if sorts[sortOf(h)]++; sorts[sortOf(h)] == 1 {
			t.Error(linemodel.Compare(h, linemodel.RandomTerms))
		}
		n++
		return n < most
	})
	if n > 1 {
		t.Error(n, "differences", sorts)
	}
}

// sortOf names the kinds of a history.
func sortOf(h *line.History) string {
	var kinds []string
	for _, e := range slices.SortedFunc(slices.Values(h.Events), func(a, b line.Event) int { return cmp.Compare(a.Effective, b.Effective) }) {
		kinds = append(kinds, e.Kind.String())
	}
	return strings.Join(kinds, " ")
}

func TestOrderOfProcessingDoesNotMatter(t *testing.T) {
	t.Parallel()
	histories(t, func(r *rand.Rand, h *line.History) bool {
		row, outcomes := line.Fold(h, linemodel.RandomTerms, line.Forever)
		other := &line.History{Base: h.Base}
		order := r.Perm(len(h.Events))
		for _, i := range order {
			other.Events = append(other.Events, h.Events[i])
		}
		otherRow, otherOutcomes := line.Fold(other, linemodel.RandomTerms, line.Forever)
		same := row == otherRow
		for to, from := range order {
			same = same && otherOutcomes[to] == outcomes[from]
		}
		if !same {
			t.Errorf("%v\n%v\n%s", linemodel.FormatRow(row), linemodel.FormatRow(otherRow), linemodel.Format(h, outcomes, outcomes))
		}
		return same
	})
}
