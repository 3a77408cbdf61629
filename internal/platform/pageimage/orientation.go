package pageimage

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation returns how a camera was held, from 1 to 8 as Exif says; 1, upright, if the
// file does not say it.
func orientation(file []byte) int {
	const marker, tag = 0xe1, 0x0112
	for at := 2; at+4 <= len(file) && file[at] == 0xff && file[at+1] != 0xda; {
		length := int(binary.BigEndian.Uint16(file[at+2:]))
		if length < 2 || at+2+length > len(file) {
			return 1
		}
		segment := file[at+4 : at+2+length]
		if file[at+1] == marker {
			if exif, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok {
				return int(shortField(exif, tag, 1))
			}
		}
		at += 2 + length
	}
	return 1
}

// shortField returns a field of the first directory of an Exif block, or otherwise if it is
// not there or is no orientation.
func shortField(exif []byte, tag, otherwise uint16) uint16 {
	const header, entrySize = 8, 12
	if len(exif) < header {
		return otherwise
	}
	var order binary.ByteOrder = binary.BigEndian
	if exif[0] == 'I' {
		order = binary.LittleEndian
	}
	start := int64(order.Uint32(exif[4:]))
	if start+2 > int64(len(exif)) {
		return otherwise
	}
	count := int64(order.Uint16(exif[start:]))
	for i := range count {
		at := start + 2 + i*entrySize
		if at+entrySize > int64(len(exif)) {
			return otherwise
		}
		if entry := exif[at : at+entrySize]; order.Uint16(entry) == tag {
			if value := order.Uint16(entry[8:]); value >= 1 && value <= 8 {
				return value
			}
			return otherwise
		}
	}
	return otherwise
}

// turn returns a picture upright, given how the camera was held.
func turn(p *image.RGBA, orientation int) *image.RGBA {
	if orientation <= 1 {
		return p
	}
	width, height := p.Bounds().Dx(), p.Bounds().Dy()
	size := image.Pt(width, height)
	if orientation >= 5 { // on its side
		size = image.Pt(height, width)
	}
	upright := image.NewRGBA(image.Rectangle{Max: size})
	for y := range height {
		for x := range width {
			to := [...]image.Point{
				2: {width - 1 - x, y}, 3: {width - 1 - x, height - 1 - y}, 4: {x, height - 1 - y},
				5: {y, x}, 6: {height - 1 - y, x}, 7: {height - 1 - y, width - 1 - x}, 8: {y, width - 1 - x},
			}[orientation]
			upright.SetRGBA(to.X, to.Y, p.RGBAAt(x, y))
		}
	}
	return upright
}
