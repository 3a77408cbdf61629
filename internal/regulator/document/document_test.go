package document_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const pdf = "%PDF-1.4\n1 0 obj<<>>endobj\n"

func newStore(t *testing.T) (s *document.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	files, err := blob.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &document.Store{Files: files, MaxBytes: 4096, Now: time.Now}, dir
}

// filesIn counts the files below dir.
func filesIn(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The content decides the type of a file. A file that is refused, too large or
// incomplete leaves nothing behind.
func TestReceiveTakesOnlyWholeFilesOfTheListedKinds(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line went dead")
	for name, tc := range map[string]struct {
		content io.Reader
		kind    string
		err     error
	}{
		"pdf":            {strings.NewReader(pdf), "application/pdf", nil},
		"png":            {strings.NewReader("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), "image/png", nil},
		"png that moves": {strings.NewReader("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x00", 17) + "\x00\x00\x00\x08acTL"), "image/png", nil},
		"jpeg":           {strings.NewReader("\xff\xd8\xff\xe0\x00\x10JFIF"), "image/jpeg", nil},
		"gif":            {strings.NewReader("GIF89a\x01\x00\x01\x00"), "image/gif", nil},
		"webp":           {strings.NewReader("RIFF\x24\x00\x00\x00WEBPVP8 "), "image/webp", nil},
		"tiff":           {strings.NewReader("II*\x00\x08\x00\x00\x00"), "image/tiff", nil},
		"one byte reads": {iotest.OneByteReader(strings.NewReader(pdf)), "application/pdf", nil},
		"exactly full":   {strings.NewReader(pdf + strings.Repeat("x", 4096-len(pdf))), "application/pdf", nil},
		"one too many":   {strings.NewReader(pdf + strings.Repeat("x", 4097-len(pdf))), "", document.ErrTooLarge},
		"without end":    {io.MultiReader(strings.NewReader(pdf), endless{}), "", document.ErrTooLarge},
		"empty":          {strings.NewReader(""), "", document.ErrEmpty},
		"html":           {strings.NewReader("<html><script>"), "", document.ErrType},
		"svg":            {strings.NewReader(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "", document.ErrType},
		"zip":            {strings.NewReader("PK\x03\x04"), "", document.ErrType},
		"program":        {strings.NewReader("MZ\x90"), "", document.ErrType},
		"text":           {strings.NewReader("CAC certificate"), "", document.ErrType},
		"cut off early":  {iotest.ErrReader(broken), "", broken},
		"cut off late":   {io.MultiReader(strings.NewReader(pdf+strings.Repeat("x", 4000-len(pdf))), iotest.ErrReader(broken)), "", broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir := newStore(t)
			f, err := s.Receive(t.Context(), "../../etc/"+name, tc.content)
			if !errors.Is(err, tc.err) || f.MediaType != tc.kind {
				t.Errorf("Receive = %q, %v; want %q, %v", f.MediaType, err, tc.kind, tc.err)
			}
			want := 1
			if tc.err != nil {
				want = 0
			} else if f.Name != name || f.Size == 0 {
				t.Errorf("kept as %q with %d bytes", f.Name, f.Size)
			}
			if n := filesIn(t, dir); n != want {
				t.Errorf("%d files are kept, want %d", n, want)
			}
			if tc.err == nil {
				if err := s.Discard(t.Context(), f); err != nil || filesIn(t, dir) != 0 {
					t.Errorf("Discard: %v; %d files left", err, filesIn(t, dir))
				}
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestTypesAreFreeUnlessStrict(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		label  string
		strict bool
		want   string
	}{
		{"CAC_CERTIFICATE", true, ""},
		{"Anything at all", false, ""},
		{"Anything at all", true, fault.NotAllowed},
		{" ", false, fault.Required},
		{strings.Repeat("ä", 64), false, ""},
		{strings.Repeat("ä", 65), false, fault.TooLong},
		{"a\nb", false, fault.BadFormat},
	} {
		var wrong fault.Form
		(&document.Store{Strict: tc.strict}).CheckType(&wrong, tc.label)
		got := ""
		if v := wrong.Violations(); len(v) > 0 {
			got = v[0].Code
		}
		if got != tc.want {
			t.Errorf("%q (strict %v): %q, want %q", tc.label, tc.strict, got, tc.want)
		}
	}
}
