package inspect

import (
	"bytes"
	"encoding/binary"
	"image/jpeg"
)

// The markers of JPEG that matter here.
const (
	jpegSOI  = 0xd8
	jpegEOI  = 0xd9
	jpegSOS  = 0xda
	jpegCOM  = 0xfe
	jpegAPP0 = 0xe0
	jpegAPPF = 0xef
	jpegTEM  = 0x01
)

// checkJPEG reads every segment and decodes the image. Cameras may append further
// images to the first (a preview, or a gain map for HDR): each must be a complete
// JPEG and is checked like the first.
func checkJPEG(data []byte) error {
	if !bytes.HasPrefix(data, []byte{0xff, jpegSOI, 0xff}) {
		return WrongType
	}
	if err := findForeignInImage(data); err != nil {
		return err
	}
	var all imageTotals
	for rest := data; ; {
		size, err := checkJPEGPicture(rest, &all)
		if err != nil {
			return err
		}
		rest = rest[size:]
		next := bytes.TrimLeft(rest, "\x00")
		if len(rest)-len(next) <= maxPadding && bytes.HasPrefix(next, []byte{0xff, jpegSOI, 0xff}) {
			rest = next
			continue
		}
		if isCameraTrailer(rest) {
			return findForeignInText(rest)
		}
		return checkTrailing(rest)
	}
}

// checkJPEGPicture checks one image and returns its length.
func checkJPEGPicture(data []byte, all *imageTotals) (size int, err error) {
	head, size, err := readJPEGSegments(data)
	if err != nil {
		return 0, err
	}
	perPixel := head.components
	if head.progressive {
		perPixel *= 5 // the coefficients, and then the pixels
	}
	if head.subsampled {
		perPixel /= 2
	}
	if err := checkSize(head.width, head.height, max(perPixel, 1)); err != nil {
		return 0, err
	}
	if err := all.add(head.width, head.height); err != nil {
		return 0, err
	}
	_, err = jpeg.Decode(bytes.NewReader(data[:size]))
	return size, decodingError(err)
}

// jpegFrame is the frame header of a JPEG.
type jpegFrame struct {
	width, height, components int64
	progressive, subsampled   bool
}

// readJPEGSegments reads the segments up to the end of the image.
func readJPEGSegments(data []byte) (head jpegFrame, size int, err error) {
	at := 2
	scanned := false
	for {
		for at < len(data) && data[at] == 0xff && at+1 < len(data) && data[at+1] == 0xff {
			at++ // fill bytes
		}
		if at+2 > len(data) {
			return head, 0, Truncated
		}
		if data[at] != 0xff {
			return head, 0, Malformed
		}
		marker := data[at+1]
		at += 2
		switch {
		case marker == jpegEOI:
			if head.components == 0 || !scanned {
				return head, 0, Malformed
			}
			return head, at, nil
		case marker == jpegSOI, marker == 0:
			return head, 0, Malformed
		case marker == jpegTEM, isRestart(marker):
			continue
		}
		if at+2 > len(data) {
			return head, 0, Truncated
		}
		length := int(binary.BigEndian.Uint16(data[at:]))
		if length < 2 {
			return head, 0, Malformed
		}
		if at+length > len(data) {
			return head, 0, Truncated
		}
		if err := checkJPEGSegment(marker, data[at:at+length], &head); err != nil {
			return head, 0, err
		}
		at += length
		if marker == jpegSOS {
			scanned = true
			at = skipScan(data, at)
		}
	}
}

func isRestart(marker byte) bool { return marker >= 0xd0 && marker <= 0xd7 }

// isFrame reports whether a marker begins a frame: C0 to CF without those of
// tables (C4, CC) and of an extension (C8).
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// checkJPEGSegment checks a segment, which starts with its length.
func checkJPEGSegment(marker byte, segment []byte, head *jpegFrame) error {
	switch {
	case isFrame(marker):
		if len(segment) < 8 || head.components != 0 {
			return Malformed
		}
		head.height, head.width = int64(binary.BigEndian.Uint16(segment[3:])), int64(binary.BigEndian.Uint16(segment[5:]))
		head.components = int64(segment[7])
		head.progressive = marker != 0xc0 && marker != 0xc1
		if len(segment) < 8+3*int(head.components) || head.components == 0 {
			return Malformed
		}
		for i := range int(head.components) {
			if i > 0 && segment[9+3*i] != segment[9] {
				head.subsampled = true
			}
		}
	case marker == jpegAPP0 && bytes.HasPrefix(segment, []byte("/*")):
		return Polyglot // the length is the start of a comment in JavaScript
	case marker == jpegCOM, marker >= jpegAPP0 && marker <= jpegAPPF:
		return findForeignInText(segment[2:])
	}
	return nil
}

// skipScan returns where the pixels that start at an offset end: at a marker other
// than a restart.
func skipScan(data []byte, at int) int {
	for at < len(data) {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 {
			return len(data)
		}
		at += i
		if at+1 < len(data) && data[at+1] != 0 && data[at+1] != 0xff && !isRestart(data[at+1]) {
			return at
		}
		at++
	}
	return at
}

// isCameraTrailer reports whether the rest of a file is the trailer that Samsung
// phones append to their photographs: blocks, then a directory from SEFH to SEFT
// that locates each block by its distance from the directory.
func isCameraTrailer(rest []byte) bool {
	const maxNotes = 64 << 10
	end, ok := bytes.CutSuffix(rest, []byte("SEFT"))
	if !ok || len(rest) > maxNotes || len(end) < 4 {
		return false
	}
	size := int(binary.LittleEndian.Uint32(end[len(end)-4:]))
	if size < 12 || size > len(end)-4 {
		return false
	}
	start := len(end) - 4 - size
	directory := end[start : start+size]
	count := int(binary.LittleEndian.Uint32(directory[8:]))
	if !bytes.HasPrefix(directory, []byte("SEFH")) || count > 100 || size != 12+12*count {
		return false
	}
	covered := 0
	for i := range count {
		entry := directory[12+12*i:]
		distance, length := int(binary.LittleEndian.Uint32(entry[4:])), int(binary.LittleEndian.Uint32(entry[8:]))
		if distance > start || length > distance {
			return false
		}
		covered += length
	}
	return covered == start
}
