package inspect

import (
	"errors"
	"image/jpeg"
	"io"
	"strings"
)

// The limits of images. A4 at 600 dots per inch has 35 million pixels.
const (
	maxPixels      = 40 << 20   // of one image
	maxDecoded     = 480 << 20  // bytes that a decoder may need for one image
	maxFrames      = 1000       // images in one file
	maxTotalPixels = 1000 << 20 // pixels of all images in a file
	maxText        = 16 << 20   // bytes of an unpacked text
)

// checkSize checks the size in the header of an image before memory is allocated
// for it. The decoder needs bytesPerPixel for each pixel.
func checkSize(width, height, bytesPerPixel int64) error {
	if width <= 0 || height <= 0 {
		return Malformed
	}
	if width > maxPixels || height > maxPixels || width*height > maxPixels || width*height*bytesPerPixel > maxDecoded {
		return TooLargeImage
	}
	return nil
}

// imageTotals sums up the images of a file.
type imageTotals struct{ frames, pixels int64 }

func (b *imageTotals) add(width, height int64) error {
	b.frames++
	b.pixels += width * height
	if b.frames > maxFrames || b.pixels > maxTotalPixels {
		return TooComplex
	}
	return nil
}

// decodingError converts an error of a decoder into a refusal.
func decodingError(err error) error {
	var unsupported jpeg.UnsupportedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Truncated
	case errors.As(err, &unsupported), strings.Contains(err.Error(), "unsupported"):
		return Unreadable
	default:
		return Malformed
	}
}
