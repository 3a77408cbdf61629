package corpus

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"slices"
)

// xmp is a description as Adobe's programs write it.
const xmp = "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"XMP Core 5.6\">\n" +
	" <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n  <rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"" +
	" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\"><pdfaid:part>1</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>" +
	"<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Certificate &amp; licence</rdf:li></rdf:Alt></dc:title></rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>"

// profile is a description of colours that has the form of one.
func profile() []byte {
	p := make([]byte, 600)
	copy(p[36:], "acspAPPL")
	copy(p[128:], noise(400))
	p[2], p[3] = 2, 88 // its length
	return p
}

// exif is what a camera notes, with a thumbnail.
func exif() []byte {
	page := tiffPage{width: 4, height: 4, strips: [][]byte{make([]byte, 16)}, words: map[uint16][]byte{
		271: []byte("Example Cameras\x00"), 272: []byte("Phone 7\x00"), 306: []byte("2026:05:04 10:11:12\x00"), 305: []byte("HDR+ 1.0.5\x00"),
	}}
	return aTIFF(bigEndian, page)
}

func honestPNGs() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "png " + name, MediaType: typePNG, Data: data})
	}
	for colours, depths := range map[byte][]byte{0: {1, 2, 4, 8, 16}, 2: {8, 16}, 3: {1, 2, 4, 8}, 4: {8, 16}, 6: {8, 16}} {
		for _, depth := range depths {
			add(fmt.Sprintf("of colour type %d with %d bits", colours, depth), aPNG(depth, colours, 0))
			add(fmt.Sprintf("of colour type %d with %d bits, interlaced", colours, depth), aPNG(depth, colours, 1))
		}
	}
	slices.SortFunc(all, func(a, b Sample) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	add("with a profile of colours", aPNG(8, 2, 0, chunk{"iCCP", append([]byte("ICC Profile\x00\x00"), deflate(profile())...)}))
	add("with words", aPNG(8, 6, 0, chunk{"tEXt", []byte("Software\x00Example Draw 2.1 (www.example.com)")}, chunk{"pHYs", []byte{0, 0, 0x0e, 0xc4, 0, 0, 0x0e, 0xc4, 1}}))
	add("with packed words", aPNG(8, 6, 0, chunk{"zTXt", append([]byte("Description\x00\x00"), deflate([]byte("A scan of the certificate, page 1 of 2"))...)}))
	add("with a description by Adobe's rules", aPNG(8, 6, 0, chunk{"iTXt", append([]byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), xmp...)}))
	add("with what a camera noted", aPNG(8, 2, 0, chunk{"eXIf", exif()}))
	add("with colours by number", aPNG(8, 2, 0, chunk{"gAMA", []byte{0, 0, 0xb1, 0x8f}}, chunk{"sRGB", []byte{0}}, chunk{"cHRM", make([]byte, 32)}, chunk{"tIME", []byte{7, 0xea, 1, 2, 3, 4, 5}}))
	add("with a transparent colour", aPNG(8, 3, 0, chunk{"tRNS", []byte{0}}))
	pixels := deflate(pngPixels(17, 8, 2, 0))
	add("with its pixels in many pieces", pngFile(pngHead(23, 17, 8, 2, 0), chunk{"IDAT", pixels[:9]}, chunk{"IDAT", nil}, chunk{"IDAT", pixels[9:20]}, chunk{"IDAT", pixels[20:]}))
	add("with words behind its pixels", pngFile(pngHead(23, 17, 8, 2, 0), chunk{"IDAT", pixels}, chunk{"tEXt", []byte("Title\x00Licence")}))
	frame := chunk{"fcTL", append([]byte{0, 0, 0, 1, 0, 0, 0, 23, 0, 0, 0, 17}, make([]byte, 14)...)}
	add("that moves", pngFile(pngHead(23, 17, 8, 2, 0), chunk{"acTL", []byte{0, 0, 0, 2, 0, 0, 0, 0}}, chunk{"fcTL", append([]byte{0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 17}, make([]byte, 14)...)}, chunk{"IDAT", pixels}, frame, chunk{"fdAT", append([]byte{0, 0, 0, 2}, pixels...)}))
	var b bytes.Buffer
	_ = png.Encode(&b, drawing(2480, 3508))
	add("of A4 at 300 dots to the inch", b.Bytes())
	return all
}

func honestJPEGs() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "jpeg " + name, MediaType: typeJPEG, Data: data})
	}
	colour, grey := drawing(61, 47), image.NewGray(image.Rect(0, 0, 33, 21))
	jfif := segment(0xe0, []byte("JFIF\x00\x01\x01\x01\x00\x48\x00\x48\x00\x00"))
	camera := segment(0xe1, append([]byte("Exif\x00\x00"), exif()...))
	colours := segment(0xe2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile()...))
	for _, quality := range []int{10, 50, 75, 95, 100} {
		add(fmt.Sprintf("of quality %d", quality), aJPEG(colour, quality, jfif))
	}
	add("without colour", aJPEG(grey, 80, jfif))
	add("of one dot", aJPEG(drawing(1, 1), 80))
	add("of A4 at 200 dots to the inch", aJPEG(drawing(1654, 2339), 60, jfif))
	add("of a camera", aJPEG(colour, 80, camera))
	add("of a camera, with a profile of colours", aJPEG(colour, 80, camera, colours))
	add("of an editor", aJPEG(colour, 80, jfif, segment(0xed, []byte("Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00\x00")), segment(0xe1, append([]byte("http://ns.adobe.com/xap/1.0/\x00"), xmp...)), segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x01"))))
	add("of a scanner, with a comment", aJPEG(colour, 80, jfif, segment(0xfe, []byte("Scanned by Example Scan 3 at 300 dpi"))))
	plain := aJPEG(colour, 80, jfif)
	add("filled up to a block", append(bytes.Clone(plain), make([]byte, 512-len(plain)%512)...))
	add("with a line end behind", append(bytes.Clone(plain), '\n'))
	add("with fill bytes before a marker", slices.Concat(plain[:2], []byte{0xff, 0xff}, plain[2:]))
	add("with a second picture for bright screens", slices.Concat(aJPEG(colour, 80, camera, segment(0xe2, append([]byte("MPF\x00"), make([]byte, 60)...))), aJPEG(grey, 60)))
	notes := []byte("\x00\x00\x01\x0a\x0e\x00\x00\x00Image_UTC_Data1651658400000")
	add("with a telephone's notes behind", slices.Concat(plain, notes, []byte("SEFH\x6a\x00\x00\x00\x01\x00\x00\x00\x00\x00\x01\x0a"), le32(len(notes)), le32(len(notes)), le32(24), []byte("SEFT")))
	for name, data := range sorted(seeds("jpg")) {
		add("by another program: "+name, data)
	}
	return all
}

func le32(n int) []byte { return littleEndian.AppendUint32(nil, uint32(n)) }

func honestGIFs() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "gif " + name, MediaType: typeGIF, Data: data})
	}
	one := aGIF(1, noConfig)
	add("of one picture", one)
	add("of thirty pictures", aGIF(30, noConfig))
	add("of the first version", append([]byte("GIF87a"), one[6:]...))
	add("with a comment", gifWith(one, 0xfe, []byte("Created with Example Paint")))
	add("that repeats", gifWith(aGIF(3, noConfig), 0xff, []byte("NETSCAPE2.0"), []byte{1, 0, 0}))
	add("with a description by Adobe's rules", gifWith(one, 0xff, []byte("XMP DataXMP"), []byte(xmp)))
	add("on a larger canvas", aGIF(2, image.Config{Width: 100, Height: 80}))
	add("with a line end behind", append(bytes.Clone(one), '\r', '\n'))
	for _, colours := range []int{2, 16, 64, 256} {
		var palette color.Palette
		for i := range colours {
			palette = append(palette, color.RGBA{byte(i), byte(255 - i), byte(i * 3), 255})
		}
		m := image.NewPaletted(image.Rect(0, 0, 120, 90), palette)
		for i := range m.Pix {
			m.Pix[i] = byte(i * 31 % colours)
		}
		var b bytes.Buffer
		_ = gif.Encode(&b, m, nil)
		add(fmt.Sprintf("of %d colours", colours), b.Bytes())
	}
	return all
}

func honestWebPs() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "webp " + name, MediaType: typeWebP, Data: data})
	}
	picture := lossless(41, 29, false)
	add("without loss", riff(picture))
	add("without loss, transparent", riff(lossless(41, 29, true)))
	add("of one dot", riff(lossless(1, 1, false)))
	add("of a large page", riff(lossless(1654, 2339, false)))
	add("with a profile of colours", riff(canvas(0x20, 41, 29), chunk{"ICCP", profile()}, picture))
	add("with what a camera noted", riff(canvas(0x0c, 41, 29), picture, chunk{"EXIF", exif()}, chunk{"XMP ", []byte(xmp)}))
	frame := append([]byte{0, 0, 0, 0, 0, 0, 40, 0, 0, 28, 0, 0, 100, 0, 0, 0}, appendRIFF(nil, picture)...)
	add("that moves", riff(canvas(0x02, 41, 29), chunk{"ANIM", make([]byte, 6)}, chunk{"ANMF", frame}, chunk{"ANMF", frame}))
	for name, data := range sorted(seeds("webp")) {
		add("by another program: "+name, data)
	}
	return all
}

func honestTIFFs() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "tiff " + name, MediaType: typeTIFF, Data: data})
	}
	fax := tiffPage{width: 1728, height: 200, tags: map[uint16][]uint32{258: {1}}, strips: [][]byte{nil}}
	rgb := tiffPage{width: 20, height: 10, strips: [][]byte{make([]byte, 600)}, tags: map[uint16][]uint32{258: {8, 8, 8}, 262: {2}, 277: {3}}}
	cmyk := tiffPage{width: 20, height: 10, strips: [][]byte{make([]byte, 800)}, tags: map[uint16][]uint32{258: {8, 8, 8, 8}, 262: {5}, 277: {4}}}
	planes := tiffPage{width: 20, height: 10, strips: [][]byte{make([]byte, 200), make([]byte, 200), make([]byte, 200)}, tags: map[uint16][]uint32{258: {8, 8, 8}, 262: {2}, 277: {3}, 284: {2}}}
	tiles := tiffPage{width: 20, height: 20, tiled: true, strips: [][]byte{make([]byte, 256), make([]byte, 256), make([]byte, 256), make([]byte, 256)}, tags: map[uint16][]uint32{322: {16}, 323: {16}}}
	strips := tiffPage{width: 30, height: 20, strips: [][]byte{make([]byte, 240), make([]byte, 240), make([]byte, 120)}, tags: map[uint16][]uint32{278: {8}}}
	titled := grey(30, 20)
	titled.words = map[uint16][]byte{270: []byte("Operating licence\x00"), 305: []byte("Example Scan 3.2\x00"), 306: []byte("2026:05:04 10:11:12\x00"), 700: []byte(xmp), 34675: profile()}
	for name, order := range sorted(map[string]tiffOrder{"": littleEndian, ", other order": bigEndian}) {
		add("plain"+name, aTIFF(order, grey(30, 20)))
		add("by lzw"+name, aTIFF(order, grey(30, 20).pack(5, lzwPack)))
		add("by deflate"+name, aTIFF(order, grey(30, 20).pack(8, deflate)))
		add("by the old number of deflate"+name, aTIFF(order, grey(30, 20).pack(32946, deflate)))
		add("by packbits"+name, aTIFF(order, grey(30, 20).pack(32773, packBits)))
		add("by fax of group 4"+name, aTIFF(order, fax.pack(4, func([]byte) []byte { return fax4(200) })))
		add("by fax of group 3"+name, aTIFF(order, fax.pack(3, func([]byte) []byte { return fax3(200, false) })))
		add("by fax of group 3, filled"+name, aTIFF(order, fax.pack(3, func([]byte) []byte { return fax3(200, true) })))
		backwards := grey(30, 20).pack(5, func(data []byte) []byte { return reverse(lzwPack(data)) })
		backwards.tags[266] = []uint32{2}
		add("by lzw, each byte backwards"+name, aTIFF(order, backwards))
		add("by jpeg"+name, aTIFF(order, grey(61, 47).pack(7, func([]byte) []byte { return aJPEG(drawing(61, 47), 70) })))
		add("in colour"+name, aTIFF(order, rgb.pack(5, lzwPack)))
		add("for a printing house"+name, aTIFF(order, cmyk.pack(8, deflate)))
		add("in planes"+name, aTIFF(order, planes))
		add("in tiles"+name, aTIFF(order, tiles.pack(8, deflate)))
		add("in strips"+name, aTIFF(order, strips.pack(32773, packBits)))
		add("of three pages"+name, aTIFF(order, grey(30, 20), fax.pack(4, func([]byte) []byte { return fax4(200) }), rgb))
		add("with titles"+name, aTIFF(order, titled))
		add("filled up to a block"+name, append(aTIFF(order, grey(30, 20)), make([]byte, 900)...))
	}
	return all
}
