package corpus

import (
	"bytes"
	"fmt"
	"strings"
)

// honestPDFs are letters, scans and forms with the features of usual documents.
func honestPDFs() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "pdf " + name, MediaType: typePDF, Data: data})
	}
	for _, version := range []string{"1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "2.0"} {
		p := newPDF("", "")
		p.version = version
		add("of version "+version, p.classic())
	}
	for _, f := range filters[:len(filters)-1] { // no usual program writes escaped names
		p := newPDF("/Lang(en)", "")
		p.version = "1.5"
		p.addStream(f.entries, f.pack([]byte(strings.Repeat(text, 20))))
		add("with a stream: "+f.name, p.classic())
		add("with packed objects: "+f.name, p.packed(f))
	}
	for name, parts := range sorted(map[string][2]string{
		"opened at a page":                {"/OpenAction[3 0 R/XYZ 0 null 0]", ""},
		"opened at a page by an action":   {"/OpenAction<</Type/Action/S/GoTo/D[3 0 R/Fit]>>", ""},
		"opened at the last page":         {"/OpenAction<</S/Named/N/LastPage>>", ""},
		"with a link":                     {"", "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Border[0 0 0]/A<</Type/Action/S/URI/URI(https://www.example.com/a?b=c:d#e)>>>>]"},
		"with a link without scheme":      {"", "/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(www.example.com/a:b)>>>>]"},
		"with a link to write to":         {"", "/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(mailto:office@example.com)>>>>]"},
		"with a link to call":             {"", "/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(tel:+2348000000000)>>>>]"},
		"with a link inside":              {"/Dests<</top[3 0 R/Fit]>>", "/Annots[<</Subtype/Link/Rect[0 0 9 9]/Dest/top>>]"},
		"with a button that prints":       {"", "/Annots[<</Subtype/Widget/FT/Btn/T(b)/Rect[0 0 9 9]/A<</S/Named/N/Print>>>>]"},
		"with a note":                     {"", "/Annots[<</Subtype/Text/Rect[0 0 9 9]/Contents(Signed \\(twice\\))>>]"},
		"with marks":                      {"", "/Annots[<</Subtype/Highlight/Rect[0 0 9 9]/QuadPoints[0 9 9 9 0 0 9 0]/C[1 1 0]>><</Subtype/Stamp/Rect[0 0 9 9]/Name/Approved>>]"},
		"with names of places":            {"/Names<</Dests<</Names[(a)[3 0 R/Fit]]>>>>", ""},
		"with numbers of pages":           {"/PageLabels<</Nums[0<</S/r>>1<</S/D>>]>>", ""},
		"with layers":                     {"/OCProperties<</OCGs[]/D<</Order[]>>>>", ""},
		"with a wish for the window":      {"/ViewerPreferences<</DisplayDocTitle true>>/PageMode/UseNone/PageLayout/OneColumn", ""},
		"with structure":                  {"/MarkInfo<</Marked true>>/StructTreeRoot<</Type/StructTreeRoot/K<</S/Document/K[<</S/P/K 0>><</S/Figure/Alt(Seal)>>]>>>>", "/StructParents 0/Tabs/S"},
		"with transparency":               {"", "/Group<</S/Transparency/CS/DeviceRGB>>/Annots[]/UserUnit 1.0"},
		"with a way of turning":           {"", "/Trans<</S/Fade/D .5>>/Dur 5/Rotate 90"},
		"with odd names":                  {"/Odd#20Name(a)/A#2fB 1", ""},
		"with odd numbers":                {"/Odd[+1 -0.5 .5 4. --3 0.-5 00012]", ""},
		"with odd strings":                {"/Odd[(a\\\nb)(\\053\\5a)(a(b)c)<4>< 4 1 >()<>(\\\\)]", ""},
		"with a form":                     {"/AcroForm<</Fields[<</FT/Tx/T(name)/V(Ada)/DA(/Helv 0 Tf 0 g)/Subtype/Widget/Rect[0 0 9 9]>>]/NeedAppearances true>>", ""},
		"with a signature":                {"/AcroForm<</SigFlags 3/Fields[<</FT/Sig/T(s)/V<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/ByteRange[0 10 20 30]/Contents<" + strings.Repeat("00", 500) + ">>>>>]>>", ""},
		"with a button that clears":       {"/AcroForm<</Fields[<</FT/Btn/T(b)/Subtype/Widget/Rect[0 0 9 9]/A<</S/ResetForm>>>>]>>", ""},
		"with colours for a print":        {"/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(sRGB)>>]", ""},
		"with colours that mix":           {"", "/Annots[]/X<</Type/ExtGState/BM/Screen/ca .5>>"},
		"with articles":                   {"/Threads[<</Type/Thread/I<</Title(a)>>>>]", ""},
		"with an entry that has no value": {"/Nothing null/Last", ""},
	}) {
		add(name, newPDF(parts[0], parts[1]).classic())
		add(name+", packed", newPDF(parts[0], parts[1]).packed(filters[1]))
	}
	outline := with(newPDF("/Outlines 6 0 R/PageMode/UseOutlines", ""), "<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>",
		"<</Title(\xfe\xff\x00A)/Parent 6 0 R/A<</S/GoTo/D[3 0 R/XYZ 0 792 0]>>>>")
	add("with an outline", outline.classic())
	described := newPDF("/Metadata 6 0 R", "")
	described.addStream("/Type/Metadata/Subtype/XML", []byte(xmp))
	described.trailer = "/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]"
	add("for an archive", described.classic())
	for name, data := range sorted(scans()) {
		add("scan "+name, data)
	}
	return all
}

// scans are PDFs of one image.
func scans() map[string][]byte {
	all := map[string][]byte{}
	for name, s := range map[string]struct {
		entries string
		data    []byte
	}{
		"by jpeg":              {"/Width 61/Height 47/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode", aJPEG(drawing(61, 47), 70)},
		"by jpeg in flate":     {"/Width 61/Height 47/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter[/FlateDecode/DCTDecode]", deflate(aJPEG(drawing(61, 47), 70))},
		"by progressive jpeg":  {"/Width 16/Height 12/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/DCTDecode", seeds("jpg")["progressive"]},
		"for a printing house": {"/Width 16/Height 12/ColorSpace/DeviceCMYK/BitsPerComponent 8/Decode[1 0 1 0 1 0 1 0]/Filter/DCTDecode", seeds("jpg")["for a printing house"]},
		"by fax of group 4":    {"/Width 1728/Height 2200/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 1728/Rows 2200>>", fax4(2200)},
		"by fax of group 3":    {"/Width 1728/Height 2200/ColorSpace/DeviceGray/BitsPerComponent 1/Filter[/CCITTFaxDecode]/DecodeParms[<</K 0/Columns 1728>>]", fax3(2200, false)},
		"by flate":             {"/Width 600/Height 800/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode", deflate(make([]byte, 480_000))},
		"by predicted flate":   {"/Width 600/Height 80/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors 3/BitsPerComponent 8/Columns 600>>", deflate(predict(make([]byte, 144_000), 1800))},
		"by lzw":               {"/Width 100/Height 80/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/LZWDecode", lzwPack(make([]byte, 8000))},
		"by runs":              {"/Width 100/Height 80/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/RunLengthDecode", append(packBits(make([]byte, 8000)), 128)},
		"as a mask":            {"/Width 100/Height 80/ImageMask true/BitsPerComponent 1/Filter/FlateDecode", deflate(make([]byte, 1040))},
	} {
		p := newPDF("", "")
		p.version = "1.3"
		p.addStream("/Type/XObject/Subtype/Image"+s.entries, s.data)
		all[name] = p.classic()
	}
	return all
}

// honestWriters are PDFs with the peculiarities of common programs.
func honestWriters() (all []Sample) {
	add := func(name string, data []byte) {
		all = append(all, Sample{Name: "pdf " + name, MediaType: typePDF, Data: data})
	}
	ends := newPDF("", "")
	for name, end := range sorted(map[string]string{"without a last line end": "\x00", "with blank lines behind": "\r\n\r\n\n", "with many line ends": strings.Repeat("\n", 300)}) {
		ends.end = end
		data := ends.classic()
		if end == "\x00" {
			data = data[:len(data)-1]
		}
		add(name, data)
	}
	for name, eol := range map[string]string{"of Windows": "\r\n", "of old Macintoshes": "\r"} {
		p := newPDF("", "")
		p.eol = eol
		add("with the line ends "+name, p.classic())
	}
	plain := newPDF("", "")
	plain.head = ""
	add("without the comment of binary files", plain.classic())
	plain.head = "%\xe2\xe3\xcf\xd3\n% Produced by Example Writer 4.2 on 2026-05-04\n%%Title: licence"
	add("with comments", plain.classic())
	tight := bytes.ReplaceAll(newPDF("", "").classic(), []byte("\nendobj\n"), []byte(" endobj "))
	add("with its objects closed in the same line", rebuildTable(tight))
	add("with blanks behind obj", rebuildTable(bytes.ReplaceAll(newPDF("", "").classic(), []byte(" 0 obj\n"), []byte(" 0 obj \n"))))
	add("without endobj", rebuildTable(bytes.ReplaceAll(newPDF("", "").classic(), []byte("endobj\n"), nil)))
	add("with many blanks", rebuildTable(bytes.ReplaceAll(newPDF("", "").classic(), []byte("endobj\n"), []byte("endobj\n\n   \n"))))
	add("with blanks before the header", append([]byte("\n\n"), newPDF("", "").classic()...))
	add("with a mark of the byte order", append([]byte("\xef\xbb\xbf"), newPDF("", "").classic()...))
	add("whose stream says a length that is a byte short", bytes.Replace(newPDF("", "").classic(), fmt.Appendf(nil, "/Length %d", len(text)), fmt.Appendf(nil, "/Length %d", len(text)-1), 1))
	elsewhere := newPDF("", "")
	elsewhere.objects[3].body = "<</Length 6 0 R>>"
	elsewhere.add("%d", len(text))
	add("whose stream says its length elsewhere", elsewhere.classic())
	add("whose stream says its length in a packed object", elsewhere.packed(filters[1]))
	wrong := newPDF("", "")
	wrong.objects[3].body = "<</Length 0>>"
	add("whose stream says no length", wrong.classic())
	missing := newPDF("", "")
	add("whose table names an object that is not there", bytes.Replace(missing.classic(), []byte("0000000000 65535 f \n"), []byte("0000000000 65535 f \n"), 1))
	counted := bytes.Replace(missing.classic(), []byte("xref\n0 6\n"), []byte("xref\n1 6\n"), 1)
	add("whose table counts from one", counted)
	once := missing.update(missing.classic(), map[int]string{5: "<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>"}, "")
	add("that was changed once", once)
	add("that was changed twice", missing.update(once, map[int]string{3: missing.objects[2].body, 6: "<</Note(signed)>>"}, "/Info 6 0 R"))
	add("that was packed and then changed", missing.update(missing.packed(filters[1]), map[int]string{5: missing.objects[4].body}, ""))
	add("that is linearized", linearized())
	titled := with(newPDF("", ""), "<</Producer(Example PDF Library 9.0)/Creator(\xfe\xff\x00W\x00o\x00r\x00d)/CreationDate(D:20260504101112+01'00')/Title<feff00410042>>>")
	titled.trailer = "/Info 6 0 R/ID[(0123456789abcdef)(0123456789abcdef)]/DocChecksum/0123456789ABCDEF0123456789ABCDEF"
	add("of an office", titled.classic())
	add("of an office, packed", titled.packed(filters[1]))
	many := newPDF("", "")
	for i := range 3000 {
		many.add("<</Type/Annot/Subtype/Link/Rect[%d 0 9 9]/Dest[3 0 R/Fit]>>", i)
	}
	add("of thousands of objects", many.classic())
	add("of thousands of packed objects", many.packed(filters[9]))
	return all
}

// rebuildTable rewrites the table of a file whose objects have moved.
func rebuildTable(file []byte) []byte {
	start := bytes.LastIndex(file, []byte("xref\n0 "))
	b := bytes.NewBuffer(bytes.Clone(file[:start]))
	var count int
	_, _ = fmt.Sscanf(string(file[start:]), "xref\n0 %d", &count)
	fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", count)
	for n := 1; n < count; n++ {
		fmt.Fprintf(b, "%010d 00000 n \n", bytes.Index(file, fmt.Appendf(nil, "%d 0 obj", n)))
	}
	fmt.Fprintf(b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", count, start)
	return b.Bytes()
}

// linearized is a linearized file: the first page and its table come first.
func linearized() []byte {
	p := newPDF("", "")
	bodies := func(b *bytes.Buffer, from, to int, offsets map[int]int) {
		for n := from; n <= to; n++ {
			offsets[n] = p.write(b, n, p.objects[n-1])
		}
	}
	build := func(mainTable, end int) (file []byte, table int) {
		offsets := map[int]int{}
		b := p.begin()
		offsets[6] = p.write(b, 6, pdfObject{body: fmt.Sprintf("<</Linearized 1/L %06d/H[600 100]/O 3/E %06d/N 1/T %06d>>", end, end, mainTable)})
		firstTable := b.Len()
		// The first table is as long as the numbers in it, so it is written twice.
		space := fmt.Sprintf("xref\n3 4\n%strailer\n<</Size 7/Root 1 0 R/Prev %06d>>\nstartxref\n0\n%%%%EOF\n", strings.Repeat("0000000000 00000 n \n", 4), mainTable)
		b.WriteString(space)
		bodies(b, 3, 5, offsets)
		bodies(b, 1, 2, offsets)
		table = b.Len()
		fmt.Fprintf(b, "xref\n0 3\n0000000000 65535 f \n%010d 00000 n \n%010d 00000 n \ntrailer\n<</Size 3/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", offsets[1], offsets[2], firstTable)
		file = b.Bytes()
		at := firstTable + len("xref\n3 4\n")
		for n := 3; n <= 6; n++ {
			copy(file[at+20*(n-3):], fmt.Sprintf("%010d", offsets[n]))
		}
		return file, table
	}
	file, table := build(0, 0)
	file, _ = build(table, len(file))
	return file
}
