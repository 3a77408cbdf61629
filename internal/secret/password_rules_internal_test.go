package secret

import (
	"strings"
	"testing"
)

// The embedded list is the one that README.md describes: 10,000 different entries
// in lower case.
func TestCommonListIsWhole(t *testing.T) {
	t.Parallel()

	set := common()
	if len(set) != 10_000 {
		t.Errorf("%d entries", len(set))
	}
	for w := range set {
		if w == "" || w != strings.ToLower(w) || w != strings.TrimSpace(w) {
			t.Errorf("entry %q", w)
		}
	}
	for _, w := range []string{"123456", "password", "michael", "1q2w3e4r"} {
		if _, ok := set[w]; !ok {
			t.Errorf("%q is missing", w)
		}
	}
}
