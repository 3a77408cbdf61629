package linefile

import (
	"bytes"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// signatures are the first bytes of other kinds of file.
var signatures = []struct {
	offset          int
	signature, what string
}{
	{0, "PK\x03\x04", "a ZIP archive or a spreadsheet"},
	{0, "PK\x05\x06", "an empty ZIP archive"},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet or document in an old format"},
	{0, "%PDF", "a PDF document"},
	{0, "PAR1", "a Parquet file"},
	{0, "ORC", "an ORC file"},
	{0, "Obj\x01", "an Avro file"},
	{0, "SQLite format 3\x00", "a database"},
	{0, "BZh", "compressed with bzip2"},
	{0, "\xfd7zXZ\x00", "compressed with xz"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{0, "Rar!\x1a\x07", "a RAR archive"},
	{0, "\x04\x22\x4d\x18", "compressed with lz4"},
	{0, "\x1f\x9d", "compressed with compress"},
	{257, "ustar", "a tar archive"},
	{0, "\x89PNG", "a picture"},
	{0, "\xff\xd8\xff", "a picture"},
	{0, "GIF8", "a picture"},
	{0, "\x7fELF", "a program"},
	{0, "-----BEGIN ", "an encrypted or signed message"},
	{0, "\x00\x00\xfe\xff", "text in UTF-32"},
	{0, "\xff\xfe\x00\x00", "text in UTF-32"},
	{0, "\xff\xfe", "text in UTF-16"},
	{0, "\xfe\xff", "text in UTF-16"},
}

// checkFormat returns an error if the start of the content shows that it is not CSV.
func checkFormat(head []byte) error {
	what := ""
	for _, m := range signatures {
		if len(head) >= m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.signature)) {
			what = m.what
			break
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	first, _, _ := bytes.Cut(head, []byte{'\n'}) // the other lines are checked one by one
	switch {
	case what != "":
	case isGzip(head), isZstd(head):
		what = "compressed twice"
	case bytes.HasPrefix(text, []byte("<")):
		what = "an HTML or XML document"
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		what = "JSON"
	case len(first) > 1 && (first[0] == 0) != (first[1] == 0):
		what = "text in UTF-16" // without a byte order mark
	case bytes.IndexByte(first, 0) >= 0:
		what = "not text"
	}
	if what == "" {
		return nil
	}
	return fault.New(fault.UnsupportedMediaType, "The file is "+what+". Send CSV as text in UTF-8, plain or compressed once with gzip or zstd.")
}
