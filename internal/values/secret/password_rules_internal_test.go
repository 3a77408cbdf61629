package secret

import (
	"strings"
	"testing"
)

// The embedded list is the one that README.md describes: different entries in lower
// case, most of them long enough to be chosen.
func TestCommonListIsWhole(t *testing.T) {
	t.Parallel()

	set := common()
	long := 0
	for w := range set {
		if len(w) >= 8 {
			long++
		}
	}
	if len(set) != 24_416 || long != 17_950 {
		t.Errorf("%d entries, %d of 8 characters or more", len(set), long)
	}
	for w := range set {
		if w == "" || w != strings.ToLower(w) || w != strings.TrimSpace(w) {
			t.Errorf("entry %q", w)
		}
	}
	for _, w := range []string{"123456", "password", "michael", "1q2w3e4r", "87654321vv"} {
		if _, ok := set[w]; !ok {
			t.Errorf("%q is missing", w)
		}
	}
}
