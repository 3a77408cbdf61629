package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// stored writes an entry and returns its row as text, whatever its columns are.
func stored(t *testing.T, e audit.Entry) string {
	t.Helper()
	pool := pgtest.New(t)
	e.At, e.Actor, e.Subject = time.Now(), audit.Actor{Kind: audit.Operator}, uuid.New()
	if err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return audit.Write(t.Context(), tx, e) }); err != nil {
		t.Fatal(err)
	}
	var row string
	if err := pool.QueryRow(t.Context(), `SELECT to_jsonb(audit)::text FROM audit WHERE subject_id = $1`, e.Subject).Scan(&row); err != nil {
		t.Fatal(err)
	}
	return row
}

// No secret and no personal data gets into the trail, by whatever name, in
// whatever type and at whatever depth. Each canary is unmistakable, and no
// other part of the row could be taken for it.
func TestSecretsAndPersonalDataAreMasked(t *testing.T) {
	t.Parallel()
	canaries := map[string]string{ // what must not be found, and what stands for it
		"canary-secret-text":      "[secret]",
		"canary-password":         "[secret]",
		"canary-otp":              "[secret]",
		"canary-mac":              "[secret]",
		"canary-recovery":         "[secret]",
		"zuleikha@canary.example": "z…@c…",
		"canary.example":          "",
		"8031234567":              "…67",
		"7099887766":              "…66",
		"803 987 6543":            "…43",
		"Canaria Obi":             "C…",
	}
	credential := secret.New(secret.LiveKey).Reveal()
	type nested struct {
		Inner secret.Text
		Mail  string `json:"e-mail"`
	}
	after := map[string]any{
		"anything":                secret.Text("canary-secret-text"),
		"list":                    []secret.Text{"canary-secret-text"},
		"struct":                  nested{"canary-secret-text", "zuleikha@canary.example"},
		"adminPassword":           "canary-password",
		"new_password":            []string{"canary-password"},
		"OTP":                     "canary-otp",
		"keyMac":                  "canary-mac",
		"recoveryCodes":           []string{"canary-recovery"},
		"deep":                    map[string]any{"deeper": []any{map[string]any{"client-secret": "canary-password"}}},
		"adminEmail":              "zuleikha@canary.example",
		"emails":                  []string{"zuleikha@canary.example"},
		"reason":                  "She wrote from zuleikha@canary.example, then rang from +2348031234567 and 0803 987 6543; key " + credential,
		"adminPhone":              "+2348031234567",
		"number":                  int64(2347099887766),
		"count":                   int64(2347099887766), // its name says nothing, its size does
		"adminName":               "Canaria Obi",
		"hash":                    []byte("canary-mac"),
		"stored":                  "$argon2id$v=19$m=64,t=1,p=1$canary-password",
		"note":                    strings.Repeat("ab", 16), // 32 hexadecimal digits: a MAC, a seed, a token
		"zuleikha@canary.example": true,
	}
	row := stored(t, audit.Entry{Action: audit.KeyCreated, Before: map[string]any{"password": "canary-password"}, After: after})
	for canary, mask := range canaries {
		if strings.Contains(row, canary) {
			t.Errorf("%s stands in the trail: %s", canary, row)
		}
		if !strings.Contains(row, mask) {
			t.Errorf("nothing stands for %s: %s", canary, row)
		}
	}
	for _, canary := range []string{credential, credential[8:20], strings.Repeat("ab", 16), "$argon2id"} {
		if strings.Contains(row, canary) {
			t.Errorf("%s stands in the trail", canary)
		}
	}
}

// The name of a person is masked where the entry is about people, and the name
// of a key or an entity stays.
func TestNamesOfPeopleAreMasked(t *testing.T) {
	t.Parallel()
	for want, actions := range map[bool][]audit.Action{
		true:  {audit.StaffCreated, audit.Invited, audit.AccountDisabled, audit.FactorSet},
		false: {audit.KeyCreated, audit.EntityCreated, audit.ClientCreated},
	} {
		for _, action := range actions {
			row := stored(t, audit.Entry{Action: action, After: map[string]any{"name": "Canaria"}})
			if masked := !strings.Contains(row, "Canaria"); masked != want {
				t.Errorf("%s: masked %v, want %v", action, masked, want)
			}
		}
	}
}

// What a reader of the trail needs is not masked: a mask that removed
// everything would pass the tests above.
func TestHarmlessValuesAreNotMasked(t *testing.T) {
	t.Parallel()
	id, at := uuid.NewString(), "2026-07-01T06:00:00.123Z"
	after := map[string]any{
		"status": "Suspended", "reason": "Court order FHC/L/CS/1234/2026 of 2026-06-30; see " + id, "keyId": id, "tokenId": id, "approval": id,
		"networks": []any{"192.168.100.200/32", "2001:db8::/32"}, "rate": 12.5, "dayNumbers": 100000.0, "passwordChangedAt": at, "expiresAt": at,
		"passwordSet": true, "name": "account opening", "preview": "lp_live_Ab3d…xY9z", "cac": "RC 1234567", "gone": nil, "scopes": []any{"entity:onboard"},
	}
	pool, subject := pgtest.New(t), uuid.New()
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		return audit.Write(t.Context(), tx, audit.Entry{At: time.Now(), Actor: audit.Actor{Kind: audit.System}, Action: audit.KeyRolled, Subject: subject, After: after})
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := audit.List(t.Context(), pool, audit.Filter{Subject: subject})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if diff := cmp.Diff(after, list[0].After); diff != "" {
		t.Errorf("(-written +kept):\n%s", diff)
	}
	if open, err := audit.Plain(after); err != nil || !open {
		t.Errorf("Plain = %v, %v; want true", open, err)
	}
	if open, err := audit.Plain(map[string]any{"note": "a@b.example"}); err != nil || open {
		t.Errorf("Plain of an address = %v, %v; want false", open, err)
	}
}

// A text or a list of any length is accepted; the trail stores its beginning.
func TestLongValuesAreCut(t *testing.T) {
	t.Parallel()
	words := make([]string, 10_000)
	for i := range words {
		words[i] = fmt.Sprint("word ", i)
	}
	row := stored(t, audit.Entry{Action: audit.KeyCreated, After: map[string]any{"text": strings.Repeat("long ", 10_000), "list": words}})
	if len(row) > 5000 || !strings.Contains(row, "word 49") || strings.Contains(row, "word 51") {
		t.Errorf("%d bytes: %.300s", len(row), row)
	}
}

// An entry that cannot be written is an error, and then the action is rolled
// back.
func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	err := pg.InTx(t.Context(), pool, func(tx pg.Tx) error {
		return audit.Write(t.Context(), tx, audit.Entry{At: time.Now(), Actor: audit.Actor{Kind: audit.Operator}, Action: audit.KeyCreated, After: map[string]any{"f": func() {}}})
	})
	if err == nil {
		t.Error("a function was written into the trail")
	}
}
