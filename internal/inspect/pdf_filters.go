package inspect

import (
	"bytes"
	"io"
)

// hexReader reads pairs of digits up to a closing bracket.
type hexReader struct {
	r    io.Reader
	rest []byte // a digit without its second
	done bool
}

func (h *hexReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for !h.done {
		chunk := make([]byte, min(2*len(p)-1, 4096))
		n, err := h.r.Read(chunk)
		digits := h.rest
		for _, c := range chunk[:n] {
			switch {
			case c == '>':
				h.done = true
			case isDigit(c), c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
				digits = append(digits, c)
			case !isSpace(c):
				return 0, Malformed
			}
			if h.done {
				break
			}
		}
		if err != nil {
			h.done = true
		}
		keep := 0
		if !h.done {
			keep = len(digits) % 2
		}
		h.rest = bytes.Clone(digits[len(digits)-keep:])
		if plain := unhex(bytes.Clone(digits[:len(digits)-keep])); len(plain) > 0 {
			return copy(p, plain), nil
		}
	}
	return 0, io.EOF
}

// ascii85Trimmer ends at ~> and skips a leading <~, which the decoder does not
// support.
type ascii85Trimmer struct {
	r    io.Reader
	done bool
}

func (a *ascii85Trimmer) Read(p []byte) (int, error) {
	if a.done {
		return 0, io.EOF
	}
	n, err := a.r.Read(p)
	if i := bytes.IndexByte(p[:n], '~'); i >= 0 {
		a.done = true
		n, err = i, nil
	}
	for i, c := range p[:n] {
		if c == 0 || c == '\f' {
			p[i] = ' '
		}
	}
	return n, err
}

// runLength unpacks runs of bytes up to a byte of 128.
type runLength struct {
	r    io.ByteReader
	left int
	same bool
	b    byte
	done bool
}

func (l *runLength) Read(p []byte) (n int, err error) {
	for n < len(p) && !l.done {
		if l.left == 0 {
			head, err := l.r.ReadByte()
			if err != nil || head == 128 {
				l.done = true
				break
			}
			if l.left, l.same = int(head)+1, false; head > 128 {
				l.left, l.same = 257-int(head), true
				if l.b, err = l.r.ReadByte(); err != nil {
					return n, io.ErrUnexpectedEOF
				}
			}
		}
		if !l.same {
			if l.b, err = l.r.ReadByte(); err != nil {
				return n, io.ErrUnexpectedEOF
			}
		}
		p[n] = l.b
		n++
		l.left--
	}
	if n == 0 && l.done {
		return 0, io.EOF
	}
	return n, nil
}

// predicted reverses the PNG prediction of rows. The TIFF prediction does not
// change the length and is used for pixels only.
func predicted(r io.Reader, params pdfDict) io.Reader {
	number := func(key pdfName, without int) int {
		if n, ok := params.get(key).(pdfNumber); ok {
			return int(n)
		}
		return without
	}
	if number("Predictor", 1) < 10 {
		return r
	}
	colours, bits, columns := number("Colors", 1), number("BitsPerComponent", 8), number("Columns", 1)
	if colours < 1 || colours > 64 || bits < 1 || bits > 32 || columns < 1 || columns > maxPDFPixels {
		return failingReader{Malformed}
	}
	row := (colours*bits*columns + 7) / 8
	if row > maxPredictors {
		return r // rows this long are pixels, which are not read
	}
	return &predictor{r: r, step: max(1, colours*bits/8), row: make([]byte, row), above: make([]byte, row)}
}

// predictor reverses the prediction row by row.
type predictor struct {
	r          io.Reader
	step       int // bytes per pixel
	row, above []byte
	out        []byte // rest of the row, not returned yet
}

func (p *predictor) Read(to []byte) (int, error) {
	if len(p.out) == 0 {
		if err := p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(to, p.out)
	p.out = p.out[n:]
	return n, nil
}

func (p *predictor) next() error {
	var kind [1]byte
	if _, err := io.ReadFull(p.r, kind[:]); err != nil {
		return err
	}
	p.row, p.above = p.above, p.row
	n, err := io.ReadFull(p.r, p.row)
	if n == 0 {
		return io.EOF
	}
	if err != nil {
		clear(p.row[n:]) // the last row may be short
	}
	for i := range p.row {
		var left, upperLeft byte
		if i >= p.step {
			left, upperLeft = p.row[i-p.step], p.above[i-p.step]
		}
		switch up := p.above[i]; kind[0] {
		case 0:
		case 1:
			p.row[i] += left
		case 2:
			p.row[i] += up
		case 3:
			p.row[i] += byte((int(left) + int(up)) / 2 & 0xff)
		case 4:
			p.row[i] += paeth(left, up, upperLeft)
		default:
			return Malformed
		}
	}
	p.out = p.row[:n]
	return nil
}

// paeth is the neighbour that is nearest to left + up - upperLeft.
func paeth(left, up, upperLeft byte) byte {
	estimate := int(left) + int(up) - int(upperLeft)
	a, b, c := distance(estimate, left), distance(estimate, up), distance(estimate, upperLeft)
	switch {
	case a <= b && a <= c:
		return left
	case b <= c:
		return up
	default:
		return upperLeft
	}
}

func distance(n int, c byte) int {
	if d := n - int(c); d > 0 {
		return d
	}
	return int(c) - n
}
