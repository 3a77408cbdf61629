// Package corpus builds files to try an inspection with: hostile ones, which
// must never be shown to anybody, and honest ones of the shapes that real
// producers write, which must pass.
//
// They are built by code, so that no file lies in the repository that a scanner
// would flag, and each is built the same every time.
package corpus

import (
	"encoding/binary"
	"image"
	"iter"
)

// Sample is one file.
type Sample struct {
	Name      string   // distinct, and says what is special
	MediaType string   // what it is by its first bytes
	Data      []byte   // its content
	Codes     []string // of a hostile one: the reasons of which one must be given
}

// The media types.
const (
	typePDF  = "application/pdf"
	typePNG  = "image/png"
	typeJPEG = "image/jpeg"
	typeGIF  = "image/gif"
	typeWebP = "image/webp"
	typeTIFF = "image/tiff"
)

var (
	littleEndian tiffOrder = binary.LittleEndian
	bigEndian    tiffOrder = binary.BigEndian
	noConfig     image.Config
)

// Hostile returns the files that must be refused.
func Hostile() iter.Seq[Sample] {
	return all(hiddenBehind, hiddenInside, cutOff, disguised, absurd, damaged, active, obscured, attached, scheming, bombs)
}

// Honest returns the files that must pass.
func Honest() iter.Seq[Sample] {
	return all(honestPDFs, honestWriters, honestPNGs, honestJPEGs, honestGIFs, honestWebPs, honestTIFFs)
}

// Seeds returns small files of all kinds to begin a fuzzing with. They are built
// in no time, as every process that takes part builds them.
func Seeds() iter.Seq[Sample] {
	return all(carriers, func() []Sample { return hidingPlaces([]byte("A scan of a certificate")) }, obscured, attached)
}

// all joins families, and builds each only when it is asked for.
func all(families ...func() []Sample) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for _, family := range families {
			for _, s := range family() {
				if !yield(s) {
					return
				}
			}
		}
	}
}
