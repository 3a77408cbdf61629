package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A purpose that is a code of the policy in effect is the key's code. Anything else is
// other, with the words that were entered; a successor has the same purpose.
func TestKeyHasAPurposeOfThePolicyOrOtherWithItsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	for _, tc := range []struct{ entered, code, text string }{
		{"payment", "payment", ""},
		{" credential-reset ", "credential-reset", ""},
		{"other", "other", ""},
		{"", "other", ""},
		{"kyc", "other", "kyc"},
		{"Payment", "other", "Payment"},
		{"account opening", "other", "account opening"},
		{"marketing", "other", "marketing"},
	} {
		key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Test, Purpose: tc.entered}, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		next, err := w.RollKey(t.Context(), bank.ID, key.ID, time.Hour, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []access.NewKey{key, next} {
			who, err := w.Authenticate(t.Context(), key.Text.Reveal(), here)
			if err != nil || who.Purpose != tc.code || who.PurposeText != tc.text {
				t.Errorf("%q: %q %q, %v; want %q %q", tc.entered, who.Purpose, who.PurposeText, err, tc.code, tc.text)
			}
			chain, err := w.Key(t.Context(), bank.ID, key.ID)
			if row := chain.Key; err != nil || row.Purpose != tc.code || row.PurposeText != tc.text || (tc.text != "" && row.PurposeWords() != tc.text) {
				t.Errorf("%q: the list has %q %q, %v", tc.entered, row.Purpose, row.PurposeText, err)
			}
		}
		var code, text string
		err = w.Pool.QueryRow(t.Context(), `SELECT after ->> 'purpose', after ->> 'purposeText' FROM audit WHERE subject_id = $1 AND action = 'key.created'`, key.ID).Scan(&code, &text)
		if err != nil || code != tc.code || text != tc.text {
			t.Errorf("%q: the audit trail has %q %q, %v", tc.entered, code, text, err)
		}
	}
	for _, text := range []string{strings.Repeat("ọ", 101), "a\x00b", "a\xff"} {
		if _, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Test, Purpose: text}, access.Operator, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A new key can have the purposes of the current policy only. A key keeps its purpose
// when the policy changes.
func TestKeyKeepsItsPurposeWhenThePolicyChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank, _ := w.key(t)
	purposeOf := func(key access.NewKey) string {
		t.Helper()
		who, err := w.Authenticate(t.Context(), key.Text.Reveal(), here)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(who.Purpose + " " + who.PurposeText)
	}
	create := func(purpose string) access.NewKey {
		t.Helper()
		key, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "app", Mode: access.Test, Purpose: purpose}, access.Operator, uuid.Nil)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	credit, marketing := create("credit"), create("marketing")
	changed := policy.Defaults()
	changed.Purposes, changed.Note = "marketing=absent,other=absent", "a test"
	if _, err := (&policy.Service{Pool: w.Pool, Now: w.Now}).Set(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	w.clock = w.clock.Add(time.Minute)
	for want, got := range map[string]string{
		"credit": purposeOf(credit), "other marketing": purposeOf(marketing), "marketing": purposeOf(create("marketing")), "other credit": purposeOf(create("credit")),
	} {
		if got != want {
			t.Errorf("the purpose is %q, want %q", got, want)
		}
	}
}
