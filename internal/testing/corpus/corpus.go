// Package corpus builds files to test the inspection: hostile ones, which must
// never be shown, and valid ones in the forms that real programs write, which must
// pass.
//
// They are built by code, so that the repository has no file that a virus scanner
// would report, and each is the same every time.
package corpus

import (
	"encoding/binary"
	"image"
	"iter"
)

// Sample is one file.
type Sample struct {
	Name      string   // unique; describes the file
	MediaType string   // what it is by its first bytes
	Data      []byte   // its content
	Codes     []string // of a hostile file: the refusal must be one of these
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

// Seeds returns small files of all formats as seeds for fuzzing. They are quick to
// build, because every fuzzing process builds them.
func Seeds() iter.Seq[Sample] {
	return all(carriers, func() []Sample { return hidingPlaces([]byte("A scan of a certificate")) }, obscured, attached)
}

// all joins families, and builds each file only on demand.
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
