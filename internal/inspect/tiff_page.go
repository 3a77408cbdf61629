package inspect

import (
	"bytes"
	"compress/zlib"
	"errors"
	"image/jpeg"
	"io"
	"math/bits"

	"golang.org/x/image/tiff/lzw"
)

// The compressions of strips.
const (
	tiffPlain      = 1
	tiffHuffman    = 2
	tiffG3         = 3
	tiffG4         = 4
	tiffLZW        = 5
	tiffOldStyle   = 6
	tiffJPEG       = 7
	tiffDeflate    = 8
	tiffDeflateOld = 32946
	tiffPackBits   = 32773
)

// tiffPage is the image of a page.
type tiffPage struct {
	compression, fillOrder, t4 int64
	tables                     []byte // of JPEG, for all strips
}

// page unpacks every strip or tile of a page.
func (t *tiffReader) page(entries map[int]tiffValue, tiled bool) error {
	var wrong error
	get := func(tag int, without int64) int64 {
		n, err := t.number(entries, tag, without)
		if err != nil {
			wrong = err
		}
		return n
	}
	width, height := get(tiffWidth, 0), get(tiffHeight, 0)
	bits, samples := get(tiffBits, 1), get(tiffSamples, 1)
	page := tiffPage{get(tiffCompression, 1), get(tiffFillOrder, 1), get(tiffT4Options, 0), entries[tiffJPEGTables].bytes}
	offsetsTag, countsTag := tiffStripOffsets, tiffStripCounts
	blockWidth, blockHeight := width, min(get(tiffRowsPerStrip, height), height)
	if tiled {
		offsetsTag, countsTag = tiffTileOffsets, tiffTileCounts
		blockWidth, blockHeight = get(tiffTileWidth, 0), get(tiffTileHeight, 0)
	}
	planes := int64(1)
	if get(tiffPlanar, 1) == 2 {
		planes, samples = samples, 1
	}
	if wrong != nil {
		return wrong
	}
	if bits < 1 || bits > 64 || samples < 1 || samples > 64 || planes < 1 || planes > 64 {
		return Malformed
	}
	if err := checkSize(width, height, 1); err != nil {
		return err
	}
	if err := checkSize(blockWidth, blockHeight, max(1, bits*samples/8)); err != nil {
		return err
	}
	if err := t.all.add(width, height); err != nil {
		return err
	}
	blocks := planes * ((width + blockWidth - 1) / blockWidth) * ((height + blockHeight - 1) / blockHeight)
	offsets, err := t.numbers(entries[offsetsTag])
	if err != nil {
		return err
	}
	counts, err := t.numbers(entries[countsTag])
	if err != nil {
		return err
	}
	if len(counts) == 0 && len(offsets) == 1 { // a very old writer: the strip extends to the end
		counts = []int64{int64(len(t.data)) - offsets[0]}
	}
	if int64(len(offsets)) < blocks || len(counts) != len(offsets) {
		return Malformed
	}
	row := (blockWidth*bits*samples + 7) / 8
	for i, offset := range offsets {
		packed, err := t.span(offset, counts[i])
		if err != nil {
			return err
		}
		rows := blockHeight
		if perPlane := blocks / planes; !tiled && perPlane > 0 && (int64(i)+1)%perPlane == 0 {
			rows = height - (perPlane-1)*blockHeight // the last strip is shorter
		}
		if int64(i) >= blocks {
			return Malformed // strips without an image
		}
		if err := page.unpack(packed, blockWidth, rows, row*rows); err != nil {
			return err
		}
	}
	return nil
}

// unpack unpacks one block, which must have the given number of bytes.
func (p *tiffPage) unpack(packed []byte, width, rows, size int64) error {
	var r io.Reader
	if p.fillOrder == 2 && p.compression != tiffPlain && p.compression != tiffJPEG {
		packed = bytes.Clone(packed)
		for i, c := range packed {
			packed[i] = bits.Reverse8(c)
		}
	}
	source := bytes.NewReader(packed)
	switch p.compression {
	case tiffPlain:
		if int64(len(packed)) < size {
			return Truncated
		}
		return checkTrailingBlock(packed[size:])
	case tiffHuffman, tiffG3, tiffG4:
		return p.unpackFax(packed, width, rows)
	case tiffLZW:
		r = lzw.NewReader(source, lzw.MSB, 8)
	case tiffDeflate, tiffDeflateOld:
		z, err := zlib.NewReader(source)
		if err != nil {
			return decodingError(err)
		}
		r = z
	case tiffPackBits:
		r = &packBits{r: source}
	case tiffJPEG:
		return checkTIFFJPEG(packed, p.tables)
	default:
		return Unreadable
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, size))
	if n == size {
		return checkTrailingBlock(packed[len(packed)-source.Len():])
	}
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return Truncated
	}
	return Malformed
}

// checkTrailingBlock checks the bytes of a block after its last pixel: an end code,
// or padding.
func checkTrailingBlock(rest []byte) error {
	if len(rest) > maxPadding {
		return Polyglot
	}
	return findForeignInText(rest)
}

// checkTIFFJPEG decodes a block that is a JPEG, whose tables may be stored
// separately.
func checkTIFFJPEG(packed, tables []byte) error {
	if len(tables) > 4 && bytes.HasPrefix(packed, []byte{0xff, jpegSOI}) {
		whole := bytes.TrimSuffix(tables, []byte{0xff, jpegEOI})
		packed = append(bytes.Clone(whole), packed[2:]...)
	}
	if !bytes.HasPrefix(packed, []byte{0xff, jpegSOI}) {
		return Malformed
	}
	var all imageTotals
	size, err := checkJPEGPicture(packed, &all)
	if err != nil {
		return err
	}
	return checkTrailing(packed[size:])
}

// oldJPEG checks a page that is a JPEG by the old, withdrawn specification: a
// directory without strips that refers to one. Camera thumbnails are like that.
func (t *tiffReader) oldJPEG(entries map[int]tiffValue) error {
	offset, err := t.number(entries, tiffOldJPEG, 0)
	if err != nil {
		return err
	}
	length, err := t.number(entries, tiffOldJPEGLength, 0)
	if err != nil {
		return err
	}
	if offset == 0 || length == 0 {
		return Malformed
	}
	body, err := t.span(offset, length)
	if err != nil {
		return err
	}
	if _, err := jpeg.DecodeConfig(bytes.NewReader(body)); err != nil {
		return decodingError(err)
	}
	return checkTIFFJPEG(body, nil)
}

// packBits unpacks runs of bytes.
type packBits struct {
	r    *bytes.Reader
	left int  // of the run
	same bool // whether the run repeats one byte
	b    byte
}

func (p *packBits) Read(out []byte) (n int, err error) {
	for n < len(out) {
		for p.left == 0 {
			head, err := p.r.ReadByte()
			if err != nil {
				return n, io.EOF
			}
			switch {
			case head == 128: // nothing
			case head > 128:
				if p.b, err = p.r.ReadByte(); err != nil {
					return n, io.EOF
				}
				p.left, p.same = 257-int(head), true
			default:
				p.left, p.same = int(head)+1, false
			}
		}
		if !p.same {
			if p.b, err = p.r.ReadByte(); err != nil {
				return n, io.EOF
			}
		}
		out[n] = p.b
		n++
		p.left--
	}
	return n, nil
}
