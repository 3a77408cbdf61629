package server_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A node tests its scanner and reports the result; without a scanner there is no
// such metric. The number of waiting documents is reported in any case.
func TestNodeTestsItsScanner(t *testing.T) {
	t.Parallel()
	good, blind, dead := clamtest.New(t), clamtest.New(t), clamtest.New(t)
	if err := blind.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"": "", good.TCP(): "ok", blind.Address(): "blind", dead.Address(): "away"} {
		r := start(t, pgtest.URL(t), "LINEPROOF_CLAMD_ADDR="+address)
		line := "\nlineproof_documents_waiting 0\n"
		if want != "" {
			line = "\nlineproof_scanner_test{state=\"" + want + "\"} 1\n"
		}
		var text string
		waitFor(t, func() bool {
			_, text = get(t, "http://"+r.private+"/metrics")
			return strings.Contains(text, line) && strings.Contains(text, "\nlineproof_documents_waiting_seconds 0\n")
		})
		if n := strings.Count(text, "\nlineproof_scanner_test{"); want == "" && n != 0 {
			t.Errorf("without a scanner the node reports a test of it:\n%s", text)
		}
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	}
}
