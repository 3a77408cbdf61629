package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The reasons for which an upload is refused.
var (
	ErrTooLarge = fault.New(fault.PayloadTooLarge, "The file is too large. Upload a smaller one; the limit is 10 MiB unless the regulator has set another.")
	ErrType     = fault.New(fault.UnsupportedMediaType, "The content of the file is not PDF, PNG, JPEG, GIF, WebP or TIFF. Upload one of these.")
	ErrEmpty    = fault.ErrInvalid.With(fault.Violation{Field: "file", Code: fault.Required, Message: "The file is empty. Upload the document."})
)

// ErrStorage reports that the file could not be stored. It is a server error.
var ErrStorage = fault.New(fault.Unavailable, "The service could not store the file. Upload it again after the time in the Retry-After header.")

// Other is the type of documents with none of the known types.
const Other = "OTHER"

// Types are the known types. A caller may use any other word; it is stored as a
// label of the type OTHER.
var Types = []string{
	"CAC_CERTIFICATE", "CAC_STATUS_REPORT", "OPERATING_LICENCE", "TAX_ID", "DATA_PROTECTION_REGISTRATION",
	"LETTER_OF_AUTHORISATION", "ADMIN_ID", Other,
}

// acceptedTypes are the accepted media types.
var acceptedTypes = []string{"application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff"}

// animatedPNG is the detected media type of an animated PNG, which every program that
// shows PNG can show.
const animatedPNG = "image/vnd.mozilla.apng"

// sniffLength is the number of bytes from which the media type is detected.
const sniffLength = 3072

const (
	maxLabel    = 64
	maxFileName = 255
)

// File is a completely received file that is not recorded yet.
type File struct {
	ID        uuid.UUID
	Name      string
	MediaType string
	Size      int64
	SHA256    [32]byte
}

// Receive streams a file into the blob store. It detects the media type by the
// content, limits the size and computes the hash. A refused file leaves nothing
// behind.
func (s *Store) Receive(ctx context.Context, name string, r io.Reader) (File, error) {
	head := make([]byte, sniffLength)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return File{}, fmt.Errorf("document: read: %w", err)
	}
	head = head[:n]
	if n == 0 {
		return File{}, ErrEmpty
	}
	kind := mimetype.Detect(head)
	if kind.Is(animatedPNG) {
		kind = kind.Parent()
	}
	if !slices.ContainsFunc(acceptedTypes, kind.Is) {
		return File{}, ErrType
	}
	f := File{ID: uuid.Must(uuid.NewV7()), Name: cleanName(name), MediaType: kind.String()}
	body := &limitedReader{r: io.MultiReader(bytes.NewReader(head), r), left: s.MaxBytes}
	info, err := s.Files.Put(ctx, f.ID.String(), body)
	if body.err != nil {
		return File{}, fmt.Errorf("document: read: %w", body.err)
	}
	if err != nil {
		return File{}, ErrStorage.Because(err)
	}
	f.Size, f.SHA256 = info.Size, info.SHA256
	return f, nil
}

// Discard removes a file that was not recorded.
func (s *Store) Discard(ctx context.Context, f File) error {
	if err := s.Files.Delete(ctx, f.ID.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("document: discard: %w", err)
	}
	return nil
}

// CheckType adds to the form what is wrong with a type, if anything.
func (s *Store) CheckType(form *fault.Form, label string) {
	const field = "type"
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	form.Check(strings.TrimSpace(label) != "", field, fault.Required, "Enter the type of the document, for example CAC_CERTIFICATE.")
	form.Check(utf8.RuneCountInString(label) <= maxLabel, field, fault.TooLong, "Use at most 64 characters.")
	form.Check(!strings.ContainsFunc(label, unprintable), field, fault.BadFormat, "Use printable characters only.")
	form.Check(!s.Strict || slices.Contains(Types, label), field, fault.NotAllowed, "The types are: "+strings.Join(Types, ", ")+".")
}

// cleanName removes from a file name what cannot be displayed.
func cleanName(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, ""), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	for len(name) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// limitedReader fails when more than the limit is read, so that no more than that is
// ever written. It keeps a read error, to distinguish it from a write error.
type limitedReader struct {
	r    io.Reader
	left int64
	err  error
}

func (c *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		n, err = 0, ErrTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
