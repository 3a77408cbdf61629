package corpus

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// chunk is a part of a PNG or of a WebP.
type chunk struct {
	kind string
	body []byte
}

// pngHead is the IHDR of a PNG.
func pngHead(width, height uint32, depth, colours, interlaced byte) chunk {
	head := binary.BigEndian.AppendUint32(nil, width)
	head = binary.BigEndian.AppendUint32(head, height)
	return chunk{"IHDR", append(head, depth, colours, 0, 0, interlaced)}
}

// pngFile joins chunks to a file.
func pngFile(chunks ...chunk) []byte {
	file := []byte(pngSignature)
	for _, c := range append(chunks, chunk{"IEND", nil}) {
		file = binary.BigEndian.AppendUint32(file, uint32(len(c.body)))
		start := len(file)
		file = append(append(file, c.kind...), c.body...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[start:]))
	}
	return file
}

// pngWidth is how many dots a row of the PNGs has.
const pngWidth = 23

// pngPixels are the packed pixels of a PNG of any kind. Each row is filtered in
// another way.
func pngPixels(height int, depth, colours, interlaced byte) []byte {
	const width = pngWidth
	perDot := int(depth) * map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colours]
	passes := [][4]int{{0, 0, 1, 1}}
	if interlaced == 1 {
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	var plain []byte
	for _, p := range passes {
		columns, rows := (width-p[0]+p[2]-1)/p[2], (height-p[1]+p[3]-1)/p[3]
		if columns <= 0 {
			continue
		}
		for y := range max(rows, 0) {
			plain = append(plain, byte(y%5))
			for x := range (columns*perDot + 7) / 8 {
				if colours == 3 {
					plain = append(plain, 0) // the first colour
				} else {
					plain = append(plain, byte(x*7+y*3))
				}
			}
		}
	}
	return plain
}

// aPNG is a PNG of any kind, with further chunks before the pixels.
func aPNG(depth, colours, interlaced byte, extra ...chunk) []byte {
	const width, height = pngWidth, 17
	chunks := []chunk{pngHead(width, height, depth, colours, interlaced)}
	if colours == 3 {
		chunks = append(chunks, chunk{"PLTE", make([]byte, 3<<min(depth, 4))})
	}
	chunks = append(chunks, extra...)
	return pngFile(append(chunks, chunk{"IDAT", deflate(pngPixels(height, depth, colours, interlaced))})...)
}

// drawing is a small picture in colour.
func drawing(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetRGBA(x, y, color.RGBA{byte(x * 5), byte(y * 7), byte(x ^ y), 255})
		}
	}
	return m
}

// aJPEG is a JPEG with further segments behind its first marker.
func aJPEG(m image.Image, quality int, segments ...[]byte) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	file := bytes.Clone(b.Bytes()[:2])
	for _, s := range segments {
		file = append(file, s...)
	}
	return append(file, b.Bytes()[2:]...)
}

// segment is a segment of a JPEG.
func segment(marker byte, body []byte) []byte {
	s := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(s, body...)
}

// jpegSize returns a JPEG that claims another size.
func jpegSize(file []byte, width, height uint16) []byte {
	file = bytes.Clone(file)
	i := bytes.Index(file, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(file[i+5:], height)
	binary.BigEndian.PutUint16(file[i+7:], width)
	return file
}

// aGIF is a GIF of some pictures.
func aGIF(frames int, config image.Config) []byte {
	palette := color.Palette{color.Black, color.White, color.RGBA{200, 0, 0, 255}, color.Transparent}
	g := &gif.GIF{Config: config}
	for i := range frames {
		m := image.NewPaletted(image.Rect(0, 0, 24, 16), palette)
		for j := range m.Pix {
			m.Pix[j] = byte((i + j) % len(palette))
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 10)
	}
	var b bytes.Buffer
	_ = gif.EncodeAll(&b, g)
	return b.Bytes()
}

// gifWith puts an extension of a GIF before its trailer.
func gifWith(file []byte, label byte, parts ...[]byte) []byte {
	file = append(bytes.Clone(file[:len(file)-1]), 0x21, label)
	for _, part := range parts {
		for len(part) > 0 {
			n := min(len(part), 255)
			file = append(append(file, byte(n)), part[:n]...)
			part = part[n:]
		}
	}
	return append(file, 0, 0x3b)
}

// riff writes the chunks of a WebP.
func riff(chunks ...chunk) []byte {
	body := []byte("WEBP")
	for _, c := range chunks {
		body = appendRIFF(body, c)
	}
	return appendRIFF(nil, chunk{"RIFF", body})
}

func appendRIFF(to []byte, c chunk) []byte {
	to = append(to, c.kind...)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(c.body)))
	to = append(to, c.body...)
	if len(c.body)%2 == 1 {
		to = append(to, 0)
	}
	return to
}

// lossless is a picture of two colours as WebP packs it without loss.
func lossless(width, height int, alpha bool) chunk {
	var b reversed
	b.put(0x2f, 8)
	b.put(width-1, 14)
	b.put(height-1, 14)
	hasAlpha := 0
	if alpha {
		hasAlpha = 1
	}
	b.put(hasAlpha, 1)
	b.put(0, 3) // the version
	b.put(0, 1) // no transform
	b.put(0, 1) // no cache of colours
	b.put(0, 1) // one set of codes
	for _, symbols := range [][]int{{0x20, 0xe0}, {0x40}, {0x60}, {0xff}, {0}} {
		b.put(1, 1) // a simple code
		b.put(len(symbols)-1, 1)
		b.put(1, 1)
		for _, s := range symbols {
			b.put(s, 8)
		}
	}
	for i := range width * height {
		b.put(i/3%2, 1)
	}
	return chunk{"VP8L", b.bytes()}
}

// canvas is the head of a WebP of several chunks.
func canvas(flags byte, width, height int) chunk {
	return chunk{"VP8X", []byte{
		flags, 0, 0, 0, byte(width - 1), byte((width - 1) >> 8), byte((width - 1) >> 16),
		byte(height - 1), byte((height - 1) >> 8), byte((height - 1) >> 16),
	}}
}

// reversed writes codes of any length, the lowest bit first.
type reversed struct {
	out  []byte
	acc  uint64
	used int
}

func (b *reversed) put(code, length int) {
	b.acc |= uint64(code) << b.used
	for b.used += length; b.used >= 8; b.used -= 8 {
		b.out = append(b.out, byte(b.acc&0xff))
		b.acc >>= 8
	}
}

func (b *reversed) bytes() []byte {
	if b.used > 0 {
		b.out, b.acc, b.used = append(b.out, byte(b.acc&0xff)), 0, 0
	}
	return b.out
}
