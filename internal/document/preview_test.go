package document_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/document"
)

// A preview of a large image is small, that of a small one has its size, and
// transparent pixels are white.
func TestPreviewIsAPictureOfThePicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	glass := image.NewNRGBA(image.Rect(0, 0, 40, 3000))
	glass.SetNRGBA(0, 0, color.NRGBA{R: 1, A: 1}) // or it would be no picture with an alpha channel
	dark := image.NewGray(image.Rect(0, 0, 30, 20))
	for name, c := range map[string]struct {
		picture image.Image
		jpeg    bool
		want    image.Point
		light   bool
	}{
		"see-through": {glass, false, image.Pt(16, 1200), true},
		"small":       {dark, true, image.Pt(30, 20), false},
	} {
		var b bytes.Buffer
		encode := func() error { return png.Encode(&b, c.picture) }
		if c.jpeg {
			encode = func() error { return jpeg.Encode(&b, c.picture, nil) }
		}
		if err := encode(); err != nil {
			t.Fatal(err)
		}
		small := must(w.Preview(t.Context(), w.settled(t, certificate, b.Bytes()), reviewer, uuid.Nil))(t)
		got := must(jpeg.Decode(bytes.NewReader(small)))(t)
		r, _, _, _ := got.At(8, 10).RGBA()
		if got.Bounds().Size() != c.want || (r > 0x8000) != c.light {
			t.Errorf("%s: %v, red %x", name, got.Bounds().Size(), r)
		}
	}
	if _, err := w.Preview(t.Context(), w.settled(t, certificate, []byte("%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n")), reviewer, uuid.Nil); !errors.Is(err, document.ErrNoPreview) {
		t.Errorf("of a PDF: %v", err)
	}
	if document.Previewed("application/pdf") || document.Previewed("image/tiff") || !document.Previewed("image/png") {
		t.Error("Previewed says otherwise")
	}
}
