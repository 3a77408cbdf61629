package corpus

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"image/png"
	"strings"
)

// payload is what an attacker hides in a document. Each is harmless: it has the form
// of an attack and does nothing.
type payload struct {
	name string
	data []byte
	code string // the most specific refusal
}

// payloads are the payloads to hide.
func payloads() []payload {
	return []payload{
		{"zip", aZip("readme.txt", false), "archive"},
		{"stored zip", aZip("a.exe", true), "archive"},
		{"jar", aZip("META-INF/MANIFEST.MF", false), "archive"},
		{"rar", append([]byte("Rar!\x1a\x07\x01\x00"), bytes.Repeat([]byte{0x33, 0x92}, 40)...), "archive"},
		{"7z", append([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), bytes.Repeat([]byte{0x5d, 0x11}, 40)...), "archive"},
		{"cabinet", append([]byte("MSCF\x00\x00\x00\x00"), bytes.Repeat([]byte{0x2c, 0x01}, 40)...), "archive"},
		{"xz", append([]byte("\xfd7zXZ\x00\x00\x04"), bytes.Repeat([]byte{0xe6, 0xd6}, 40)...), "archive"},
		{"gzip", aGzip("hello"), "archive"},
		{"html", []byte("<!DOCTYPE html><html><body onload=\"f()\"><p>hello</p></body></html>"), "polyglot"},
		{"script", []byte("\n<script>void 0</script>\n"), "polyglot"},
		{"capital script", []byte("<SCRIPT SRC=//example.com/a.js></SCRIPT>"), "polyglot"},
		{"php", []byte("<?php echo 1; ?>"), "polyglot"},
		{"phar", []byte("<?php __HALT_COMPILER(); ?>\r\n"), "polyglot"},
		{"svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="f()"></svg>`), "polyglot"},
		{"javascript", []byte("*/=1;alert(1);/*"), "polyglot"},
		{"shell", []byte("\n#!/bin/sh\necho hello\n"), "polyglot"},
		{"program for linux", append([]byte("\x7fELF\x02\x01\x01\x00"), make([]byte, 120)...), "polyglot"},
		{"program for windows", append([]byte("MZ\x90\x00\x03\x00\x00\x00"), []byte(strings.Repeat("\x00", 50)+"!This program cannot be run in DOS mode.\r\r\n$")...), "polyglot"},
		{"pdf", newPDF("", "").classic(), "polyglot"},
	}
}

// aZip is an archive of one file.
func aZip(name string, stored bool) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	method := zip.Deflate
	if stored {
		method = zip.Store
	}
	f, _ := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	_, _ = f.Write([]byte("hello, and hello again"))
	_ = w.Close()
	return b.Bytes()
}

func aGzip(content string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return b.Bytes()
}

func aTar(name, content string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))})
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return b.Bytes()
}

// bomb is a zlib stream of the given number of mebibytes of zeros, a thousandth of
// that in size. Its middle is repeated unchanged.
func bomb(mebibytes int) []byte {
	zeros := make([]byte, 1<<20)
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	block := func() []byte {
		b.Reset()
		_, _ = w.Write(zeros)
		_ = w.Flush()
		return bytes.Clone(b.Bytes())
	}
	out := append([]byte{0x78, 0xda}, block()...)
	middle := block()
	for range max(mebibytes-1, 0) {
		out = append(out, middle...)
	}
	b.Reset()
	_ = w.Close()
	out = append(out, b.Bytes()...)
	// The sum of nothing: the high half grows by one for each byte.
	sum := uint32(int64(mebibytes)<<20%65521)<<16 | 1
	return binary.BigEndian.AppendUint32(out, sum)
}

// pictures are an image of each format to hide payloads in.
func pictures() []Sample {
	var b bytes.Buffer
	_ = png.Encode(&b, drawing(40, 30))
	return []Sample{
		{Name: "png", MediaType: typePNG, Data: b.Bytes()},
		{Name: "jpeg", MediaType: typeJPEG, Data: aJPEG(drawing(40, 30), 80)},
		{Name: "gif", MediaType: typeGIF, Data: aGIF(2, noConfig)},
		{Name: "webp", MediaType: typeWebP, Data: riff(lossless(40, 30, false))},
		{Name: "tiff", MediaType: typeTIFF, Data: aTIFF(littleEndian, grey(40, 30))},
		{Name: "tiff of other order", MediaType: typeTIFF, Data: aTIFF(bigEndian, grey(40, 30).pack(8, deflate))},
	}
}

// carriers are images and PDFs to hide payloads in.
func carriers() []Sample {
	return append(pictures(),
		Sample{Name: "pdf", MediaType: typePDF, Data: newPDF("", "").classic()},
		Sample{Name: "packed pdf", MediaType: typePDF, Data: newPDF("", "").packed(filters[1])},
	)
}
