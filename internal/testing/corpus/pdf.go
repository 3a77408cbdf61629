package corpus

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
)

// pdf builds a PDF. The object numbers count from 1; the first object is the
// catalogue.
type pdf struct {
	version string // "1.4" when empty
	eol     string // "\n" when empty
	head    string // what stands behind the first line
	objects []pdfObject
	trailer string // what the trailer holds beside Size and Root
	end     string // what stands behind %%EOF; eol when empty
}

// pdfObject is a value, and the stream behind it.
type pdfObject struct {
	body   string
	stream []byte
}

// add adds an object.
func (p *pdf) add(format string, args ...any) {
	p.objects = append(p.objects, pdfObject{body: fmt.Sprintf(format, args...)})
}

// addStream adds a stream. The entries stand in its dictionary beside Length.
func (p *pdf) addStream(entries string, data []byte) {
	p.objects = append(p.objects, pdfObject{fmt.Sprintf("<<%s/Length %d>>", entries, len(data)), data})
}

// text is what stands on a page.
const text = "BT /F1 12 Tf 72 720 Td (Certificate of incorporation) Tj ET\n"

// newPDF returns a letter of one page. The catalogue, the page and the trailer
// get further entries.
func newPDF(catalogue, page string) *pdf {
	p := &pdf{head: "%\xe2\xe3\xcf\xd3"}
	p.add("<</Type/Catalog/Pages 2 0 R%s>>", catalogue)
	p.add("<</Type/Pages/Kids[3 0 R]/Count 1>>")
	p.add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>%s>>", page)
	p.addStream("", []byte(text))
	p.add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	return p
}

func (p *pdf) line() string {
	if p.eol == "" {
		return "\n"
	}
	return p.eol
}

// begin writes the header.
func (p *pdf) begin() *bytes.Buffer {
	var b bytes.Buffer
	version := p.version
	if version == "" {
		version = "1.4"
	}
	b.WriteString("%PDF-" + version + p.line())
	if p.head != "" {
		b.WriteString(p.head + p.line())
	}
	return &b
}

// write writes an object and returns where.
func (p *pdf) write(b *bytes.Buffer, number int, o pdfObject) (offset int) {
	offset = b.Len()
	nl := p.line()
	fmt.Fprintf(b, "%d 0 obj%s%s%s", number, nl, o.body, nl)
	if o.stream != nil {
		b.WriteString("stream\r\n")
		b.Write(o.stream)
		b.WriteString(nl + "endstream" + nl)
	}
	b.WriteString("endobj" + nl)
	return offset
}

// finish writes the end of a file or of an update.
func (p *pdf) finish(b *bytes.Buffer, start int) {
	end := p.end
	if end == "" {
		end = p.line()
	}
	fmt.Fprintf(b, "startxref%s%d%s%%%%EOF%s", p.line(), start, p.line(), end)
}

// classic writes the file with a table.
func (p *pdf) classic() []byte {
	b := p.begin()
	var offsets []int
	for i, o := range p.objects {
		offsets = append(offsets, p.write(b, i+1, o))
	}
	start := b.Len()
	nl := p.line()
	fmt.Fprintf(b, "xref%s0 %d%s0000000000 65535 f%s", nl, len(offsets)+1, nl, tableEnd(nl))
	for _, offset := range offsets {
		fmt.Fprintf(b, "%010d 00000 n%s", offset, tableEnd(nl))
	}
	fmt.Fprintf(b, "trailer%s<</Size %d/Root 1 0 R%s>>%s", nl, len(offsets)+1, p.trailer, nl)
	p.finish(b, start)
	return b.Bytes()
}

// tableEnd ends a line of a table, which always has 20 bytes.
func tableEnd(nl string) string {
	if len(nl) == 2 {
		return nl
	}
	return " " + nl
}

// update adds objects to a finished file, as an editor does that saves quickly.
// Objects of numbers that exist are replaced.
func (p *pdf) update(file []byte, objects map[int]string, trailer string) []byte {
	b := bytes.NewBuffer(bytes.Clone(file))
	previous := lastStart(file)
	var table strings.Builder
	size := len(p.objects) + 1
	for number := range 10_000 {
		body, ok := objects[number]
		if !ok {
			continue
		}
		fmt.Fprintf(&table, "%d 1\n%010d 00000 n \n", number, p.write(b, number, pdfObject{body: body}))
		size = max(size, number+1)
	}
	start := b.Len()
	fmt.Fprintf(b, "xref\n%strailer\n<</Size %d/Root 1 0 R/Prev %d%s>>\n", table.String(), size, previous, trailer)
	p.finish(b, start)
	return b.Bytes()
}

// lastStart returns what the last startxref says.
func lastStart(file []byte) (n int) {
	_, after, _ := bytes.CutLast(file, []byte("startxref"))
	_, _ = fmt.Sscan(string(after), &n)
	return n
}

// packed writes the file with a cross-reference stream, and the objects without
// a stream in an object stream. The filter packs both.
func (p *pdf) packed(filter filter) []byte {
	b := p.begin()
	holder, table := len(p.objects)+1, len(p.objects)+2
	var index, bodies strings.Builder
	rows := make([][3]int, table+1)
	rows[0] = [3]int{0, 0, 65535}
	inside := 0
	for i, o := range p.objects {
		if o.stream != nil {
			rows[i+1] = [3]int{1, p.write(b, i+1, o), 0}
			continue
		}
		fmt.Fprintf(&index, "%d %d ", i+1, bodies.Len())
		bodies.WriteString(o.body + " ")
		rows[i+1] = [3]int{2, holder, inside}
		inside++
	}
	body := filter.pack([]byte(index.String() + bodies.String()))
	rows[holder] = [3]int{1, p.write(b, holder, pdfObject{
		fmt.Sprintf("<</Type/ObjStm/N %d/First %d%s/Length %d>>", inside, index.Len(), filter.entries, len(body)), body,
	}), 0}
	start := b.Len()
	rows[table] = [3]int{1, start, 0}
	var plain []byte
	for _, row := range rows {
		plain = append(plain, byte(row[0]))
		plain = binary.BigEndian.AppendUint32(plain, uint32(row[1]))
		plain = binary.BigEndian.AppendUint16(plain, uint16(row[2]&0xffff))
	}
	body = filter.pack(plain)
	p.write(b, table, pdfObject{
		fmt.Sprintf("<</Type/XRef/Size %d/W[1 4 2]/Root 1 0 R%s%s/Length %d>>", len(rows), p.trailer, filter.entries, len(body)), body,
	})
	p.finish(b, start)
	return b.Bytes()
}

// filter is a way to pack a stream.
type filter struct {
	name    string
	entries string
	pack    func([]byte) []byte
}

// filters are the ways to pack a stream.
var filters = []filter{
	{"plain", "", func(data []byte) []byte { return data }},
	{"flate", "/Filter/FlateDecode", deflate},
	{"hex", "/Filter/ASCIIHexDecode", func(data []byte) []byte { return fmt.Appendf(nil, "%x>", data) }},
	{"85", "/Filter/ASCII85Decode", ascii},
	{"lzw", "/Filter/LZWDecode", lzwPack},
	{"runs", "/Filter/RunLengthDecode", func(data []byte) []byte { return append(packBits(data), 128) }},
	{"flate in 85", "/Filter[/ASCII85Decode/FlateDecode]", func(data []byte) []byte { return ascii(deflate(data)) }},
	{"flate in flate", "/Filter[/FlateDecode/FlateDecode]", func(data []byte) []byte { return deflate(deflate(data)) }},
	{"flate in hex in lzw", "/Filter[/LZWDecode/ASCIIHexDecode/FlateDecode]", func(data []byte) []byte {
		return lzwPack(fmt.Appendf(nil, "%x>", deflate(data)))
	}},
	{"predicted", "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 7>>", func(data []byte) []byte { return deflate(predict(data, 7)) }},
	{"short names", "/Filter/Fl", deflate},
	// The last one. A scanner finds it suspicious, and is right.
	{"escaped names", "/#46ilter/F#6cate#44ecode", deflate},
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// predict subtracts each row from the one below.
func predict(data []byte, columns int) []byte {
	var out []byte
	above := make([]byte, columns)
	for len(data) > 0 {
		row := make([]byte, columns)
		copy(row, data)
		data = data[min(columns, len(data)):]
		out = append(out, 2)
		for i := range row {
			out = append(out, row[i]-above[i])
		}
		above = row
	}
	return out
}
