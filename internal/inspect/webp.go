package inspect

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"
	"golang.org/x/image/webp"
)

// riffChunk is one part of a WebP.
type riffChunk struct {
	kind string
	body []byte
}

// checkWebP reads every chunk and decodes every image.
func checkWebP(data []byte) error {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return WrongType
	}
	size := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if size > int64(len(data)) {
		return Truncated
	}
	if err := checkTrailing(data[size:]); err != nil {
		return err
	}
	chunks, err := riffChunks(data[12:size])
	if err != nil {
		return err
	}
	var all imageTotals
	if err := checkWebPChunks(chunks, &all); err != nil {
		return err
	}
	if all.frames == 0 {
		return Malformed
	}
	return findForeignInImage(data)
}

// riffChunks splits a body into its chunks.
func riffChunks(data []byte) (chunks []riffChunk, err error) {
	for len(data) > 0 {
		if len(data) < 8 {
			return nil, Malformed
		}
		size := int64(binary.LittleEndian.Uint32(data[4:]))
		if size > int64(len(data)-8) {
			return nil, Truncated
		}
		chunks = append(chunks, riffChunk{string(data[:4]), data[8 : 8+size]})
		data = data[min(8+size+size%2, int64(len(data))):]
	}
	return chunks, nil
}

// checkWebPChunks checks the chunks of a file, or of one image of an animation.
func checkWebPChunks(chunks []riffChunk, all *imageTotals) error {
	var alpha []byte
	images := 0
	for _, c := range chunks {
		var err error
		switch c.kind {
		case "VP8 ", "VP8L":
			if images++; images > 1 {
				return Malformed
			}
			err = checkWebPPicture(c, alpha, all)
		case "ALPH":
			alpha = c.body
		case "VP8X":
			if len(c.body) != 10 {
				return Malformed
			}
			err = checkSize(1+int64(uint24(c.body[4:])), 1+int64(uint24(c.body[7:])), 1)
		case "ANMF":
			if len(c.body) < 16 {
				return Malformed
			}
			var inner []riffChunk
			if inner, err = riffChunks(c.body[16:]); err == nil {
				err = checkWebPChunks(inner, all)
			}
		default: // ICCP, EXIF, XMP, ANIM, and chunks that a reader must ignore
			err = findForeignInText(c.body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

// checkWebPPicture decodes one image, wrapped as a file of its own.
func checkWebPPicture(c riffChunk, alpha []byte, all *imageTotals) error {
	var width, height int
	perPixel := int64(12) // a lossless image is decoded in several layers
	if c.kind == "VP8L" {
		config, err := vp8l.DecodeConfig(bytes.NewReader(c.body))
		if err != nil {
			return decodingError(err)
		}
		width, height = config.Width, config.Height
	} else {
		d := vp8.NewDecoder()
		d.Init(bytes.NewReader(c.body), len(c.body))
		head, err := d.DecodeFrameHeader()
		if err != nil {
			return decodingError(err)
		}
		width, height = head.Width, head.Height
		if perPixel = 2; alpha != nil {
			perPixel = 12
		}
	}
	if err := checkSize(int64(width), int64(height), perPixel); err != nil {
		return err
	}
	if err := all.add(int64(width), int64(height)); err != nil {
		return err
	}
	var body []byte
	if alpha != nil && c.kind == "VP8 " {
		canvas := make([]byte, 10)
		canvas[0] = 0x10 // there is an alpha channel
		putUint24(canvas[4:], width-1)
		putUint24(canvas[7:], height-1)
		body = appendRIFF(body, "VP8X", canvas)
		body = appendRIFF(body, "ALPH", alpha)
	}
	body = appendRIFF(body, c.kind, c.body)
	file := appendRIFF(nil, "RIFF", append([]byte("WEBP"), body...))
	_, err := webp.Decode(bytes.NewReader(file))
	return decodingError(err)
}

func putUint24(b []byte, v int) { b[0], b[1], b[2] = byte(v&0xff), byte(v>>8&0xff), byte(v>>16&0xff) }

// appendRIFF writes a chunk.
func appendRIFF(to []byte, kind string, body []byte) []byte {
	to = append(to, kind...)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(body))) //nolint:gosec // at most maxFile
	to = append(to, body...)
	if len(body)%2 == 1 {
		to = append(to, 0)
	}
	return to
}
