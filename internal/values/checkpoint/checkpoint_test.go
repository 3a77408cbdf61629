package checkpoint_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// What is written is read again, also with signatures behind it.
func TestCheckpointIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	root := []byte(strings.Repeat("r", 32))
	text := checkpoint.Format("lineproof.example/log", 1000, root)
	for _, behind := range []string{"", "\n\u2014 lineproof.example/log AAAA\n"} {
		origin, tree, err := checkpoint.Parse(text + behind)
		if err != nil || origin != "lineproof.example/log" || tree.N != 1000 || string(tree.Hash[:]) != string(root) {
			t.Errorf("%q is read as %s, %v, %v", text+behind, origin, tree, err)
		}
	}
}

// Every other spelling is refused.
func TestCheckpointHasOneSpelling(t *testing.T) {
	t.Parallel()
	good := checkpoint.Format("o", 10, make([]byte, 32))
	for _, bad := range []string{
		"", "o", "o\n10\n", strings.TrimSuffix(good, "\n"), strings.Replace(good, "10", "010", 1), strings.Replace(good, "10", "+10", 1), strings.Replace(good, "10", "-1", 1),
		strings.Replace(good, "10", "ten", 1), strings.Replace(good, "AA=", "AA", 1), strings.Replace(good, "AA=", "AB=", 1), strings.Replace(good, "AAAA", "", 1), strings.Replace(good, "=\n", "=\r\n", 1),
	} {
		if _, tree, err := checkpoint.Parse(bad); err == nil {
			t.Errorf("%q is read as %v", bad, tree)
		}
	}
}
