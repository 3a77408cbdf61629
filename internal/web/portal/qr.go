package portal

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// qrCode returns text as a QR code.
func qrCode(text string) (kit.QRCode, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return kit.QRCode{}, fmt.Errorf("portal: encode a QR code: %w", err)
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := range size {
			if code.At(x, y) == color.Black {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	return kit.QRCode{Size: size, Path: path.String()}, nil
}
