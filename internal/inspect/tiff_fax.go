package inspect

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/image/ccitt"
)

// unpackFax unpacks CCITT fax compression.
func (p *tiffPage) unpackFax(packed []byte, width, rows int64) error {
	if p.compression == tiffHuffman || (p.compression == tiffG3 && p.t4&1 != 0) {
		return Unreadable // the decoder does not support these
	}
	if p.compression == tiffG4 {
		return unpackFaxRows(packed, ccitt.Group4, width, rows)
	}
	// The decoder does not support the zeros that pad a row of group 3 to a byte, so
	// it gets each row separately.
	for row := range faxRows(packed) {
		if rows == 0 {
			break
		}
		if err := unpackFaxRows(row, ccitt.Group3, width, 1); err != nil {
			return err
		}
		rows--
	}
	if rows > 0 {
		return Truncated
	}
	return nil
}

func unpackFaxRows(packed []byte, format ccitt.SubFormat, width, rows int64) error {
	size := (width + 7) / 8 * rows
	r := ccitt.NewReader(bytes.NewReader(packed), ccitt.MSB, format, int(width), int(rows), &ccitt.Options{})
	n, err := io.Copy(io.Discard, io.LimitReader(r, size))
	switch {
	case n == size:
		return nil
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return Truncated
	default:
		return Malformed
	}
}

// faxRows splits group 3 data into rows at the end-of-line codes: eleven zeros or
// more, and a one. Each row is returned with such a code before it.
func faxRows(packed []byte) func(yield func(row []byte) bool) {
	const zerosOfEnd = 11
	return func(yield func([]byte) bool) {
		row, used := []byte{0, 0x10}, 12 // the code, and then the row
		zeros := 0
		for i := range 8 * len(packed) {
			bit := packed[i/8] >> (7 - i%8) & 1
			if bit == 1 && zeros >= zerosOfEnd {
				if used-zeros > 12 && !yield(row) { // empty rows mark the end of the page
					return
				}
				row, used, zeros = []byte{0, 0x10}, 12, 0
				continue
			}
			if zeros++; bit == 1 {
				zeros = 0
			}
			if used%8 == 0 {
				row = append(row, 0)
			}
			row[used/8] |= bit << (7 - used%8)
			used++
		}
		if used-zeros > 12 {
			yield(row)
		}
	}
}
