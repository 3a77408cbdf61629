package inspect

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"errors"
	"io"
)

// The blocks of a GIF.
const (
	gifExtension = 0x21
	gifPicture   = 0x2c
	gifTrailer   = 0x3b

	gifPlainText   = 0x01
	gifControl     = 0xf9
	gifComment     = 0xfe
	gifApplication = 0xff
)

// gifMaxTrailing is how many bytes may follow the last pixel of an image: the end
// code, and padding of careless writers.
const gifMaxTrailing = 8

// checkGIF reads every block and decodes every image, one after the other.
func checkGIF(data []byte) error {
	if !bytes.HasPrefix(data, []byte("GIF87a")) && !bytes.HasPrefix(data, []byte("GIF89a")) {
		return WrongType
	}
	if len(data) < 13 {
		return Truncated
	}
	// A width and height that JavaScript reads as the beginning of a comment or
	// of an assignment, so that the whole file is a script.
	if screen := data[6:10]; (bytes.Contains(screen, []byte("/*")) || screen[0] == '=') && bytes.Contains(data, []byte("*/")) {
		return Polyglot
	}
	if err := checkSize(int64(binary.LittleEndian.Uint16(data[6:])), int64(binary.LittleEndian.Uint16(data[8:])), 1); err != nil {
		return err
	}
	at := 13 + gifPalette(data[10])
	var all imageTotals
	for {
		if at >= len(data) {
			return Truncated
		}
		block := data[at]
		at++
		var err error
		switch block {
		case gifTrailer:
			if all.frames == 0 {
				return Malformed
			}
			if err := checkTrailing(data[at:]); err != nil {
				return err
			}
			return findForeignInImage(data)
		case gifExtension:
			at, err = checkGIFExtension(data, at)
		case gifPicture:
			at, err = checkGIFPicture(data, at, &all)
		default:
			err = Malformed
		}
		if err != nil {
			return err
		}
	}
}

// gifPalette returns the size of the colour table that the flags announce, in bytes.
func gifPalette(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// gifBlocks joins the sub-blocks at an offset and returns where they end.
func gifBlocks(data []byte, at int) (joined []byte, end int, err error) {
	for {
		if at >= len(data) {
			return nil, 0, Truncated
		}
		size := int(data[at])
		at++
		if size == 0 {
			return joined, at, nil
		}
		if at+size > len(data) {
			return nil, 0, Truncated
		}
		joined = append(joined, data[at:at+size]...)
		at += size
	}
}

func checkGIFExtension(data []byte, at int) (end int, err error) {
	if at >= len(data) {
		return 0, Truncated
	}
	label := data[at]
	body, end, err := gifBlocks(data, at+1)
	if err != nil {
		return 0, err
	}
	switch label {
	case gifControl, gifPlainText, gifComment, gifApplication:
		return end, findForeignInText(body)
	default:
		return 0, Malformed
	}
}

func checkGIFPicture(data []byte, at int, all *imageTotals) (end int, err error) {
	if at+10 > len(data) {
		return 0, Truncated
	}
	width, height := int64(binary.LittleEndian.Uint16(data[at+4:])), int64(binary.LittleEndian.Uint16(data[at+6:]))
	if err := checkSize(width, height, 1); err != nil {
		return 0, err
	}
	if err := all.add(width, height); err != nil {
		return 0, err
	}
	at += 9 + gifPalette(data[at+8])
	if at >= len(data) {
		return 0, Truncated
	}
	width0 := int(data[at])
	if width0 < 1 || width0 > 8 {
		return 0, Malformed
	}
	packed, end, err := gifBlocks(data, at+1)
	if err != nil {
		return 0, err
	}
	r := bytes.NewReader(packed)
	pixels, err := io.Copy(io.Discard, io.LimitReader(lzw.NewReader(r, lzw.LSB, width0), width*height))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, Malformed
	}
	if pixels < width*height {
		return 0, Truncated
	}
	if r.Len() > gifMaxTrailing {
		return 0, Polyglot
	}
	return end, nil
}
