package inspect

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/ascii85"
	"errors"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// The limits of unpacked streams of a PDF.
const (
	maxStream     = 256 << 20  // bytes of one stream
	maxStreams    = 1024 << 20 // bytes of all
	maxStructure  = 64 << 20   // bytes of one that contains objects
	maxFilters    = 8
	maxPDFPixels  = 4 * maxPixels // a scan needs only one bit per pixel
	maxPredictors = 1 << 16       // bytes of a row
)

// openStream unpacks a stream, and reads those that contain objects or tables.
func (f *pdfFile) openStream(start, number int, dict pdfDict, body []byte) error {
	if err := f.checkPDFImage(dict); err != nil {
		return err
	}
	kind, _ := dict.get("Type").(pdfName)
	if kind != "ObjStm" && kind != "XRef" {
		return f.unpack(dict, body)
	}
	plain, err := f.structure(dict, body)
	if err != nil {
		return err
	}
	if kind == "XRef" {
		f.tables[start] = true
		return f.tableStream(dict, plain)
	}
	f.objectStreams[number] = true
	return f.objectStream(dict, plain)
}

// checkPDFImage checks the size of an image.
func (f *pdfFile) checkPDFImage(dict pdfDict) error {
	number := func(keys ...pdfName) float64 {
		for _, v := range f.resolve(dict.get(keys...)) {
			if n, ok := v.(pdfNumber); ok {
				return float64(n)
			}
		}
		return 0
	}
	if width, height := number("Width", "W"), number("Height", "H"); width > maxPDFPixels || height > maxPDFPixels || width*height > maxPDFPixels {
		return TooLargeImage
	}
	return nil
}

// filters returns the names of a stream's filters and their parameters.
func (f *pdfFile) filters(dict pdfDict) (names []pdfName, params []pdfDict, err error) {
	for _, v := range f.resolve(dict.get("Filter")) {
		list, ok := v.(pdfArray)
		if !ok {
			list = pdfArray{v}
		}
		for _, v := range list {
			for _, v := range f.resolve(v) {
				switch v := v.(type) {
				case pdfName:
					names = append(names, v)
				case nil, pdfWord:
				default:
					return nil, nil, Malformed
				}
			}
		}
	}
	if len(names) > maxFilters {
		return nil, nil, TooComplex
	}
	for _, v := range f.resolve(dict.get("DecodeParms")) {
		list, ok := v.(pdfArray)
		if !ok {
			list = pdfArray{v}
		}
		for _, v := range list {
			p := pdfDict{}
			for _, v := range f.resolve(v) {
				if d, ok := v.(pdfDict); ok {
					p = d
				}
			}
			params = append(params, p)
		}
	}
	for len(params) < len(names) {
		params = append(params, nil)
	}
	return names, params, nil
}

// open returns a reader of the unpacked stream. It stops at an image format, whose
// name it returns.
func (f *pdfFile) open(dict pdfDict, body []byte) (r io.Reader, imageFormat pdfName, err error) {
	names, params, err := f.filters(dict)
	if err != nil {
		return nil, "", err
	}
	r = bytes.NewReader(body)
	for i, name := range names {
		switch name {
		case "FlateDecode", "Fl":
			r = predicted(inflated(r), params[i])
		case "LZWDecode", "LZW":
			r = predicted(unLZW(r, params[i]), params[i])
		case "ASCIIHexDecode", "AHx":
			r = &hexReader{r: r}
		case "ASCII85Decode", "A85":
			r = ascii85.NewDecoder(&ascii85Trimmer{r: r})
		case "RunLengthDecode", "RL":
			r = &runLength{r: bufio.NewReader(r)}
		case "DCTDecode", "DCT", "CCITTFaxDecode", "CCF", "JBIG2Decode", "JPXDecode":
			if i != len(names)-1 {
				return nil, "", Malformed
			}
			return r, name, nil
		case "Crypt":
			return nil, "", Encrypted
		default:
			return nil, "", Malformed
		}
		r = &countingReader{r: r, all: &f.unpacked}
	}
	return r, "", nil
}

// unpack unpacks a stream and discards the result; only metadata and images are
// checked.
func (f *pdfFile) unpack(dict pdfDict, body []byte) error {
	r, imageFormat, err := f.open(dict, body)
	if err != nil {
		return err
	}
	if imageFormat == "DCTDecode" || imageFormat == "DCT" {
		plain, err := readAll(r, maxStream)
		if err != nil {
			return err
		}
		return checkPDFJPEG(plain)
	}
	if kind, _ := dict.get("Type").(pdfName); kind == "Metadata" {
		plain, err := readAll(r, maxText)
		if err != nil {
			return err
		}
		return findForeignInText(plain)
	}
	_, err = io.Copy(io.Discard, r)
	return unpackingError(err)
}

// checkPDFJPEG checks the header of an image inside a PDF.
func checkPDFJPEG(data []byte) error {
	data = bytes.TrimLeft(data, "\r\n")
	if !bytes.HasPrefix(data, []byte{0xff, jpegSOI}) {
		return Malformed
	}
	head, size, err := readJPEGSegments(data)
	if err != nil {
		return err
	}
	if head.width*head.height > maxPDFPixels {
		return TooLargeImage
	}
	return checkTrailing(data[size:])
}

// structure unpacks a stream that contains objects or tables.
func (f *pdfFile) structure(dict pdfDict, body []byte) ([]byte, error) {
	r, imageFormat, err := f.open(dict, body)
	if err != nil {
		return nil, err
	}
	if imageFormat != "" {
		return nil, Malformed
	}
	return readAll(r, maxStructure)
}

// objectStream reads the objects in an object stream.
func (f *pdfFile) objectStream(dict pdfDict, plain []byte) error {
	n, ok := first[pdfNumber](f.resolve(dict.get("N")))
	offset, ok2 := first[pdfNumber](f.resolve(dict.get("First")))
	if !ok || !ok2 || n < 0 || int(n) > maxObjects || offset < 0 || int(offset) > len(plain) {
		return Malformed
	}
	index := lexer{plain[:int(offset)], 0}
	for range int(n) {
		index.skip()
		number, ok := index.whole()
		index.skip()
		at, ok2 := index.whole()
		if !ok || !ok2 || at > len(plain)-int(offset) {
			return Malformed
		}
		if f.count++; f.count > maxObjects {
			return TooComplex
		}
		body := plain[int(offset)+at:]
		if len(bytes.TrimSpace(body)) == 0 {
			continue // an empty last one
		}
		v, err := (&lexer{body, 0}).value(0)
		if errors.Is(err, Truncated) {
			err = Malformed // the file continues
		}
		if err != nil {
			return err
		}
		if err := f.check(v, false); err != nil {
			return err
		}
		f.inStreams[number] = append(f.inStreams[number], body)
	}
	return nil
}

// first returns the first value of a type.
func first[T any](values []any) (t T, ok bool) {
	for _, v := range values {
		if t, ok := v.(T); ok {
			return t, true
		}
	}
	return t, false
}

// readAll reads up to a limit.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, unpackingError(err)
	}
	if int64(len(plain)) > limit {
		return nil, TooComplex
	}
	return plain, nil
}

// unpackingError converts an error of a filter into a refusal.
func unpackingError(err error) error {
	var refusal *Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return decodingError(err)
}

// countingReader counts the unpacked bytes of all streams of a file.
type countingReader struct {
	r   io.Reader
	one int64
	all *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.one += int64(n)
	*c.all += int64(n)
	if c.one > maxStream || *c.all > maxStreams {
		return 0, TooComplex
	}
	return n, err
}

// inflated unpacks Deflate. The checksum is ignored: readers ignore it too, and
// some writers get it wrong.
func inflated(r io.Reader) io.Reader {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return bytes.NewReader(nil) // an empty stream is harmless
	}
	if head[0]&0x0f != 8 || (int(head[0])<<8|int(head[1]))%31 != 0 {
		return failingReader{Malformed}
	}
	return flate.NewReader(r)
}

// unLZW unpacks LZW as PDF and TIFF write it.
func unLZW(r io.Reader, params pdfDict) io.Reader {
	if early, ok := params.get("EarlyChange").(pdfNumber); ok && early == 0 {
		return failingReader{Unreadable} // a variant that no known writer uses
	}
	return lzw.NewReader(r, lzw.MSB, 8)
}

// failingReader returns an error from every read.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
