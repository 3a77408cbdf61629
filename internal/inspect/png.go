package inspect

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/png"
	"io"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngChunk is one part of a PNG.
type pngChunk struct {
	kind string
	body []byte
}

// checkPNG reads every chunk and every image of an animation.
func checkPNG(data []byte) error {
	if !bytes.HasPrefix(data, []byte(pngSignature)) {
		return WrongType
	}
	chunks, rest, err := pngChunks(data[len(pngSignature):])
	if err != nil {
		return err
	}
	if err := checkTrailing(rest); err != nil {
		return err
	}
	for _, c := range chunks {
		if err := checkPNGChunk(c); err != nil {
			return err
		}
	}
	if err := checkPNGPictures(chunks); err != nil {
		return err
	}
	return findForeignInImage(data)
}

// pngChunks splits a PNG into its chunks, up to IEND.
func pngChunks(data []byte) (chunks []pngChunk, rest []byte, err error) {
	for {
		if len(data) < 12 {
			return nil, nil, Truncated
		}
		size := int64(binary.BigEndian.Uint32(data))
		if size > int64(len(data)-12) {
			return nil, nil, Truncated
		}
		c := pngChunk{string(data[4:8]), data[8 : 8+size]}
		if binary.BigEndian.Uint32(data[8+size:]) != crc32.ChecksumIEEE(data[4:8+size]) {
			return nil, nil, Malformed
		}
		data = data[12+size:]
		if (len(chunks) == 0) != (c.kind == "IHDR") {
			return nil, nil, Malformed
		}
		chunks = append(chunks, c)
		if c.kind == "IEND" {
			if size != 0 {
				return nil, nil, Polyglot
			}
			return chunks, data, nil
		}
	}
}

// checkPNGChunk checks a chunk on its own.
func checkPNGChunk(c pngChunk) error {
	switch c.kind {
	case "IHDR", "PLTE", "IDAT", "IEND", "fdAT":
		return nil
	case "tEXt", "iTXt", "zTXt", "iCCP":
		if err := findForeignInText(c.body); err != nil {
			return err
		}
		return checkPNGText(c)
	}
	for _, r := range c.kind {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return Malformed
		}
	}
	if c.kind[0] < 'a' {
		return Malformed // an unknown critical chunk
	}
	return findForeignInText(c.body)
}

// checkPNGText checks a text, which may be compressed.
func checkPNGText(c pngChunk) error {
	keyword, packed, ok := bytes.Cut(c.body, []byte{0})
	if !ok || len(keyword) == 0 || len(keyword) > 79 {
		return Malformed
	}
	switch c.kind {
	case "tEXt":
		return nil
	case "iTXt":
		if len(packed) < 2 {
			return Malformed
		}
		compressed := packed[0] == 1
		if !compressed {
			return nil
		}
		parts := bytes.SplitN(packed[2:], []byte{0}, 3)
		if len(parts) < 3 {
			return Malformed
		}
		packed = parts[2]
	default: // zTXt and iCCP: the method, then the data
		if len(packed) < 1 || packed[0] != 0 {
			return Malformed
		}
		packed = packed[1:]
	}
	plain, err := inflate(packed, maxText)
	if err != nil {
		return err
	}
	return findForeignInText(plain)
}

// inflate unpacks a zlib stream, which must end where data ends.
func inflate(packed []byte, limit int64) ([]byte, error) {
	r := bytes.NewReader(packed)
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, decodingError(err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, decodingError(err)
	}
	if int64(len(plain)) > limit {
		return nil, TooComplex
	}
	if r.Len() > 0 {
		return nil, Polyglot
	}
	return plain, nil
}

// checkPNGPictures decodes the image, and those of an animation.
func checkPNGPictures(chunks []pngChunk) error {
	head := chunks[0].body
	if len(head) != 13 {
		return Malformed
	}
	var palette, pixels []byte // palette: PLTE and tRNS as in the file
	var all imageTotals
	var frame []byte // of fcTL
	var moving []byte
	flush := func() error {
		if frame == nil || len(moving) == 0 {
			return nil
		}
		head := append(bytes.Clone(frame), head[8:]...)
		defer func() { frame, moving = nil, nil }()
		return checkPNGPicture(head, palette, moving, &all)
	}
	ended := false
	for i, c := range chunks {
		switch c.kind {
		case "PLTE", "tRNS":
			palette = appendPNGChunk(palette, c.kind, c.body)
		case "IDAT":
			if ended {
				return Malformed // a second group of pixels can hide data
			}
			pixels = append(pixels, c.body...)
			ended = chunks[i+1].kind != "IDAT"
		case "fcTL":
			if err := flush(); err != nil {
				return err
			}
			if len(c.body) != 26 {
				return Malformed
			}
			frame = c.body[4:12]
		case "fdAT":
			if len(c.body) < 4 || frame == nil {
				return Malformed
			}
			moving = append(moving, c.body[4:]...)
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return checkPNGPicture(head, palette, pixels, &all)
}

// checkPNGPicture decodes one image, and checks that its compressed data ends
// where the chunks end.
func checkPNGPicture(head, palette, pixels []byte, all *imageTotals) error {
	width, height := int64(binary.BigEndian.Uint32(head)), int64(binary.BigEndian.Uint32(head[4:]))
	perPixel := int64(4)
	if head[8] == 16 {
		perPixel = 8
	}
	if head[12] != 0 { // interlaced: the passes are decoded separately
		perPixel = perPixel * 3 / 2
	}
	if err := checkSize(width, height, perPixel); err != nil {
		return err
	}
	if err := all.add(width, height); err != nil {
		return err
	}
	r := bytes.NewReader(pixels)
	z, err := zlib.NewReader(r)
	if err != nil {
		return decodingError(err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(z, 9*width*height+8*height+1<<16)); err != nil {
		return decodingError(err)
	} else if n >= 9*width*height+8*height+1<<16 {
		return TooComplex
	}
	if r.Len() > 0 {
		return Polyglot
	}
	plain := []byte(pngSignature)
	plain = appendPNGChunk(plain, "IHDR", head)
	plain = append(plain, palette...)
	plain = appendPNGChunk(plain, "IDAT", pixels)
	plain = appendPNGChunk(plain, "IEND", nil)
	_, err = png.Decode(bytes.NewReader(plain))
	var unsupported png.UnsupportedError
	if errors.As(err, &unsupported) {
		return Malformed // the decoder supports everything in the format
	}
	return decodingError(err)
}

// appendPNGChunk writes a chunk.
func appendPNGChunk(to []byte, kind string, body []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(body))) //nolint:gosec // at most maxFile
	start := len(to)
	to = append(append(to, kind...), body...)
	return binary.BigEndian.AppendUint32(to, crc32.ChecksumIEEE(to[start:]))
}
