package inspect

import (
	"errors"
	"image/jpeg"
	"io"
	"strings"
)

// What a picture may be. The dots of A4 at 600 to the inch are 35 million.
const (
	maxPixels  = 40 << 20   // in one picture
	maxDecoded = 480 << 20  // bytes that a decoder may need for one
	maxFrames  = 1000       // pictures in one file
	maxAll     = 1000 << 20 // dots in all pictures of a file
	maxText    = 16 << 20   // of a description when it is unpacked
)

// checkSize judges the size that a picture claims, before anything is made
// room for. Each dot takes so many bytes of the decoder.
func checkSize(width, height, bytesPerDot int64) error {
	if width <= 0 || height <= 0 {
		return Malformed
	}
	if width > maxPixels || height > maxPixels || width*height > maxPixels || width*height*bytesPerDot > maxDecoded {
		return TooLargeImage
	}
	return nil
}

// budget counts what the pictures of a file claim together.
type budget struct{ frames, dots int64 }

func (b *budget) add(width, height int64) error {
	b.frames++
	b.dots += width * height
	if b.frames > maxFrames || b.dots > maxAll {
		return TooComplex
	}
	return nil
}

// decodingError turns what a decoder complains of into a refusal.
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
