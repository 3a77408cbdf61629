package receipttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lineproof/lineproof/receipt"
)

// Case is a receipt with the policy by which it is judged.
type Case struct {
	Text    string `json:"text"`
	Policy  string `json:"policy"`
	Promise bool   `json:"promise,omitempty"` // it is judged as a promise, and not as a proof
}

// codes are the words for the ways in which a receipt can be wrong.
var codes = map[error]string{
	receipt.ErrFormat: "format", receipt.ErrNotYet: "promise", receipt.ErrRecord: "record", receipt.ErrBatch: "batch", receipt.ErrProof: "proof",
	receipt.ErrCheckpoint: "checkpoint", receipt.ErrQuorum: "quorum", receipt.ErrLog: "log", receipt.ErrPromise: "unpromised",
}

// ByGo judges receipts with package receipt: for each the facts that it proves, as JSON,
// or {"refused": why}.
func ByGo(_ context.Context, cases []Case) ([]string, error) {
	all := make([]string, len(cases))
	for i, c := range cases {
		proven, err := byGo(c)
		if err != nil {
			proven = map[string]any{"refused": codeOf(err)}
		}
		text, err := json.Marshal(proven)
		if err != nil {
			return nil, err
		}
		all[i] = string(text)
	}
	return all, nil
}

func byGo(c Case) (proven any, err error) {
	var p *receipt.Policy
	if strings.ContainsAny(strings.TrimSpace(c.Policy), " \n") {
		p, err = receipt.ParsePolicy(c.Policy)
	} else {
		p, err = receipt.NewPolicy(c.Policy)
	}
	if err != nil {
		return nil, errPolicy
	}
	r, err := receipt.Parse([]byte(c.Text))
	if err != nil {
		return nil, err
	}
	if c.Promise {
		return r.VerifyPromise(p)
	}
	return r.Verify(p)
}

var errPolicy = errors.New("the policy is wrong")

func codeOf(err error) string {
	for known, code := range codes {
		if errors.Is(err, known) {
			return code
		}
	}
	if errors.Is(err, errPolicy) {
		return "policy"
	}
	return err.Error()
}

// Judges are the verifiers, by the names of their languages.
var Judges = map[string]func(context.Context, []Case) ([]string, error){
	"Go": ByGo,
	"JavaScript": func(ctx context.Context, cases []Case) ([]string, error) {
		return byProgram(ctx, cases, "node", "judge.mjs")
	},
	"Python": func(ctx context.Context, cases []Case) ([]string, error) {
		return byProgram(ctx, cases, "python3", "judge.py")
	},
}

// byProgram lets a program judge receipts.
func byProgram(ctx context.Context, cases []Case, interpreter, script string) ([]string, error) {
	gomod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("receipttest: find the module: %w", err)
	}
	path := filepath.Join(filepath.Dir(strings.TrimSpace(string(gomod))), "internal/testing/receipttest/testdata", script)
	var in, complaints bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, c := range cases {
		if err := lines.Encode(c); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, interpreter, path)
	cmd.Stdin, cmd.Stderr = &in, &complaints
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("receipttest: %s: %w\n%s", interpreter, err, complaints.String())
	}
	var all []string
	for line := range bytes.SplitSeq(bytes.TrimSpace(out), []byte("\n")) {
		var facts map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&facts); err != nil {
			return nil, fmt.Errorf("receipttest: %s says %q: %w", interpreter, line, err)
		}
		text, err := json.Marshal(facts)
		if err != nil {
			return nil, err
		}
		all = append(all, string(text))
	}
	if len(all) != len(cases) {
		return nil, fmt.Errorf("receipttest: %s judged %d of %d", interpreter, len(all), len(cases))
	}
	return all, nil
}
