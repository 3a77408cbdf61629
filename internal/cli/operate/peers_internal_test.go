package operate

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/server/config"
)

// Every setting that weakens a promise is reported by its name, and defaults are not.
func TestWeakSettingsAreReported(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]string{
		"": "",
		"LINEPROOF_UNVERIFIED_PEERS=database,redis": "LINEPROOF_UNVERIFIED_PEERS lists database, redis",
		"LINEPROOF_ARGON2_MEMORY_KIB=64":            "LINEPROOF_ARGON2_MEMORY_KIB",
		"LINEPROOF_ARGON2_TIME=1":                   "LINEPROOF_ARGON2_TIME",
		"LINEPROOF_STAFF_SECOND_FACTOR=false":       "LINEPROOF_STAFF_SECOND_FACTOR is false",
		"LINEPROOF_SECOND_FACTOR=false":             "LINEPROOF_SECOND_FACTOR is false",
		"LINEPROOF_SCAN_GUARD=off":                  "LINEPROOF_SCAN_GUARD is off",
		"LINEPROOF_SCAN_GUARD=watch":                "LINEPROOF_SCAN_GUARD is watch",
	} {
		cfg, err := config.Load(t.Context(), []string{environ})
		if err != nil {
			t.Fatal(err)
		}
		r := &report{}
		r.peers(cfg)
		r.protections(cfg)
		var found []string
		for _, f := range r.findings {
			if f.Verdict != passed {
				found = append(found, f.line())
			}
		}
		if text := strings.Join(found, "\n"); (want == "") != (text == "") || !strings.Contains(text, want) {
			t.Errorf("%q: %q, want %q", environ, found, want)
		}
	}
}
