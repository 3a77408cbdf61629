package logreceipt_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/receipttest"
)

// Every verifier accepts the receipts that are made here, and they judge altered ones
// alike. Package receipt holds them to every kind of receipt.
func TestVerifiersJudgeAlike(t *testing.T) {
	t.Parallel()
	const good, bad = 50, 100
	e := newEnv(t)
	var cases []receipttest.Case
	for len(cases) < good {
		answers := e.answer(1 + rand.IntN(9))
		e.publish()
		for i := range answers {
			text, err := e.receipt(answers[i].RequestID)
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, receipttest.Case{Text: string(text), Policy: e.key})
		}
	}
	made, alter := len(cases), receipttest.NewMaker(rand.Uint64())
	for range bad {
		cases = append(cases, receipttest.Case{Text: alter.Alter(cases[rand.IntN(made)].Text, cases[rand.IntN(made)].Text), Policy: e.key})
	}
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
			if got[i] != want[i] || (i < made && strings.Contains(got[i], "refused")) {
				t.Errorf("Go says %s\nand %s %s\nof %s", want[i], language, got[i], cases[i].Text)
			}
		}
	}
}
