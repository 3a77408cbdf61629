package receipttest_test

import (
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/receipttest"
)

var update = flag.Bool("update", false, "rewrite receipt/testdata/vectors.json")

// vectors is the file to which every verifier is held, also those of others.
const vectors = "../../../receipt/testdata/vectors.json"

// vector is a row of the file: a receipt, the policy, and what it proves or why it is
// refused.
type vector struct {
	Name    string          `json:"name"`
	Text    string          `json:"text"`
	Policy  string          `json:"policy"`
	Promise bool            `json:"promise,omitempty"` // judged as a promise
	Refused string          `json:"refused,omitempty"`
	Proves  json.RawMessage `json:"proves,omitempty"`
}

// The module in JavaScript stays small enough to be read, and to be part of a page.
func TestJavaScriptIsSmall(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"verify.mjs", "promise.mjs"} {
		text, err := os.ReadFile("../../../receipt/" + name)
		if err != nil || len(text) > 10_000 {
			t.Errorf("%s has %d bytes, %v", name, len(text), err)
		}
	}
}

// Every kind of receipt, good and bad, is judged as it should be by every verifier. The
// file has them for verifiers of others.
func TestVectors(t *testing.T) {
	t.Parallel()
	var cases []receipttest.Case
	all := receipttest.Vectors()
	for _, v := range all {
		cases = append(cases, v.Case)
	}
	for language, judge := range receipttest.Judges {
		got, err := judge(t.Context(), cases)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range all {
			if want := `{"refused":"` + v.Refused + `"}`; v.Refused != "" && got[i] != want {
				t.Errorf("%s: %s: %s, want %s", language, v.Name, got[i], want)
			}
		}
		if language == "Go" {
			checkFile(t, all, got)
		}
	}
	alike(t, cases)
}

func checkFile(t *testing.T, all []receipttest.Vector, judged []string) {
	t.Helper()
	var rows []string
	for i, v := range all {
		row := vector{Name: v.Name, Text: v.Text, Policy: v.Policy, Promise: v.Promise, Refused: v.Refused}
		if len(v.Text) > 1<<19 {
			continue // what is too long needs no example
		}
		if v.Refused == "" {
			if strings.Contains(judged[i], "refused") {
				t.Errorf("%s: %s", v.Name, judged[i])
			}
			row.Proves = json.RawMessage(judged[i])
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, string(text))
	}
	fresh := "[\n" + strings.Join(rows, ",\n") + "\n]\n"
	if *update {
		if err := os.WriteFile(vectors, []byte(fresh), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(vectors); err != nil || string(kept) != fresh {
		t.Errorf("%s is not fresh; run go test ./internal/testing/receipttest -run Vectors -update (%v)", vectors, err)
	}
}

// Verifiers in every language judge good and bad receipts alike. LINEPROOF_RECEIPTS is how
// many of each.
func TestVerifiersJudgeAlike(t *testing.T) {
	t.Parallel()
	n := 100
	if text := os.Getenv("LINEPROOF_RECEIPTS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	const seed = 1
	m := receipttest.NewMaker(seed)
	var cases []receipttest.Case
	for i := range n {
		cases = append(cases, receipttest.Case{Text: m.Make(m.Any()), Policy: m.Log.Verifier()})
		if i%2 == 0 {
			cases[i].Policy = m.Policy(1 + i%3)
		}
	}
	for i := range n { // the other form, and promises
		switch i % 4 {
		case 1:
			cases[i].Text = receipttest.AsTlogProof(cases[i].Text)
		case 3:
			cases[i].Text, cases[i].Promise = m.MakePromise(m.Any()), true
		}
	}
	for i := range n {
		cases = append(cases, receipttest.Case{Promise: cases[i].Promise, Text: m.Alter(cases[i].Text, cases[(i*7+1)%n].Text), Policy: cases[i].Policy})
	}
	judged := alike(t, cases)
	refused := 0
	for i, j := range judged {
		if strings.Contains(j, `"refused"`) {
			refused++
			if i < n && j != `{"refused":"quorum"}` {
				t.Errorf("a good receipt is judged %s: %s", j, cases[i].Text)
			}
		}
	}
	if refused < n*8/10 || refused > 2*n*8/10 {
		t.Errorf("%d of %d receipts were refused; this shows little", refused, len(judged))
	}
}

// alike fails unless all verifiers judge alike, and returns what they say.
func alike(t *testing.T, cases []receipttest.Case) []string {
	t.Helper()
	want, err := receipttest.ByGo(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	for language, judge := range receipttest.Judges {
		got, err := judge(t.Context(), cases)
		if err != nil {
			t.Fatal(err)
		}
		for i := range cases {
			if got[i] != want[i] {
				t.Errorf("Go says %s\nand %s %s\nof %.3000s\nby %s", want[i], language, got[i], cases[i].Text, cases[i].Policy)
			}
		}
	}
	return want
}
