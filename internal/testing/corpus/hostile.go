package corpus

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// hiddenBehind are complete documents with data after their end.
func hiddenBehind() (all []Sample) {
	for _, c := range carriers() {
		for _, p := range payloads() {
			all = append(all, Sample{
				Name: p.name + " behind a " + c.Name, MediaType: c.MediaType,
				Data: slices.Concat(c.Data, p.data), Codes: []string{p.code, "polyglot", "archive"},
			})
		}
		all = append(all,
			Sample{Name: "noise behind a " + c.Name, MediaType: c.MediaType, Data: slices.Concat(c.Data, noise(300)), Codes: []string{"polyglot"}},
			Sample{Name: "a page of nothing and a zip behind a " + c.Name, MediaType: c.MediaType, Data: slices.Concat(c.Data, make([]byte, 4000), aZip("a", false)), Codes: []string{"polyglot", "archive"}},
			Sample{Name: "a megabyte of nothing behind a " + c.Name, MediaType: c.MediaType, Data: slices.Concat(c.Data, make([]byte, 1<<20)), Codes: []string{"polyglot"}},
		)
	}
	return all
}

// noise returns meaningless bytes, the same every time.
func noise(n int) []byte {
	out := make([]byte, n)
	state := uint32(2463534242)
	for i := range out {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		out[i] = byte(state & 0xff)
	}
	return out
}

// hidingPlaces are the parts of a document with text, each with data hidden in it.
func hidingPlaces(data []byte) []Sample {
	jpg, animated, page := aJPEG(drawing(20, 20), 70), aGIF(2, noConfig), grey(20, 20)
	page.words = map[uint16][]byte{270: append(bytes.Clone(data), 0)}
	software := grey(20, 20)
	software.words = map[uint16][]byte{305: append([]byte("Scanner "), data...)}
	gap := grey(20, 20)
	gap.strips[0] = append(gap.strips[0], data...) // after the pixels of the image
	return []Sample{
		{Name: "the text of a png", MediaType: typePNG, Data: aPNG(8, 2, 0, chunk{"tEXt", append([]byte("Comment\x00"), data...)})},
		{Name: "the packed text of a png", MediaType: typePNG, Data: aPNG(8, 2, 0, chunk{"zTXt", append([]byte("Comment\x00\x00"), deflate(data)...)})},
		{Name: "the packed words of a png", MediaType: typePNG, Data: aPNG(8, 2, 0, chunk{"iTXt", append([]byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"), deflate(data)...)})},
		{Name: "the profile of a png", MediaType: typePNG, Data: aPNG(8, 2, 0, chunk{"iCCP", append([]byte("icc\x00\x00"), deflate(data)...)})},
		{Name: "an unknown chunk of a png", MediaType: typePNG, Data: aPNG(8, 2, 0, chunk{"prVt", data})},
		{Name: "the comment of a jpeg", MediaType: typeJPEG, Data: aJPEG(drawing(20, 20), 70, segment(0xfe, data))},
		{Name: "the description of a jpeg", MediaType: typeJPEG, Data: aJPEG(drawing(20, 20), 70, segment(0xe1, append([]byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x00\x00"), data...)))},
		{Name: "the end of a jpeg", MediaType: typeJPEG, Data: slices.Concat(jpg[:len(jpg)-2], segment(0xfe, data), jpg[len(jpg)-2:])},
		{Name: "the comment of a gif", MediaType: typeGIF, Data: gifWith(animated, 0xfe, data)},
		{Name: "the application of a gif", MediaType: typeGIF, Data: gifWith(animated, 0xff, []byte("NETSCAPE2.0"), data)},
		{Name: "the description of a webp", MediaType: typeWebP, Data: riff(canvas(8, 20, 20), lossless(20, 20, false), chunk{"EXIF", data})},
		{Name: "the words of a webp", MediaType: typeWebP, Data: riff(canvas(4, 20, 20), lossless(20, 20, false), chunk{"XMP ", data})},
		{Name: "an unknown chunk of a webp", MediaType: typeWebP, Data: riff(canvas(0, 20, 20), lossless(20, 20, false), chunk{"HIDE", data})},
		{Name: "the description of a tiff", MediaType: typeTIFF, Data: aTIFF(littleEndian, page)},
		{Name: "the software of a tiff", MediaType: typeTIFF, Data: aTIFF(bigEndian, software)},
		{Name: "the slack of a tiff", MediaType: typeTIFF, Data: aTIFF(bigEndian, gap)},
		{Name: "a comment of a pdf", MediaType: typePDF, Data: withComment(data)},
		{Name: "the metadata of a pdf", MediaType: typePDF, Data: withMetadata(data)},
	}
}

func withComment(data []byte) []byte {
	p := newPDF("", "")
	p.head = "%" + strings.NewReplacer("\n", " ", "\r", " ").Replace(string(data))
	return p.classic()
}

func withMetadata(data []byte) []byte {
	p := newPDF("/Metadata 6 0 R", "")
	p.addStream("/Type/Metadata/Subtype/XML/Filter/FlateDecode", deflate(data))
	return p.packed(filters[1])
}

// hiddenInside are complete documents with data hidden in a part with text.
func hiddenInside() (all []Sample) {
	for _, p := range payloads() {
		for _, place := range hidingPlaces(p.data) {
			place.Name = p.name + " in " + place.Name
			place.Codes = []string{p.code, "polyglot", "archive", "malformed"}
			all = append(all, place)
		}
	}
	return all
}

// cutOff are truncated documents.
func cutOff() (all []Sample) {
	for _, c := range carriers() {
		for _, percent := range []int{15, 40, 60, 80, 92} {
			all = append(all, Sample{
				Name: fmt.Sprintf("%s cut at %d per cent", c.Name, percent), MediaType: c.MediaType,
				Data: c.Data[:max(len(c.Data)*percent/100, 16)], Codes: []string{"truncated", "malformed"},
			})
		}
		all = append(all, Sample{
			Name: c.Name + " without its last bytes", MediaType: c.MediaType,
			Data: c.Data[:len(c.Data)-7], Codes: []string{"truncated", "malformed"},
		})
	}
	return all
}

// beginnings are the first bytes of each format.
var beginnings = map[string]string{
	typePDF: "%PDF-1.7\n", typePNG: pngSignature + "\x00\x00\x00\x0dIHDR", typeJPEG: "\xff\xd8\xff\xe0\x00\x10JFIF\x00",
	typeGIF: "GIF89a\x01\x00\x01\x00\x80\x00\x00", typeWebP: "RIFF\x00\x10\x00\x00WEBPVP8 ", typeTIFF: "II*\x00\x08\x00\x00\x00",
}

// disguised are other files with the first bytes of a document.
func disguised() (all []Sample) {
	for _, kind := range []string{typePDF, typePNG, typeJPEG, typeGIF, typeWebP, typeTIFF} {
		for _, p := range payloads() {
			all = append(all, Sample{
				Name: p.name + " that begins as " + kind, MediaType: kind, Data: append([]byte(beginnings[kind]), p.data...),
				Codes: []string{"polyglot", "archive", "malformed", "truncated", "wrong_type", "too_large_image"},
			})
		}
	}
	tar := aTar("%PDF-1.4", "hello")
	all = append(all,
		Sample{Name: "an archive whose first member has the name of a pdf", MediaType: typePDF, Data: tar, Codes: []string{"malformed", "archive", "truncated"}},
		Sample{Name: "only the beginning of a pdf", MediaType: typePDF, Data: []byte("%PDF-1.4\n"), Codes: []string{"truncated"}},
		Sample{Name: "a pdf of comments", MediaType: typePDF, Data: []byte("%PDF-1.4\n% nothing\n%%EOF\n"), Codes: []string{"malformed"}},
		Sample{Name: "noise that begins as a pdf", MediaType: typePDF, Data: append([]byte("%PDF-1.4\n"), noise(5000)...), Codes: []string{"malformed", "truncated", "polyglot"}},
		Sample{Name: "a pdf that claims to be a png", MediaType: typePNG, Data: newPDF("", "").classic(), Codes: []string{"wrong_type"}},
		Sample{Name: "a png that claims to be a pdf", MediaType: typePDF, Data: aPNG(8, 2, 0), Codes: []string{"wrong_type"}},
		Sample{Name: "a word processor's file", MediaType: "application/zip", Data: aZip("word/document.xml", false), Codes: []string{"wrong_type"}},
		Sample{Name: "a picture in the language of the web", MediaType: "image/svg+xml", Data: []byte("<svg/>"), Codes: []string{"wrong_type"}},
		Sample{Name: "a zip before a pdf", MediaType: typePDF, Data: slices.Concat(aZip("a", false), newPDF("", "").classic()), Codes: []string{"wrong_type"}},
		Sample{Name: "a script before a pdf", MediaType: typePDF, Data: slices.Concat([]byte("<script>1</script>\n"), newPDF("", "").classic()), Codes: []string{"wrong_type"}},
	)
	return all
}
