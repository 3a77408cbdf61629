package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// absurd are images with an impossible size.
func absurd() (all []Sample) {
	add := func(name, kind string, data []byte) {
		all = append(all, Sample{Name: name, MediaType: kind, Data: data, Codes: []string{"too_large_image", "malformed", "too_complex"}})
	}
	for _, size := range [][2]uint32{{65535, 65535}, {65500, 700}, {7000, 7000}, {1<<31 - 1, 1}, {1<<31 - 1, 1<<31 - 1}, {1, 1 << 31}, {0, 10}} {
		name := fmt.Sprintf(" of %d by %d dots", size[0], size[1])
		add("png"+name, typePNG, pngFile(pngHead(size[0], size[1], 8, 2, 0), chunk{"IDAT", deflate(make([]byte, 100))}))
		page := grey(10, 10)
		page.tags = map[uint16][]uint32{256: {size[0]}, 257: {size[1]}, 278: {size[1]}}
		add("tiff"+name, typeTIFF, aTIFF(littleEndian, page))
		page = grey(10, 10).pack(5, lzwPack)
		page.tags[256], page.tags[257], page.tags[278] = []uint32{size[0]}, []uint32{size[1]}, []uint32{8}
		add("packed tiff"+name, typeTIFF, aTIFF(bigEndian, page))
		if uint64(size[0])*uint64(size[1]) > 1<<28 {
			p := newPDF("", "")
			p.addStream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode", size[0], size[1]), deflate(make([]byte, 100)))
			add("picture in a pdf"+name, typePDF, p.classic())
		}
		if size[0] > 65535 || size[1] > 65535 {
			continue
		}
		wide, high := uint16(size[0]), uint16(size[1])
		add("jpeg"+name, typeJPEG, jpegSize(aJPEG(drawing(16, 16), 50), wide, high))
		g := aGIF(1, noConfig)
		binary.LittleEndian.PutUint16(g[6:], wide)
		binary.LittleEndian.PutUint16(g[8:], high)
		add("gif"+name, typeGIF, g)
	}
	add("webp of 16384 by 16384 dots", typeWebP, riff(chunk{"VP8L", lossless(16384, 16384, false).body[:200]}))
	add("webp that claims a canvas of 16 million dots a side", typeWebP, riff(canvas(0, 1<<24, 1<<24), lossless(10, 10, false)))
	add("jpeg without height", typeJPEG, jpegSize(aJPEG(drawing(16, 16), 50), 16, 0))
	add("gif of two thousand pictures", typeGIF, aGIF(2000, noConfig))
	return all
}

// damaged are images that are invalid for their format.
func damaged() (all []Sample) {
	add := func(name, kind string, data []byte, codes ...string) {
		all = append(all, Sample{Name: name, MediaType: kind, Data: data, Codes: append(codes, "malformed", "truncated")})
	}
	broken := aPNG(8, 2, 0)
	broken[len(broken)-20] ^= 0xff
	add("png with a wrong checksum", typePNG, broken)
	pixels := deflate(pngPixels(17, 8, 2, 0))
	head := pngHead(23, 17, 8, 2, 0)
	zip := aZip("a", false)
	add("png with a chunk that nobody knows and must", typePNG, aPNG(8, 2, 0, chunk{"HIDE", []byte("x")}))
	add("png with a chunk of no name", typePNG, aPNG(8, 2, 0, chunk{"\x00\x01\x02\x03", []byte("x")}))
	add("png with a second heap of pixels", typePNG, pngFile(head, chunk{"IDAT", pixels}, chunk{"tIME", make([]byte, 7)}, chunk{"IDAT", noise(500)}))
	add("png with pixels behind its pixels", typePNG, pngFile(head, chunk{"IDAT", append(bytes.Clone(pixels), noise(500)...)}), "polyglot")
	add("png with another piece of pixels behind", typePNG, pngFile(head, chunk{"IDAT", pixels}, chunk{"IDAT", noise(500)}), "polyglot")
	add("png with too many rows", typePNG, pngFile(head, chunk{"IDAT", deflate(pngPixels(40, 8, 2, 0))}))
	add("png with too few rows", typePNG, pngFile(head, chunk{"IDAT", deflate(pngPixels(9, 8, 2, 0))}))
	add("png without pixels", typePNG, pngFile(head))
	add("png of a colour type that does not exist", typePNG, pngFile(pngHead(23, 17, 8, 5, 0), chunk{"IDAT", pixels}))
	add("png with words in its end", typePNG, slices.Concat(aPNG(8, 2, 0)[:len(aPNG(8, 2, 0))-12], []byte("\x00\x00\x00\x04IENDhide\x3b\x1c\x1c\x7b")), "polyglot")
	add("png that begins twice", typePNG, append([]byte(pngSignature), aPNG(8, 2, 0)...))
	add("png with a picture of an animation that is noise", typePNG, aPNG(8, 2, 0, chunk{"acTL", make([]byte, 8)}, chunk{"fcTL", append([]byte{0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 5}, make([]byte, 14)...)}, chunk{"fdAT", append(make([]byte, 4), noise(200)...)}))

	jpg := aJPEG(drawing(16, 16), 50)
	sos := bytes.Index(jpg, []byte{0xff, 0xda})
	add("jpeg without tables", typeJPEG, slices.Concat(jpg[:2], jpg[sos:]))
	add("jpeg of noise", typeJPEG, slices.Concat(jpg[:sos+14], noise(400), []byte{0xff, 0xd9}))
	add("jpeg with a segment of no length", typeJPEG, aJPEG(drawing(16, 16), 50, []byte{0xff, 0xfe, 0, 0}))
	add("jpeg with a segment past its end", typeJPEG, aJPEG(drawing(16, 16), 50, []byte{0xff, 0xfe, 0xff, 0xff}))
	add("jpeg whose first length begins a comment in a script", typeJPEG, slices.Concat([]byte{0xff, 0xd8, 0xff, 0xe0, '/', '*'}, make([]byte, 0x2f2a-2), jpg[2:]), "polyglot")
	add("jpeg with a jpeg that ends early behind", typeJPEG, slices.Concat(jpg, jpg[:len(jpg)-40]))
	add("jpeg with a jpeg that hides a script behind", typeJPEG, slices.Concat(jpg, aJPEG(drawing(16, 16), 50, segment(0xfe, []byte("<script>1</script>")))), "polyglot")
	add("jpeg with two frames", typeJPEG, slices.Concat(jpg[:sos], jpg[bytes.Index(jpg, []byte{0xff, 0xc0}):]))

	g := aGIF(1, noConfig)
	add("gif with an unknown block", typeGIF, slices.Concat(g[:len(g)-1], []byte{0x99, 1, 2, 3, 0x3b}), "polyglot")
	add("gif with an unknown extension", typeGIF, gifWith(g, 0x42, []byte("hello")))
	add("gif without pictures", typeGIF, []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x3b"))
	add("gif with noise behind its pixels", typeGIF, slices.Concat(g[:len(g)-2], []byte{200}, noise(200), []byte{0, 0x3b}), "polyglot")
	script := slices.Concat([]byte("GIF89a/*\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"), []byte("!\xfe\x05*/=1;\x00;"))
	add("gif that is a script", typeGIF, script, "polyglot")

	lossy := riff(chunk{"VP8 ", noise(300)})
	add("webp of noise", typeWebP, lossy)
	add("webp of lossless noise", typeWebP, riff(chunk{"VP8L", append([]byte{0x2f}, noise(300)...)}), "too_large_image")
	add("webp without a picture", typeWebP, riff(canvas(0, 10, 10)))
	add("webp with two pictures", typeWebP, riff(lossless(10, 10, false), lossless(10, 10, false)))
	add("webp with a chunk past its end", typeWebP, riff(lossless(10, 10, false), chunk{"EXIF", []byte("abcdefgh")})[:len(riff(lossless(10, 10, false)))+12])
	add("webp with an animation of noise", typeWebP, riff(canvas(2, 10, 10), chunk{"ANIM", make([]byte, 6)}, chunk{"ANMF", append(make([]byte, 16), appendRIFF(nil, chunk{"VP8 ", noise(80)})...)}))

	loop := aTIFF(littleEndian, grey(10, 10))
	copy(loop[len(loop)-4:], loop[4:8])
	add("tiff that goes in a circle", typeTIFF, loop)
	far := grey(10, 10)
	far.tags = map[uint16][]uint32{273: {1 << 30}}
	add("tiff with a strip outside", typeTIFF, aTIFF(littleEndian, far))
	more := grey(10, 10)
	more.tags = map[uint16][]uint32{279: {1 << 30}}
	add("tiff with a strip that is too long", typeTIFF, aTIFF(bigEndian, more))
	few := grey(10, 10)
	few.tags = map[uint16][]uint32{278: {2}}
	add("tiff with too few strips", typeTIFF, aTIFF(bigEndian, few))
	add("tiff of noise by lzw", typeTIFF, aTIFF(littleEndian, grey(40, 40).pack(5, func([]byte) []byte { return noise(300) })))
	add("tiff of noise by deflate", typeTIFF, aTIFF(littleEndian, grey(40, 40).pack(8, func([]byte) []byte { return noise(300) })))
	add("tiff of noise by fax", typeTIFF, aTIFF(littleEndian, grey(1728, 40).pack(4, func([]byte) []byte { return noise(30) })))
	add("tiff of noise by jpeg", typeTIFF, aTIFF(littleEndian, grey(40, 40).pack(7, func([]byte) []byte { return noise(300) })))
	add("tiff of a compression that nobody knows", typeTIFF, aTIFF(littleEndian, grey(40, 40).pack(65000, deflate)), "unreadable")
	add("tiff with a zip in a strip of no picture", typeTIFF, aTIFF(littleEndian, tiffPage{width: 4, height: 4, strips: [][]byte{make([]byte, 16), zip}}), "archive")
	add("tiff whose directory is outside", typeTIFF, []byte("II*\x00\xff\xff\xff\x7f"+string(make([]byte, 100))))
	add("tiff without directory", typeTIFF, []byte("II*\x00\x00\x00\x00\x00"+string(make([]byte, 100))))
	add("tiff with a large hole of noise at its end", typeTIFF, append(aTIFF(littleEndian, grey(10, 10)), noise(9000)...), "polyglot")
	return all
}
