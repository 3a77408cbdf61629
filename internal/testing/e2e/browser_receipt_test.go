package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// In Chromium with the network off, the page that is one file judges every kind of receipt
// as every verifier does, says what was proven, and takes at most 10 ms; so does the page
// of the portal. LINEPROOF_E2E_PICTURES names a folder for pictures.
func TestBrowserReceipts(t *testing.T) {
	w := newFixture(t, browserDatabase(t))
	_, base := startAt(t, w)
	file := filepath.Join(t.TempDir(), "verify-receipt.html")
	if err := os.WriteFile(file, must(kit.ReceiptFile(t.Context(), "Lineproof", ""))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	const atMost = 0.010
	for _, r := range browse(t, "receipt.mjs", map[string]any{
		"base": base, "file": "file://" + file, "vectors": json.RawMessage(must(os.ReadFile("../../../receipt/testdata/vectors.json"))(t)), "genuine": 100,
		"looks": looks[:size(t, "LINEPROOF_E2E_LOOKS", 2)], "pictures": os.Getenv("LINEPROOF_E2E_PICTURES"),
	}) {
		t.Log(r.Note)
		if r.Seconds > atMost {
			t.Errorf("a check takes %.1f ms, more than %.0f", 1000*r.Seconds, 1000*atMost)
		}
	}
}
