package receipt_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/receipt"
)

// The receipt of a file is read in one spelling, as that of an answer: a member that stands twice is refused.
func TestARepeatedMemberIsRefusedInTheReceiptOfAFile(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(receipt.SupplyReceipt{Form: receipt.SupplyForm, Statement: receipt.SupplyStatement, Supply: receipt.Bytes("x"), At: 1794648600123, Proof: "note"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.ParseSupply(text); err != nil {
		t.Fatalf("the receipt that is altered: %v", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		repeated := `{"` + name + `":` + string(value) + `,` + strings.TrimPrefix(string(text), "{")
		if _, err := receipt.ParseSupply([]byte(repeated)); !errors.Is(err, receipt.ErrFormat) {
			t.Errorf("with a second member %s: %v", name, err)
		}
	}
}
