package linemodel_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

var world = linemodel.World{Networks: 3, Events: 9}

// setting returns a number from the environment, or the default.
func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

func histories() int {
	if testing.Short() {
		return setting("LINEMODEL_HISTORIES", 2_000)
	}
	return setting("LINEMODEL_HISTORIES", 25_000)
}

func random(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(setting("LINEMODEL_SEED", 1)), stream))
}

func differs(h *line.History) bool {
	diff, _ := linemodel.Compare(h, linemodel.RandomTerms)
	return diff != ""
}

// TestFoldAgreesWithTheModel stops at the first difference. With
// LINEMODEL_DIFFERENCES it goes on to that many, and shows one of each sort.
func TestFoldAgreesWithTheModel(t *testing.T) {
	t.Parallel()
	r := random(2)
	circles, n := 0, histories()
	left, sorts := setting("LINEMODEL_DIFFERENCES", 1), map[string]bool{}
	for range n {
		h := linemodel.RandomHistory(r, world)
		diff, circular := linemodel.Compare(h, linemodel.RandomTerms)
		if circular {
			circles++
		}
		if diff == "" {
			continue
		}
		h = linemodel.Minimize(h, differs)
		diff, _ = linemodel.Compare(h, linemodel.RandomTerms)
		if sort := sortOf(h, diff); !sorts[sort] {
			sorts[sort] = true
			t.Errorf("%shistory:\n%s\n", diff, linemodel.Format(h, nil, nil))
		}
		if left--; left == 0 {
			return
		}
	}
	t.Logf("%d of %d histories are circular", circles, n)
	if circles > n/200 {
		t.Error("too many histories are circular")
	}
}

// sortOf names a difference by what differs and by the kinds of event that cause it.
func sortOf(h *line.History, diff string) string {
	var words []string
	for l := range strings.Lines(diff) {
		_, outcomes, marked := strings.Cut(l, "<<<")
		if fields := strings.Fields(l); !marked && len(fields) > 1 && (fields[0] == "-" || fields[0] == "+") {
			words = append(words, fields[0]+fields[1])
		}
		words = append(words, outcomes)
	}
	for _, e := range h.Events {
		words = append(words, e.Kind.String())
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestOrderOfProcessingDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := random(3)
	for range histories() / 4 {
		h := linemodel.RandomHistory(r, world)
		row, outcomes := line.Fold(h, linemodel.RandomTerms, line.Forever)
		mixed := &line.History{Base: h.Base, Events: make([]line.Event, len(h.Events))}
		wanted := make([]line.Outcome, len(h.Events))
		for to, from := range r.Perm(len(h.Events)) {
			mixed.Events[to], wanted[to] = h.Events[from], outcomes[from]
		}
		again, got := line.Fold(mixed, linemodel.RandomTerms, line.Forever)
		if diff := cmp.Diff(row, again); diff != "" || !slices.Equal(got, wanted) {
			t.Fatalf("the row depends on the order of processing (-in order +mixed):\n%shistory:\n%s", diff, linemodel.Format(mixed, wanted, got))
		}
	}
}
