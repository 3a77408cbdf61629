// Package inspect opens a file of unknown origin completely and says what is
// wrong with it.
//
// It knows six kinds: PDF, PNG, JPEG, GIF, WebP and TIFF. A file passes when it
// is that kind from the first byte to the last, can be opened whole, and holds
// nothing that acts, nothing that hides and nothing that unpacks to far more
// than it is. What cannot be understood is refused: a paper can be saved anew,
// a break-in cannot be undone.
//
// The parsers meet the worst that people can build, so they run in a process of
// their own, with little memory, little time and nothing to reach: see
// [Inspector]. File is what runs in there.
package inspect

import (
	"errors"
	"fmt"
	"io"
)

// Refusal says why a file is refused, in words for whoever sent it. It holds
// nothing of the file's content.
type Refusal struct {
	Code    string
	Message string
}

func (r *Refusal) Error() string { return "inspect: " + r.Code + ": " + r.Message }

// Is tells refusals apart by their code.
func (r *Refusal) Is(target error) bool {
	other, ok := target.(*Refusal)
	return ok && other.Code == r.Code
}

// The reasons of a refusal. The codes are part of the contract with callers.
var (
	WrongType     = &Refusal{"wrong_type", "The content is not of the kind that the file begins as. Save the document as PDF, PNG, JPEG, GIF, WebP or TIFF and send that."}
	Truncated     = &Refusal{"truncated", "The file ends too early. Save or scan the document again and send the whole file."}
	Malformed     = &Refusal{"malformed", "The file does not keep to the rules of its format. Open it in the program it came from, save or print it as a new PDF, and send that."}
	Polyglot      = &Refusal{"polyglot", "The file holds something else beside the document, before it, behind it or inside it. Save or print the document as a new PDF and send that."}
	Archive       = &Refusal{"archive", "The file holds an archive. Send each document as a file of its own."}
	ActiveContent = &Refusal{"active_content", "The PDF does something when it is opened or used: it holds a script, media, or an action that starts something or sends something away. Print it as a new PDF and send that."}
	EmbeddedFile  = &Refusal{"embedded_file", "The PDF has other files attached. Send each document as a file of its own."}
	Encrypted     = &Refusal{"encrypted", "The PDF is protected by a password or by restrictions. Save it without protection and send that."}
	TooLargeImage = &Refusal{"too_large_image", "A picture is larger than the service opens. Scan the document with fewer dots per inch; 40 million dots are enough for A4 at 600 dots per inch."}
	TooComplex    = &Refusal{"too_complex", "The file unpacks to far more than a document needs. Print it as a new PDF, or scan it, and send that."}
	Unreadable    = &Refusal{"unreadable", "The service could not open the file. Save the document anew, in a plain form, and send that."}
)

// Reasons are all refusals, in the order of the reference.
var Reasons = []*Refusal{
	WrongType, Truncated, Malformed, Polyglot, Archive, ActiveContent, EmbeddedFile, Encrypted, TooLargeImage, TooComplex, Unreadable,
}

// reason returns the refusal with a code.
func reason(code string) (*Refusal, bool) {
	for _, r := range Reasons {
		if r.Code == code {
			return r, true
		}
	}
	return nil, false
}

// maxFile is the largest file that is opened. The service's own limit of
// uploads is lower unless the regulator has raised it far.
const maxFile = 256 << 20

// kinds maps a media type to what opens it.
var kinds = map[string]func(data []byte) error{
	"application/pdf": checkPDF,
	"image/png":       checkPNG,
	"image/jpeg":      checkJPEG,
	"image/gif":       checkGIF,
	"image/webp":      checkWebP,
	"image/tiff":      checkTIFF,
}

// File opens a file that claims to be of a media type. It returns nil for a
// file that may be shown, a *Refusal for one that may not, and any other error
// when the file could not be read.
//
// Call it in a process of its own: see [Inspector].
func File(r io.ReaderAt, size int64, mediaType string) error {
	check, ok := kinds[mediaType]
	if !ok {
		return WrongType
	}
	if size > maxFile {
		return TooComplex
	}
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); int64(n) < size {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("inspect: read: %w", err)
	}
	if err := check(data); err != nil {
		return err
	}
	return lookForStrangers(data)
}
