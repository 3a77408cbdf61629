package kit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"

	"github.com/a-h/templ"

	"github.com/lineproof/lineproof/receipt"
)

// ReceiptScript is the name of the script that verifies receipts: the modules that
// everybody can use, and behind them what shows their result.
const ReceiptScript = "receipt.js"

// ReceiptFile returns the page that verifies receipts as one file that needs no network. It
// may load nothing, and run nothing but the script in it.
func ReceiptFile(ctx context.Context, service, policy string) ([]byte, error) {
	style, script := string(served[Asset("app.css")].plain), string(served[Asset(ReceiptScript)].plain)
	allow := "default-src 'none'; img-src data:; script-src 'sha256-" + hashOf(script) + "'; style-src 'sha256-" + hashOf(style) + "'; base-uri 'none'; form-action 'none'"
	var b bytes.Buffer
	err := receiptFile(ReceiptData{Policy: policy, Alone: true}, service, allow,
		templ.Raw("<style>"+style+"</style>"), templ.Raw(`<script type="module">`+script+"</script>")).Render(ctx, &b)
	return b.Bytes(), err
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// withModule puts the modules that verify before the script of the page.
func withModule(name string, plain []byte) []byte {
	if name != ReceiptScript {
		return plain
	}
	return append([]byte(receipt.Module()+"\n"), plain...)
}
