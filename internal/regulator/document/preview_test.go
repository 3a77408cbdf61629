package document_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// A clean document has pictures of its pages; one that can't be drawn says so, and one whose
// content is not shown has none.
func TestDocumentsHavePicturesOfTheirPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	id := w.settled(t, certificate, b.Bytes())
	d := must(w.Find(t.Context(), id))(t)
	if n := must(w.Pages(t.Context(), &d))(t); n != 1 {
		t.Errorf("an image has %d pages", n)
	}
	picture := must(jpeg.Decode(bytes.NewReader(must(w.Picture(t.Context(), id, 1, reviewer, uuid.Nil))(t))))(t)
	if picture.Bounds().Size() != image.Pt(30, 20) {
		t.Errorf("it is %v", picture.Bounds().Size())
	}
	if _, err := w.Picture(t.Context(), id, 2, reviewer, uuid.Nil); fault.CodeOf(err) != fault.NotApplicable {
		t.Errorf("of a page that there is not: %v", err)
	}
	d.State = document.Infected
	if n := must(w.Pages(t.Context(), &d))(t); n != 0 {
		t.Errorf("an infected one has %d pages", n)
	}
}

// The pages of a document are counted once: its page in the portal fetches the file no more.
func TestPagesAreCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	counted := must(w.Find(t.Context(), w.settled(t, certificate, b.Bytes())))(t)
	other := must(w.Find(t.Context(), w.settled(t, certificate, b.Bytes())))(t)
	must(w.Pages(t.Context(), &counted))(t)
	for d, want := range map[*document.Document]int{&counted: 1, &other: 0} {
		if err := w.Files.Delete(t.Context(), d.ID.String()); err != nil {
			t.Fatal(err)
		}
		if n := must(w.Pages(t.Context(), d))(t); n != want {
			t.Errorf("without its file it has %d pages, want %d", n, want)
		}
	}
}
