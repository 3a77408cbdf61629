package pageimage

import (
	"bufio"
	"fmt"
	"image"
	"io"
)

// writePixels writes a picture as a portable pixmap, as pdftoppm does.
func writePixels(w io.Writer, p *image.RGBA) error {
	size := p.Bounds().Size()
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "P6\n%d %d\n255\n", size.X, size.Y) // Flush returns its errors
	for i := 0; i+3 < len(p.Pix); i += 4 {
		_, _ = out.Write(p.Pix[i : i+3])
	}
	return out.Flush()
}

// readPixels reads one picture, of which nothing is believed but its pixels: a picture of
// another form, or a larger one, is [ErrFailed]. At the end of all pictures it returns io.EOF.
func readPixels(r *bufio.Reader) (*image.RGBA, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, io.EOF
	}
	var magic [3]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil || string(magic[:]) != "P6\n" {
		return nil, ErrFailed
	}
	var numbers [3]int
	for i, end := range []byte{' ', '\n', '\n'} {
		n, ok := readNumber(r, end)
		if !ok {
			return nil, ErrFailed
		}
		numbers[i] = n
	}
	width, height := numbers[0], numbers[1]
	if width < 1 || height < 1 || width > Side || height > Side || numbers[2] != 255 {
		return nil, ErrFailed
	}
	picture, row := image.NewRGBA(image.Rect(0, 0, width, height)), make([]byte, 3*width)
	for y := range height {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, ErrFailed
		}
		for x := range width {
			at := picture.Pix[y*picture.Stride+4*x:]
			at[0], at[1], at[2], at[3] = row[3*x], row[3*x+1], row[3*x+2], 0xff
		}
	}
	return picture, nil
}

// readNumber reads a number of at most four digits and the byte that ends it.
func readNumber(r *bufio.Reader, end byte) (n int, ok bool) {
	for range 5 {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return 0, false
		case c == end:
			return n, true
		case c < '0' || c > '9':
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return 0, false
}
