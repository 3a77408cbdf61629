package server_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/clamtest"
	"github.com/lineproof/lineproof/internal/pgtest"
)

// A node tests its scanner and says how that ended; where there is none it says
// nothing about one. How many documents wait it says in any case.
func TestNodeTestsItsScanner(t *testing.T) {
	t.Parallel()
	good, blind, dead := clamtest.New(t), clamtest.New(t), clamtest.New(t)
	if err := blind.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead.Kill()
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
			t.Errorf("there is no scanner, and the node has tested it:\n%s", text)
		}
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	}
}
