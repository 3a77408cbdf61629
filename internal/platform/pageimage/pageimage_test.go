package pageimage_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	os.Exit(m.Run())
}

// twoPages is a PDF whose first page is upright and black below, and whose second is lying.
func twoPages() []byte {
	const fill = "0 0 200 150 re f"
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 5 0 R>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 5 0 R>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(fill), fill),
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%sendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func draw(t *testing.T, file []byte, mediaType string, page int) image.Image {
	t.Helper()
	text, err := new(pageimage.Drawer).Draw(t.Context(), bytes.NewReader(file), mediaType, page)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := jpeg.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func isDark(p image.Image, x, y int) bool {
	r, _, _, _ := p.At(x, y).RGBA()
	return r < 0x8000
}

// The pages of a PDF are drawn one by one, as they are shown.
func TestPagesOfAPDFAreDrawn(t *testing.T) {
	t.Parallel()
	file := twoPages()
	n, err := new(pageimage.Drawer).Pages(t.Context(), bytes.NewReader(file), "application/pdf")
	if err != nil || n != 2 {
		t.Fatalf("%d pages, %v", n, err)
	}
	first := draw(t, file, "application/pdf", 1)
	if first.Bounds().Size() != image.Pt(800, 1200) || isDark(first, 400, 100) || !isDark(first, 400, 1100) {
		t.Errorf("the first page is %v, dark above %t, dark below %t", first.Bounds().Size(), isDark(first, 400, 100), isDark(first, 400, 1100))
	}
	if second := draw(t, file, "application/pdf", 2); second.Bounds().Size() != image.Pt(1200, 800) {
		t.Errorf("the second page is %v", second.Bounds().Size())
	}
	if _, err := new(pageimage.Drawer).Draw(t.Context(), bytes.NewReader(file), "application/pdf", 3); !errors.Is(err, pageimage.ErrFailed) {
		t.Errorf("of a page that there is not: %v", err)
	}
	if _, err := new(pageimage.Drawer).Pages(t.Context(), strings.NewReader("no PDF"), "application/pdf"); !errors.Is(err, pageimage.ErrFailed) {
		t.Errorf("of a file that is none: %v", err)
	}
}

// Where poppler is missing there are no pictures of PDF, and images are drawn all the same.
func TestWithoutPopplerOnlyImagesAreDrawn(t *testing.T) {
	t.Parallel()
	d := &pageimage.Drawer{Tools: t.TempDir()}
	if d.CanDraw("application/pdf") || !d.CanDraw("image/png") || d.CanDraw("text/plain") {
		t.Error("CanDraw says otherwise")
	}
	if _, err := d.Draw(t.Context(), bytes.NewReader(twoPages()), "application/pdf", 1); !errors.Is(err, pageimage.ErrNone) {
		t.Errorf("a PDF: %v", err)
	}
}

// marked is an image of 30 by 20 pixels, dark at the left third.
func marked() image.Image {
	p := image.NewGray(image.Rect(0, 0, 30, 20))
	for y := range 20 {
		for x := 10; x < 30; x++ {
			p.SetGray(x, y, color.Gray{255})
		}
	}
	return p
}

// A photograph is shown upright, however the camera was held.
func TestOrientationOfTheCameraIsHonoured(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, marked(), nil); err != nil {
		t.Fatal(err)
	}
	for held, c := range map[byte]struct {
		size image.Point
		dark image.Point
	}{
		1: {image.Pt(30, 20), image.Pt(2, 10)}, 2: {image.Pt(30, 20), image.Pt(27, 10)}, 3: {image.Pt(30, 20), image.Pt(27, 10)}, 4: {image.Pt(30, 20), image.Pt(2, 10)},
		5: {image.Pt(20, 30), image.Pt(10, 2)}, 6: {image.Pt(20, 30), image.Pt(10, 2)}, 7: {image.Pt(20, 30), image.Pt(10, 27)}, 8: {image.Pt(20, 30), image.Pt(10, 27)},
		9: {image.Pt(30, 20), image.Pt(2, 10)}, // no orientation
	} {
		for order, field := range map[string]string{
			"MM": "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(held) + "\x00\x00\x00\x00\x00\x00",
			"II": "II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(held) + "\x00\x00\x00\x00\x00\x00\x00",
		} {
			exif := "Exif\x00\x00" + field
			file := "\xff\xd8\xff\xe1" + string([]byte{0, byte(len(exif) + 2)}) + exif + b.String()[2:]
			p := draw(t, []byte(file), "image/jpeg", 1)
			if p.Bounds().Size() != c.size || !isDark(p, c.dark.X, c.dark.Y) || isDark(p, c.size.X/2, c.size.Y/2) {
				t.Errorf("held %d, %s: %v", held, order, p.Bounds().Size())
			}
		}
	}
}

// A large image becomes a small one, what is transparent is white, and one that claims too
// many pixels or is cut off is refused.
func TestImagesAreBounded(t *testing.T) {
	t.Parallel()
	glass := image.NewNRGBA(image.Rect(0, 0, 40, 3000))
	glass.SetNRGBA(0, 0, color.NRGBA{R: 1, A: 1}) // or it would be no picture with an alpha channel
	var b bytes.Buffer
	if err := png.Encode(&b, glass); err != nil {
		t.Fatal(err)
	}
	if p := draw(t, b.Bytes(), "image/png", 1); p.Bounds().Size() != image.Pt(16, pageimage.Side) || isDark(p, 8, 10) {
		t.Errorf("it is %v", p.Bounds().Size())
	}
	if _, err := new(pageimage.Drawer).Draw(t.Context(), bytes.NewReader(b.Bytes()[:60]), "image/png", 1); !errors.Is(err, pageimage.ErrFailed) {
		t.Errorf("cut off: %v", err)
	}
	huge := bytes.Clone(b.Bytes())
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65,536 by 65,536, with a wrong checksum
	if _, err := new(pageimage.Drawer).Draw(t.Context(), bytes.NewReader(huge), "image/png", 1); err == nil {
		t.Error("a huge image is drawn")
	}
}

// liar takes poppler's place: a program that a file has taken over. It writes the file; of an
// empty one a picture that is as wide as its environment is long, GOTRACEBACK and GOMAXPROCS.
const liar = `
#include <stdio.h>
extern char **environ;
int main(void) {
	int c, n = 0, empty = 1;
	for (; (c = getchar()) != EOF; empty = 0) putchar(c);
	for (; environ[n]; n++);
	if (empty) printf("P6\n%d 1\n255\nabcdef", n);
	return 0;
}`

// Whatever the process writes, only pixels of an acceptable size come out, and this process
// has encoded them; the process has none of the environment of the service.
func TestOnlyPixelsComeOut(t *testing.T) {
	t.Setenv("LINEPROOF_PEPPERS", "a secret")
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "gcc", "-static", "-x", "c", "-o", dir+"/pdftoppm", "-")
	build.Stdin = strings.NewReader(liar)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := os.Link(dir+"/pdftoppm", dir+"/pdfinfo"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"\xff\xd8\xff\xe0 a picture that a stranger has prepared": "",
		"<script>alert(1)</script>":                               "",
		"P6\n99999 99999\n255\n":                                  "",
		"P6\n1201 1\n255\n" + strings.Repeat("x", 3603):           "",
		"P6\n2 2\n255\nxxx":                                       "",
		"P6\n0 0\n255\n":                                          "",
		"P6\n# 1\n2 2\n255\nxxxxxxxxxxxx":                         "",
		"P6\n2 2\n256\nxxxxxxxxxxxx":                              "",
		"P6\n-1 2\n255\nxxxxxxxxxxxx":                             "",
		"P6\n2 1\n255\nabcdef":                                    "(2,1)",
		"P6\n2 1\n255\nabcdef" + strings.Repeat("more", 1<<20):    "(2,1)",
		"": "(2,1)",
	} {
		picture, err := (&pageimage.Drawer{Tools: dir}).Draw(t.Context(), strings.NewReader(text), "application/pdf", 1)
		if want == "" {
			if !errors.Is(err, pageimage.ErrFailed) || picture != nil {
				t.Errorf("%.40q: %d bytes, %v", text, len(picture), err)
			}
			continue
		}
		p, err := jpeg.Decode(bytes.NewReader(picture))
		if err != nil || p.Bounds().Size().String() != want {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// A download is a PDF of pictures that poppler reads, page by page.
func TestBookIsAPDFOfPictures(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	book := pageimage.NewBook(&out)
	if n, err := new(pageimage.Drawer).DrawAll(t.Context(), bytes.NewReader(twoPages()), "application/pdf", book.Add); n != 2 || err != nil {
		t.Fatalf("%d pages, %v", n, err)
	}
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := new(pageimage.Drawer).Pages(t.Context(), bytes.NewReader(out.Bytes()), "application/pdf"); n != 2 || err != nil {
		t.Errorf("it has %d pages, %v", n, err)
	}
	first := draw(t, out.Bytes(), "application/pdf", 1)
	if size := first.Bounds().Size(); size.Y != 1200 || isDark(first, size.X/2, 100) || !isDark(first, size.X/2, 1100) {
		t.Errorf("the first page is %v", size)
	}
}
