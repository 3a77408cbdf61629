package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/logtest"
)

// A policy that can't verify what this service signs would leave every checkpoint without a
// witness, and nobody would notice before a bank looked for one.
func TestPolicyMustBeOfOurLogAndOneOfOurKeys(t *testing.T) {
	t.Parallel()
	const origin = "log.lineproof.example/policy"
	key := logtest.NewKey(t, origin)
	next := logtest.NewKey(t, origin)
	foreign := logtest.NewKey(t, origin)
	other := logtest.NewKey(t, "log.lineproof.example/another")
	key.SignWith(next, nil)

	for _, tt := range []struct{ name, log, problem string }{
		{"our key", key.Verifier(), ""},
		{"our next key", next.Verifier(), ""},
		{"neither of our keys", foreign.Verifier(), "another key than LINEPROOF_LOG_KEY and LINEPROOF_LOG_NEXT_KEY"},
		{"another log", other.Verifier(), "another log than LINEPROOF_LOG_ORIGIN"},
		{"no key", "", "LINEPROOF_LOG_POLICY"},
	} {
		file := filepath.Join(t.TempDir(), "policy")
		text := "log " + tt.log + "\nquorum none\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		witnesses, _, err := openWitnesses(config.Config{LogOrigin: origin, LogPolicy: file}, key)
		switch {
		case tt.problem == "" && (err != nil || witnesses == nil):
			t.Errorf("%s: %v", tt.name, err)
		case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)):
			t.Errorf("%s: %v, want one with %q", tt.name, err, tt.problem)
		}
	}
}
