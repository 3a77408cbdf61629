// Package inspect opens a file of unknown origin completely and reports what is
// wrong with it.
//
// It supports six formats: PDF, PNG, JPEG, GIF, WebP and TIFF. A file passes if it
// is of that format from the first byte to the last, can be opened completely, and
// contains no active content, no hidden data and nothing that unpacks to far more
// than its size. A file that cannot be understood is refused: a document can be
// saved again, a break-in cannot be undone.
//
// The parsers must expect the most hostile files, so they run in a separate process
// with little memory, little time and no access to anything: see [Inspector]. File
// runs in that process.
package inspect

import (
	"errors"
	"fmt"
	"io"
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
	WrongType     = &Refusal{"wrong_type", "The content of the file does not match its format. Save the document as PDF, PNG, JPEG, GIF, WebP or TIFF and upload that."}
	Truncated     = &Refusal{"truncated", "The file is incomplete. Save or scan the document again and upload the whole file."}
	Malformed     = &Refusal{"malformed", "The file is not valid for its format. Open it in the program that created it, save or print it as a new PDF, and upload that."}
	Polyglot      = &Refusal{"polyglot", "The file contains other data before, after or inside the document. Save or print the document as a new PDF and upload that."}
	Archive       = &Refusal{"archive", "The file contains an archive. Upload each document as a separate file."}
	ActiveContent = &Refusal{"active_content", "The PDF has active content: a script, media, or an action that starts a program or sends data. Print it as a new PDF and upload that."}
	EmbeddedFile  = &Refusal{"embedded_file", "The PDF has other files attached. Upload each document as a separate file."}
	Encrypted     = &Refusal{"encrypted", "The PDF is protected by a password or by restrictions. Save it without protection and upload that."}
	TooLargeImage = &Refusal{"too_large_image", "An image is too large. Scan the document at a lower resolution; 40 million pixels are enough for A4 at 600 dots per inch."}
	TooComplex    = &Refusal{"too_complex", "The file unpacks to far more data than a document needs. Print it as a new PDF, or scan it, and upload that."}
	Unreadable    = &Refusal{"unreadable", "The service could not open the file. Save the document again in a simple format and upload that."}
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

// maxFile is the maximum size of a file. The limit of uploads is lower, unless the
// regulator has raised it far.
const maxFile = 256 << 20

// kinds maps a media type to its check.
var kinds = map[string]func(data []byte) error{
	"application/pdf": checkPDF,
	"image/png":       checkPNG,
	"image/jpeg":      checkJPEG,
	"image/gif":       checkGIF,
	"image/webp":      checkWebP,
	"image/tiff":      checkTIFF,
}

// File inspects a file of the given media type. It returns nil for a file that may
// be shown, a *Refusal for one that may not, and any other error if the file could
// not be read.
//
// Call it in a separate process: see [Inspector].
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
	return findForeign(data)
}
