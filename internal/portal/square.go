package portal

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode/qr"

	"github.com/lineproof/lineproof/internal/portal/view"
)

// squareOf returns the square code that says text.
func squareOf(text string) (view.Square, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return view.Square{}, fmt.Errorf("portal: make a square code: %w", err)
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
	return view.Square{Size: size, Path: path.String()}, nil
}
