package logreceipt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// The verifier in JavaScript judges good and bad receipts as the one in Go does.
func TestVerifiersJudgeAlike(t *testing.T) {
	t.Parallel()
	const good, bad = 100, 400
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is not installed; .ci/run installs it")
	}
	e := newEnv(t)
	var texts []string
	for len(texts) < good {
		answers := e.answer(1 + rand.IntN(9))
		e.publish()
		for i := range answers {
			text, err := e.receipt(answers[i].RequestID)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
	}
	for range bad {
		texts = append(texts, alter(texts[rand.IntN(good)], texts[rand.IntN(good)]))
	}
	var in bytes.Buffer
	want := make([]string, len(texts))
	refused := 0
	for i, text := range texts {
		want[i] = "refused"
		if v, err := verify([]byte(text), e.key); err == nil {
			want[i] = fmt.Sprint(v.RequestID, " ", v.Status, " ", v.Number, " ", v.Index, " ", v.Size)
		} else {
			refused++
		}
		line, err := json.Marshal(map[string]string{"text": text, "key": e.key})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/judge.mjs")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) {
		t.Fatalf("it judged %d of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("Go says %q and JavaScript %q of: %s", want[i], got[i], texts[i])
		}
	}
	if refused < bad/2 || refused > bad {
		t.Errorf("%d of %d altered receipts were refused; this shows little", refused, bad)
	}
}

// alter changes one thing of a receipt; other is another one.
func alter(text, other string) string {
	i := rand.IntN(len(text))
	switch rand.IntN(5) {
	case 0:
		return text[:i] + string(rune('0'+rand.IntN(75))) + text[i+1:]
	case 1:
		return text[:i] + text[i+1:]
	case 2:
		return text[:i] + text[i:i+1] + text[i:]
	case 3:
		// A member of the other receipt.
		var a, b map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
			return text[1:]
		}
		names := []string{"public", "personal", "batch", "proof"}
		name := names[rand.IntN(len(names))]
		a[name] = b[name]
		mixed, err := json.Marshal(a)
		if err != nil {
			return text[1:]
		}
		return string(mixed)
	default:
		return strings.Replace(text, `"index":`, `"index":1`, 1)
	}
}
