package pageimage

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"io"
)

// paper is the longer side of a page of a Book: that of A4, in points.
const paper = 842

// Book writes a PDF whose pages are pictures, and that has nothing else: it is what people
// download in place of a document.
type Book struct {
	out     io.Writer
	written int64
	offsets []int64 // of the objects, the first of which is 1
	pages   []int   // the numbers of their objects
	err     error
}

// NewBook begins a PDF.
func NewBook(out io.Writer) *Book {
	b := &Book{out: out, offsets: make([]int64, 2)} // the catalog and the list of pages come last
	b.print("%%PDF-1.4\n")
	return b
}

func (b *Book) print(format string, args ...any) { b.write(fmt.Appendf(nil, format, args...)) }

func (b *Book) write(text []byte) {
	if b.err != nil {
		return
	}
	n, err := b.out.Write(text)
	b.written += int64(n)
	b.err = err
}

// begin begins an object and returns its number.
func (b *Book) begin(number int) int {
	if number == 0 {
		b.offsets = append(b.offsets, 0)
		number = len(b.offsets)
	}
	b.offsets[number-1] = b.written
	b.print("%d 0 obj\n", number)
	return number
}

// stream writes an object with a stream and returns its number.
func (b *Book) stream(dictionary string, content []byte) int {
	number := b.begin(0)
	b.print("<<%s/Length %d>>stream\n", dictionary, len(content))
	b.write(content)
	b.print("\nendstream\nendobj\n")
	return number
}

// Add adds a page with a JPEG, which a Drawer has made.
func (b *Book) Add(picture []byte) error {
	config, err := jpeg.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return fmt.Errorf("pageimage: add a page: %w", err)
	}
	longer := max(config.Width, config.Height)
	width, height := max(1, config.Width*paper/longer), max(1, config.Height*paper/longer)
	image := b.stream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode",
		config.Width, config.Height), picture)
	content := b.stream("", fmt.Appendf(nil, "%d 0 0 %d 0 0 cm /P Do", width, height))
	b.pages = append(b.pages, b.begin(0))
	b.print("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<</XObject<</P %d 0 R>>>>/Contents %d 0 R>>\nendobj\n", width, height, image, content)
	return b.err
}

// Close ends the PDF.
func (b *Book) Close() error {
	b.begin(1)
	b.print("<</Type/Catalog/Pages 2 0 R>>\nendobj\n")
	b.begin(2)
	b.print("<</Type/Pages/Count %d/Kids[", len(b.pages))
	for _, page := range b.pages {
		b.print("%d 0 R ", page)
	}
	b.print("]>>\nendobj\n")
	start := b.written
	b.print("xref\n0 %d\n0000000000 65535 f \n", len(b.offsets)+1)
	for _, at := range b.offsets {
		b.print("%010d 00000 n \n", at)
	}
	b.print("trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(b.offsets)+1, start)
	return b.err
}
