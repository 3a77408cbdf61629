package evidence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/evidence"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/receipttest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

const origin = "lineproof.example/log/0/2027"

// A promise is shown with what it promises, and neither words nor exit code take it for a
// proof; one of another log is refused.
func TestVerifySaysThatAPromiseIsNotYetProven(t *testing.T) {
	t.Parallel()
	key := logtest.NewKey(t, origin)
	signer, err := logreceipt.NewSigner(t.Context(), key, time.Now(), func(context.Context, string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Millisecond)
	e := record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Status: "SWAPPED", Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567},
	}
	hash := e.Hash()
	b := &journal.Prepared{Epoch: 1, N: 1, At: at, Entries: []record.Entry{e}, Tree: merkle.NewLevels(1, func(int) []byte { return hash[:] })}
	file := filepath.Join(t.TempDir(), "receipt.json")
	if err := os.WriteFile(file, logreceipt.Promise{Batch: signer.Sign(b)}.Append("", nil), 0o600); err != nil {
		t.Fatal(err)
	}
	for verifier, want := range map[string][]string{
		key.Verifier():                          {"NOT YET", "SWAPPED", "+2348031234567", origin, "will have it by"},
		logtest.NewKey(t, origin).Verifier():    {"NO", "not signed"},
		logtest.NewKey(t, "other/x").Verifier(): {"NO", "not signed"},
	} {
		out, err := verified(t, file, "--verifier", verifier)
		if !errors.Is(err, console.ErrProblems) {
			t.Errorf("it ends with %v", err)
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("it does not say %q: %s", text, out)
			}
		}
	}
}

// verified verifies a file and returns what is printed.
func verified(t *testing.T, file string, flags ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	con := console.New(console.Env{Args: append([]string{"verify", file}, flags...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
	_, err := con.Execute(t.Context(), evidence.ReceiptCommand(con))
	return out.String(), err
}

// asked are receipts of a test, of a live request and of one that was erased, as proofs and as promises.
func asked(m *receipttest.Maker) map[string]receipttest.Case {
	live := receipttest.Plan{Count: 3, Index: 1, Size: 9, Entry: 4, Witnesses: []int{0, 1}}
	erased := live
	erased.Erased = true
	all := map[string]receipttest.Case{}
	for name, plan := range map[string]receipttest.Plan{"test": receipttest.WithATestKey, "live": live, "erased": erased} {
		all[name] = receipttest.Case{Text: m.Make(plan), Policy: m.Policy(1)}
		if name == "test" {
			all[name] = receipttest.Case{Text: m.Make(plan), Policy: m.Log.Verifier()}
		}
		all["promise, "+name] = receipttest.Case{Text: m.MakePromise(plan), Policy: m.Log.Verifier(), Promise: true}
	}
	return all
}

// verifiedCase verifies a receipt by its policy.
func verifiedCase(t *testing.T, c receipttest.Case, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"receipt.json": c.Text, "policy.txt": c.Policy} {
		if name == "policy.txt" && !strings.Contains(text, "quorum") {
			text = "log " + text + "\nquorum none\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := verified(t, filepath.Join(dir, "receipt.json"), append(flags, "--policy", filepath.Join(dir, "policy.txt"))...)
	if err != nil && (!c.Promise || !errors.Is(err, console.ErrProblems)) {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// A test is called one before anything else is said of the answer, and so is what was asked: an answer "yes" to a question
// whose beginning nobody knows proves little.
func TestVerifySaysWhatWasAskedAndThatItWasATest(t *testing.T) {
	t.Parallel()
	for name, c := range asked(receipttest.NewMaker(3)) {
		out := verifiedCase(t, c)
		isTest := strings.HasSuffix(name, "test")
		if says := strings.Contains(out, "This was a test"); says != isTest || says && strings.Index(out, "This was a test") > strings.Index(out, "answer") {
			t.Errorf("%s: it says that it was a test: %t\n%s", name, says, out)
		}
		want := []string{"payment: fraud desk"}
		if isTest {
			want = append(want, "2026-09-01T00:00:00Z", "loan 4711", "0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f41")
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%s: it does not say %q:\n%s", name, text, out)
			}
		}
	}
}

// With --json a receipt proves the same facts by the same names as with the verifiers in JavaScript and Python.
func TestEveryVerifierSaysTheSameFacts(t *testing.T) {
	t.Parallel()
	for name, c := range asked(receipttest.NewMaker(3)) {
		var said struct{ Proven, Promised map[string]any }
		if err := json.NewDecoder(strings.NewReader(verifiedCase(t, c, "--json"))).Decode(&said); err != nil {
			t.Fatal(err)
		}
		facts := said.Proven
		if c.Promise {
			facts = said.Promised
		}
		for language, judge := range receipttest.Judges {
			judged, err := judge(t.Context(), []receipttest.Case{c})
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(judged[0]), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(facts, want) {
				t.Errorf("%s: the command says %v\nand %s %v", name, facts, language, want)
			}
		}
	}
}
