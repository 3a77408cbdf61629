package corpus

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// sorted iterates over a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// script is an open action with a script, in its plain form.
const script = "<</S/JavaScript/JS(1+1)>>"

// obscured are PDFs with a script that a plain search does not find.
func obscured() (all []Sample) {
	add := func(name string, p *pdf) {
		all = append(all, Sample{Name: name, MediaType: typePDF, Data: p.classic(), Codes: []string{"active_content"}})
	}
	for i := range len("JavaScript") {
		escaped := "JavaScript"[:i] + fmt.Sprintf("#%02x", "JavaScript"[i]) + "JavaScript"[i+1:]
		add(fmt.Sprintf("script with letter %d escaped", i+1), newPDF("/OpenAction<</S/"+escaped+"/J#53(1)>>", ""))
	}
	for name, body := range sorted(map[string]string{
		"all letters escaped":           "<</#53/#4a#61#76#61#53#63#72#69#70#74/#4A#53(1)>>",
		"a comment between":             "<</S%a\n/JavaScript%c\r/JS%d\n(1)>>",
		"a comment before":              "<</S%\n/JavaScript/JS(1)>>",
		"blanks of all kinds":           "<<\x00/S\f\t\r\n/JavaScript\x00/JS\x00(1)>>",
		"the script in digits":          "<</S/JavaScript/JS<312b31>>>",
		"the harmless kind first":       "<</S/GoTo/S/JavaScript/D[3 0 R/Fit]/JS(1)>>",
		"the harmless kind last":        "<</S/JavaScript/S/GoTo/D[3 0 R/Fit]/JS(1)>>",
		"a kind elsewhere":              "<</S 7 0 R/D[3 0 R/Fit]>>",
		"only the kind":                 "<</S/JavaScript>>",
		"only the script":               "<</JS(1)>>",
		"deep in lists":                 strings.Repeat("[", 60) + script + strings.Repeat("]", 60),
		"deep in entries":               strings.Repeat("<</A", 60) + script + strings.Repeat(">>", 60),
		"a name tree of kids":           "<</Kids[<</Names[(a)" + script + "]>>]>>",
		"a thread of further actions":   "<</S/GoTo/D[3 0 R/Fit]/Next<</S/GoTo/D[3 0 R/Fit]/Next" + script + ">>>>",
		"a number before and no blanks": "[1" + script + "2]",
	}) {
		p := newPDF("/OpenAction 6 0 R", "")
		p.add("%s", body)
		p.add("/JavaScript")
		add("script with "+name, p)
	}
	for _, f := range filters {
		p := with(newPDF("/OpenAction 6 0 R", ""), "<</Type/Action/S/JavaScript/JS(1+1)>>")
		all = append(all, Sample{Name: "script in an object stream: " + f.name, MediaType: typePDF, Data: p.packed(f), Codes: []string{"active_content"}})
	}
	replaced := newPDF("/OpenAction 6 0 R", "")
	replaced.add("%s", script)
	all = append(all, Sample{
		Name: "script that an update replaced", MediaType: typePDF, Codes: []string{"active_content"},
		Data: replaced.update(replaced.classic(), map[int]string{6: "[3 0 R/Fit]"}, ""),
	}, Sample{
		Name: "script that an update adds to a packed file", MediaType: typePDF, Codes: []string{"active_content"},
		Data: replaced.update(newPDF("", "").packed(filters[1]), map[int]string{1: "<</Type/Catalog/Pages 2 0 R/OpenAction 20 0 R>>", 20: script}, ""),
	})
	return all
}

// scheming are PDFs in which two programs see different documents.
func scheming() (all []Sample) {
	add := func(name string, data []byte, codes ...string) {
		all = append(all, Sample{Name: name, MediaType: typePDF, Data: data, Codes: append(codes, "polyglot", "malformed", "active_content")})
	}
	object := "9 0 obj\n" + script + "\nendobj\n"
	for name, p := range sorted(map[string]*pdf{
		"a string":           with(newPDF("", ""), "("+object+")"),
		"a comment":          with(newPDF("", ""), "[1 %"+strings.ReplaceAll(object, "\n", " ")+"\n2]"),
		"the first comment":  {head: "% " + strings.ReplaceAll(object, "\n", " "), objects: newPDF("", "").objects},
		"a name of a string": with(newPDF("", ""), "<</A("+object+")>>"),
	}) {
		add("object in "+name, p.classic())
	}
	inStream := newPDF("", "")
	inStream.addStream("", []byte("q "+object+" Q"))
	data := inStream.classic()
	add("object in a stream", data)
	// The table leads into the stream.
	at := bytes.Index(data, []byte("9 0 obj"))
	lead := bytes.Replace(data, fmt.Appendf(nil, "%010d", bytes.Index(data, []byte("5 0 obj"))), fmt.Appendf(nil, "%010d", at), 1)
	add("table that leads into a stream", lead)
	quiet := newPDF("", "")
	quiet.addStream("", []byte("q << /Type /Font >> Q"))
	data = quiet.classic()
	at = bytes.Index(data, []byte("<< /Type /Font >>"))
	add("table that leads to no object", bytes.Replace(data, fmt.Appendf(nil, "%010d", bytes.Index(data, []byte("5 0 obj"))), fmt.Appendf(nil, "%010d", at), 1))
	plain := newPDF("", "").classic()
	add("end that leads nowhere", bytes.Replace(plain, fmt.Appendf(nil, "startxref\n%d", lastStart(plain)), []byte("startxref\n99999"), 1))
	add("end that leads to an object", bytes.Replace(plain, fmt.Appendf(nil, "startxref\n%d", lastStart(plain)), fmt.Appendf(nil, "startxref\n%d", bytes.Index(plain, []byte("2 0 obj"))), 1))
	add("words between the objects", bytes.Replace(plain, []byte("endobj\n2 0"), []byte("endobj\nhello\n2 0"), 1))
	add("words behind the header", bytes.Replace(plain, []byte("1 0 obj"), []byte("<b>hello</b>\n1 0 obj"), 1))
	add("length that hides objects", hidingLength(), "truncated")
	add("objects behind the end without a table", append(bytes.Clone(plain), object...))
	add("no table", plain[:bytes.Index(plain, []byte("xref\n"))], "truncated")
	add("no table but an end", append(bytes.Clone(plain[:bytes.Index(plain, []byte("xref\n"))]), "%%EOF\n"...))
	add("no catalogue", bytes.ReplaceAll(plain, []byte("/Catalog"), []byte("/Cabinet")))
	add("a comment as long as a book", bytes.Replace(plain, []byte("1 0 obj"), append(bytes.Repeat([]byte("%"), 9000), "\n1 0 obj"...), 1))
	for _, entries := range []string{"/Filter/Crypt", "/Filter/Unknown", "/Filter[/DCTDecode/FlateDecode]", "/Filter 4", "/Filter[/FlateDecode/FlateDecode/FlateDecode/FlateDecode/FlateDecode/FlateDecode/FlateDecode/FlateDecode/FlateDecode]"} {
		p := newPDF("", "")
		p.addStream(entries, deflate([]byte("hello")))
		add("stream with "+entries, p.classic(), "encrypted", "too_complex", "truncated")
	}
	for name, body := range sorted(map[string]string{
		"a word of its own":        "<</A hello>>",
		"an entry without a name":  "<<(a)1>>",
		"an open string":           "(a",
		"open digits":              "<41",
		"letters among the digits": "<4x>",
		"an open list":             "[1 2",
		"an open dictionary":       "<</A 1",
		"a loose end":              "]",
	}) {
		add("pdf with "+name, with(newPDF("", ""), body).classic(), "truncated")
	}
	noisy := newPDF("", "")
	noisy.addStream("/Type/XObject/Subtype/Image/Width 8/Height 8/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode", noise(300))
	add("pdf with a jpeg of noise", noisy.classic(), "truncated")
	hidden := newPDF("", "")
	hidden.addStream("/Type/XObject/Subtype/Image/Width 8/Height 8/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode", append(aJPEG(drawing(8, 8), 50), noise(5000)...))
	add("pdf with a jpeg and noise behind", hidden.classic())
	packed := newPDF("", "").packed(filters[1])
	add("packed pdf whose objects are noise", bytes.Replace(packed, []byte("/N 4"), []byte("/N 9"), 1), "truncated")
	add("packed pdf whose table is short", bytes.Replace(packed, []byte("/W[1 4 2]"), []byte("/W[0 0 0]"), 1))
	add("packed pdf whose objects begin past the end", bytes.Replace(packed, []byte("/First "), []byte("/First 9"), 1))
	return all
}

// hidingLength is a stream whose length includes the next object, up to a second
// end.
func hidingLength() []byte {
	p := newPDF("", "")
	inner := "q Q\nendstream\nendobj\n9 0 obj\n" + script + "\nendobj\n10 0 obj\n<</Length 3>>\nstream\nq Q"
	p.addStream("", []byte(inner))
	return p.classic()
}

// bombs are small files that need much memory or time when they are opened.
func bombs() (all []Sample) {
	add := func(name, kind string, data []byte) {
		all = append(all, Sample{Name: name, MediaType: kind, Data: data, Codes: []string{"too_complex", "too_large_image", "malformed", "unreadable", "truncated", "polyglot"}})
	}
	for _, entries := range []string{"", "/Type/ObjStm/N 1/First 4", "/Type/XRef/W[1 4 2]/Size 9", "/Type/Metadata/Subtype/XML"} {
		p := newPDF("", "")
		p.addStream(entries+"/Filter/FlateDecode", bomb(300))
		add("pdf with a stream of hundreds of mebibytes "+entries, typePDF, p.classic())
		p = newPDF("", "")
		p.addStream(entries+"/Filter[/FlateDecode/FlateDecode]", deflate(bomb(300)))
		add("pdf with a stream of hundreds of mebibytes packed twice "+entries, typePDF, p.classic())
	}
	many := newPDF("", "")
	one := bomb(100)
	for range 20 {
		many.addStream("/Filter/FlateDecode", one)
	}
	add("pdf with twenty streams of a hundred mebibytes", typePDF, many.classic())
	runs := newPDF("", "")
	runs.addStream("/Filter[/FlateDecode/RunLengthDecode]", deflate(bytes.Repeat([]byte{129, 0}, 3<<20)))
	add("pdf with long runs", typePDF, runs.classic())
	add("pdf with deep lists", typePDF, with(newPDF("", ""), strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)).classic())
	add("pdf with deep entries", typePDF, with(newPDF("", ""), strings.Repeat("<</A", 100_000)+strings.Repeat(">>", 100_000)).classic())
	add("pdf with a table of a thousand million", typePDF, bytes.Replace(newPDF("", "").classic(), []byte("xref\n0 6"), []byte("xref\n0 999999999"), 1))
	add("pdf that claims a thousand million packed objects", typePDF, bytes.Replace(newPDF("", "").packed(filters[0]), []byte("/N 4"), []byte("/N 999999999"), 1))

	for _, kind := range []string{"zTXt", "iCCP"} {
		add("png with a description of hundreds of mebibytes: "+kind, typePNG, aPNG(8, 2, 0, chunk{kind, append([]byte("a\x00\x00"), bomb(300)...)}))
	}
	add("png with words of hundreds of mebibytes", typePNG, aPNG(8, 2, 0, chunk{"iTXt", append([]byte("a\x00\x01\x00\x00\x00"), bomb(300)...)}))
	add("png with pixels of hundreds of mebibytes", typePNG, pngFile(pngHead(23, 17, 8, 2, 0), chunk{"IDAT", bomb(300)}))
	add("png of 6400 by 6600 dots from a few kilobytes", typePNG, pngFile(pngHead(6400, 6600, 16, 6, 1), chunk{"IDAT", bomb(200)}))
	scans := aJPEG(drawing(16, 16), 50)
	add("tiff with a strip of hundreds of mebibytes", typeTIFF, aTIFF(littleEndian, tiffPage{width: 100, height: 100, strips: [][]byte{bomb(300)}, tags: map[uint16][]uint32{259: {8}}}))
	add("jpeg with a hundred frames behind", typeJPEG, bytes.Repeat(scans, 1200))
	var pages []tiffPage
	for range 1200 {
		pages = append(pages, grey(2, 2))
	}
	add("tiff of more pages than anybody reads", typeTIFF, aTIFF(littleEndian, pages...))
	return all
}
