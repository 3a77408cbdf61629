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

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
)

// The ways in which a file is refused.
var (
	ErrTooLarge = fault.New(fault.PayloadTooLarge, "The file is larger than the service takes. Send a smaller one; the limit is 10 MiB unless the regulator has set another.")
	ErrType     = fault.New(fault.UnsupportedMediaType, "The file is none of PDF, PNG, JPEG, GIF, WebP or TIFF by its content. Send one of these.")
	ErrEmpty    = fault.ErrInvalid.With(fault.Violation{Field: "file", Code: fault.Required, Message: "The file is empty. Send the document."})
)

// ErrStorage reports that the file could not be kept. It is not the caller's
// doing.
var ErrStorage = fault.New(fault.Unavailable, "The service could not keep the file. Send it again after the time in the Retry-After header.")

// Other is the type of a document that is none of the known ones.
const Other = "OTHER"

// Types are the types that are known. A caller may use any other word; it is
// kept as a label of the type OTHER.
var Types = []string{
	"CAC_CERTIFICATE", "CAC_STATUS_REPORT", "OPERATING_LICENCE", "TAX_ID", "DATA_PROTECTION_REGISTRATION",
	"LETTER_OF_AUTHORISATION", "ADMIN_ID", Other,
}

// accepted are the kinds of content that are taken.
var accepted = []string{"application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff"}

// movingPNG is a PNG with more than one picture, which has a name of its own and
// is a PNG to everybody who shows it.
const movingPNG = "image/vnd.mozilla.apng"

// sniffed is how much of a file is looked at to tell what it is.
const sniffed = 3072

const (
	maxLabel    = 64
	maxFileName = 255
)

// File is a file that was received whole and has no record yet.
type File struct {
	ID        uuid.UUID
	Name      string
	MediaType string
	Size      int64
	SHA256    [32]byte
}

// Receive streams a file into the blob store: told by its content, capped,
// hashed. A file that is refused leaves nothing behind.
func (s *Store) Receive(ctx context.Context, name string, r io.Reader) (File, error) {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return File{}, fmt.Errorf("document: read: %w", err)
	}
	head = head[:n]
	if n == 0 {
		return File{}, ErrEmpty
	}
	kind := mimetype.Detect(head)
	if kind.Is(movingPNG) {
		kind = kind.Parent()
	}
	if !slices.ContainsFunc(accepted, kind.Is) {
		return File{}, ErrType
	}
	f := File{ID: uuid.Must(uuid.NewV7()), Name: cleanName(name), MediaType: kind.String()}
	body := &capped{r: io.MultiReader(bytes.NewReader(head), r), left: s.MaxBytes}
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

// Discard removes a file whose record did not come about.
func (s *Store) Discard(ctx context.Context, f File) error {
	if err := s.Files.Delete(ctx, f.ID.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("document: discard: %w", err)
	}
	return nil
}

// CheckType says what is wrong with a type, if anything. Field is left to the
// caller's form.
func (s *Store) CheckType(wrong *fault.Form, label string) {
	const field = "type"
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	wrong.Check(strings.TrimSpace(label) != "", field, fault.Required, "Say what the document is, for example CAC_CERTIFICATE.")
	wrong.Check(utf8.RuneCountInString(label) <= maxLabel, field, fault.TooLong, "Use at most 64 characters.")
	wrong.Check(!strings.ContainsFunc(label, unprintable), field, fault.BadFormat, "Use printable characters only.")
	wrong.Check(!s.Strict || slices.Contains(Types, label), field, fault.NotAllowed, "The types are: "+strings.Join(Types, ", ")+".")
}

// cleanName keeps what of a file's name can be shown to a person.
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

// capped refuses to read past the cap, so that no more than that is ever
// written. It remembers the error of reading, to tell it from one of writing.
type capped struct {
	r    io.Reader
	left int64
	err  error
}

func (c *capped) Read(p []byte) (int, error) {
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
