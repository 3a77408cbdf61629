package receipts_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/receipts"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/merkle"
	"github.com/lineproof/lineproof/internal/promise"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/testing/logtest"
)

const origin = "lineproof.example/log/0/2027"

// A promise is shown with what it promises, and neither words nor exit code take it for a
// proof; one of another log is refused.
func TestVerifySaysThatAPromiseIsNotYetProven(t *testing.T) {
	t.Parallel()
	key := logtest.NewKey(t, origin)
	signer, err := promise.New(t.Context(), key, time.Now(), func(context.Context, string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Millisecond)
	e := record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Status: "SWAPPED", Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567},
	}
	hash := e.Hash()
	b := &journal.Sealed{Epoch: 1, N: 1, At: at, Entries: []record.Entry{e}, Tree: merkle.NewLevels(1, func(int) []byte { return hash[:] })}
	file := filepath.Join(t.TempDir(), "receipt.json")
	if err := os.WriteFile(file, promise.Receipt{Batch: signer.Sign(b)}.Append("", nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for verifier, want := range map[string][]string{
		key.Verifier():                          {"NOT YET", "SWAPPED", "+2348031234567", origin, "will have it by"},
		logtest.NewKey(t, origin).Verifier():    {"NO", "not signed"},
		logtest.NewKey(t, "other/x").Verifier(): {"NO", "not signed"},
	} {
		var out bytes.Buffer
		con := console.New(console.Env{Args: []string{"verify", file, "--verifier", verifier}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
		_, err := con.Execute(t.Context(), receipts.Command(con))
		if !errors.Is(err, console.ErrProblems) {
			t.Errorf("it ends with %v", err)
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("it does not say %q: %s", text, out.String())
			}
		}
	}
}
