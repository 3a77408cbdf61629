// Package corpus builds files to test what people are shown of documents: hostile ones, of which only
// pixels may reach them, and valid ones in the forms that real programs write, which must
// be drawn.
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

// undrawn are the honest files in forms that Go's decoders of images do not read: the
// service refuses them, and its message says to save them as PDF.
var undrawn = map[string]bool{
	"webp that moves": true,
	"webp by another program: that moves, lossy":        true,
	"webp by another program: that moves, without loss": true,
	"tiff by fax of group 3, filled":                    true,
	"tiff by lzw, each byte backwards":                  true,
	"tiff by jpeg":                                      true,
	"tiff for a printing house":                         true,
	"tiff in planes":                                    true,
	"tiff by fax of group 3, filled, other order":       true,
	"tiff by lzw, each byte backwards, other order":     true,
	"tiff by jpeg, other order":                         true,
	"tiff for a printing house, other order":            true,
	"tiff in planes, other order":                       true,
}

// Undrawn reports whether an honest file has a form that can't be drawn.
func Undrawn(name string) bool { return undrawn[name] }

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
