// Package inspect reports whether a file of unknown origin can be shown: whether it is of
// its type, of an acceptable size, and can be drawn, every page of it.
//
// What else a file contains (a script, another file, a name, a picture below a picture) is
// not looked for, because nobody gets anything of the file but the pixels of its pages: see
// package pageimage, whose confined processes do all the reading.
package inspect

import (
	"context"
	"errors"
	"os"

	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Refusal is the reason for which a file is refused, with a message to the
// uploader. It contains nothing of the file's content.
type Refusal struct {
	Code    string
	Message string
}

func (r *Refusal) Error() string { return "inspect: " + r.Code + ": " + r.Message }

// Is compares refusals by their code.
func (r *Refusal) Is(target error) bool {
	other, ok := target.(*Refusal)
	return ok && other.Code == r.Code
}

// The reasons of a refusal. The codes are part of the API.
var (
	Encrypted     = &Refusal{"encrypted", "The PDF opens with a password only. Save it without protection and upload that."}
	TooLargeImage = &Refusal{"too_large_image", "An image is too large. Scan the document at a lower resolution; 40 million pixels are enough for A4 at 600 dots per inch."}
	TooComplex    = &Refusal{"too_complex", "The file needs too much time or memory, or has more than 100 pages. Print it as a new PDF, or scan it, in parts if it is long, and upload that."}
	Unreadable    = &Refusal{"unreadable", "No picture could be made of the pages of the file. Open it in the program that created it, save or print it as a new PDF, and upload that."}
)

// Reasons are all refusals, in the order of the reference.
var Reasons = []*Refusal{Encrypted, TooLargeImage, TooComplex, Unreadable}

// refusals are the reasons for which a file can't be drawn. Every other error says nothing
// about the file.
var refusals = map[error]*Refusal{
	pageimage.ErrEncrypted:    Encrypted,
	pageimage.ErrTooLarge:     TooLargeImage,
	pageimage.ErrTooManyPages: TooComplex,
	pageimage.ErrTooMuchWork:  TooComplex,
	pageimage.ErrFailed:       Unreadable,
}

// File draws every page of a file of the given media type. It returns nil for a file that
// can be shown and a *Refusal for one that can't.
//
// Any other error says nothing about the file: the process could not be started or
// confined, or was killed from outside. Try again later.
func File(ctx context.Context, d *pageimage.Drawer, f *os.File, mediaType string) error {
	_, err := d.DrawAll(ctx, f, mediaType, func([]byte) error { return nil })
	for reason, refusal := range refusals {
		if errors.Is(err, reason) {
			return refusal
		}
	}
	if errors.Is(err, pageimage.ErrNone) && mediaType != "application/pdf" {
		return Unreadable // by any machine
	}
	return fault.Wrap(err, "inspect")
}
