package logreceipt_test

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/lineproof/lineproof/receipt"
)

// applied records a file that was applied, and returns what the log commits to.
func (e *env) applied(name string) (committed []byte) {
	e.t.Helper()
	_, err := e.owner.Exec(e.t.Context(), `INSERT INTO supply_import (uid, network, supplier, kind, as_of, dry_run, source, state, rows, refused, created_at, updated_at)
		VALUES (gen_random_uuid(), 7, 3, 'snapshot', '2026-11-14Z', false, 'api', 'applying', 9, 2, now(), now())`)
	if err != nil {
		e.t.Fatal(err)
	}
	err = e.owner.QueryRow(e.t.Context(), `UPDATE supply_import i SET state = 'applied', supplier_name = $1, file_digest = sha256(convert_to($1, 'UTF8')) WHERE state = 'applying' RETURNING log_supply(i)`, name).Scan(&committed)
	if err != nil {
		e.t.Fatal(err)
	}
	return committed
}

func verifySupply(text []byte, key string) (*receipt.Supplied, error) {
	r, err := receipt.ParseSupply(text)
	if err != nil {
		return nil, err
	}
	p, err := receipt.NewPolicy(key)
	if err != nil {
		return nil, err
	}
	return r.Verify(p)
}

// The receipt of a file proves everything that it says, in both forms; altered anywhere it
// proves nothing else, and no verifier takes it for the receipt of an answer.
func TestReceiptOfAFileProvesEveryField(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, name := range []string{"Six", "Séven", "Eight"} {
		committed := e.applied(name)
		if _, err := e.maker.MakeSupply(t.Context(), committed, false); err == nil {
			t.Error("there is a receipt before the log has the file")
		}
		e.answer(2)
		e.publish()
		r, err := e.maker.MakeSupply(t.Context(), committed, false)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		v, err := verifySupply(text, e.key)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if v.Supplier != name || v.Number != 3 || v.Kind != "snapshot" || v.AsOf.Format("2006-01-02") != "2026-11-14" || v.Rows != 9 || v.Refused != 2 || v.File != sha256.Sum256([]byte(name)) || v.At.IsZero() || v.Origin != origin {
			t.Errorf("it proves %+v", v)
		}
		for _, form := range []string{string(text), r.TlogProof()} {
			if same, err := verifySupply([]byte(form), e.key); err != nil || !reflect.DeepEqual(same, v) {
				t.Errorf("it proves %+v, %v", same, err)
			}
			if _, err := verify([]byte(form), e.key); err == nil {
				t.Errorf("it is taken for the receipt of an answer: %s", form)
			}
			e.wantAlteredRefused(form, v)
		}
	}
}

// wantAlteredRefused alters every character of the receipt of a file.
func (e *env) wantAlteredRefused(text string, good *receipt.Supplied) {
	e.t.Helper()
	refused := 0
	for i := range len(text) {
		v, err := verifySupply([]byte(text[:i]+string(rune(text[i]^1))+text[i+1:]), e.key)
		switch {
		case err != nil:
			refused++
		case v.File != good.File || v.Supplier != good.Supplier || v.Rows != good.Rows || v.Refused != good.Refused || !v.At.Equal(good.At) || v.Index != good.Index:
			e.t.Fatalf("altered at %d it proves something else: %+v", i, v)
		}
	}
	if refused < len(text)-len(receipt.SupplyStatement) { // the words prove nothing
		e.t.Errorf("%d of %d alterations were refused", refused, len(text))
	}
}
