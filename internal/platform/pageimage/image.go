package pageimage

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

const (
	maxPixels = 40 << 20  // A4 at 600 dots per inch has 35 million
	maxMemory = 192 << 20 // bytes of the decoded original
	stripRows = 64        // rows drawn at a time
)

// decoders are the decoders of images. Of an animation or of many pages the first is drawn.
var decoders = map[string]struct {
	size func(io.Reader) (image.Config, error)
	all  func(io.Reader) (image.Image, error)
}{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode},
	"image/tiff": {tiff.DecodeConfig, tiff.Decode},
	"image/webp": {webp.DecodeConfig, webp.Decode},
}

// drawImage writes the pixels of an image, made smaller and turned as its camera says.
func drawImage(in io.Reader, out io.Writer, mediaType string) error {
	decode, ok := decoders[mediaType]
	if !ok {
		return ErrNone
	}
	file, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	config, err := decode.size(bytes.NewReader(file))
	if err != nil {
		return err
	}
	if err := checkPixels(config, bytes.Contains(file, progressive)); err != nil {
		return err
	}
	picture, err := decode.all(bytes.NewReader(file))
	if err != nil {
		return err
	}
	small := shrink(picture)
	if mediaType == "image/jpeg" {
		small = turn(small, orientation(file))
	}
	return writePixels(out, small)
}

// progressive is the marker of a progressive JPEG, whose passes the decoder keeps
// in memory until the last one. If these bytes occur for another reason, the
// picture is only assumed to need more memory than it does.
var progressive = []byte{0xff, 0xc2}

// checkPixels checks the size in the header of a picture before memory is allocated for it.
func checkPixels(c image.Config, isProgressive bool) error {
	bytesPerPixel := int64(4)
	switch {
	case isProgressive:
		bytesPerPixel = 16
	case c.ColorModel == color.RGBA64Model, c.ColorModel == color.NRGBA64Model:
		bytesPerPixel = 8
	}
	width, height := int64(c.Width), int64(c.Height)
	if width <= 0 || height <= 0 || width > maxPixels || height > maxPixels || width*height > maxPixels || width*height*bytesPerPixel > maxMemory {
		return ErrTooLarge
	}
	return nil
}

// shrink draws a picture on a white background, at most Side large. It draws in strips,
// because scaling needs 32 bytes of temporary memory for each row of the original and column
// of the small one.
func shrink(picture image.Image) *image.RGBA {
	from := picture.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > Side {
		width, height = max(1, width*Side/longer), max(1, height*Side/longer)
	}
	canvas := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	for top := 0; top < height; top += stripRows {
		bottom := min(top+stripRows, height)
		part := image.Rect(from.Min.X, from.Min.Y+top*from.Dy()/height, from.Max.X, from.Min.Y+bottom*from.Dy()/height)
		draw.BiLinear.Scale(canvas, image.Rect(0, top, width, bottom), picture, part, draw.Over, nil)
	}
	return canvas
}
