package inspect

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
)

// What a PDF may hold.
const (
	maxLeading = 64      // blanks before the header
	maxComment = 4096    // bytes of a comment
	maxObjects = 500_000 // objects of all kinds
)

// pdfFile is a PDF that is read from its first byte to its last.
//
// Readers find objects by the table at the end, and when that is damaged by
// looking for "1 0 obj" anywhere in the file. An attacker makes a file in which
// the two differ. So both are done here: every byte belongs to an object, a
// table or a comment; every "1 0 obj" in the file is one of those objects, not
// the inside of a stream or string; and the tables point at nothing else.
type pdfFile struct {
	lexer
	base      int              // where the header stands
	heads     map[int]int      // of every "1 0 obj" in the file: where the value begins
	places    map[int][]int    // of every object number: where its values begin
	objects   map[int]bool     // where objects begin
	tables    map[int]bool     // where cross-reference tables and streams begin
	packed    map[int][][]byte // of every object number: its values from object streams
	holders   map[int]bool     // the object streams
	entries   []pdfTableEntry
	links     []int // where tables say that tables are
	count     int   // objects so far
	unpacked  int64
	ends      []int          // where each %%EOF ends
	later     []func() error // what can be judged when every object is known
	catalogue bool
}

// pdfTableEntry says where an object is: at an offset, or in an object stream.
type pdfTableEntry struct {
	offset int
	holder int // not 0: the object stream
}

// objectHead is how every reader recognises the beginning of an object.
var objectHead = regexp.MustCompile(`(\d+)[ \t\r\n\f\x00]+(\d+)[ \t\r\n\f\x00]+obj`)

// checkPDF reads a PDF whole.
func checkPDF(data []byte) error {
	f := &pdfFile{
		lexer: lexer{data: data}, heads: map[int]int{}, places: map[int][]int{}, objects: map[int]bool{},
		tables: map[int]bool{}, packed: map[int][][]byte{}, holders: map[int]bool{},
	}
	if err := f.header(); err != nil {
		return err
	}
	for _, m := range objectHead.FindAllSubmatchIndex(data, -1) {
		number, err := strconv.Atoi(string(data[m[2]:m[3]]))
		if err != nil {
			return Malformed
		}
		f.heads[m[0]] = m[1]
		f.places[number] = append(f.places[number], m[1])
	}
	if len(f.heads) > maxObjects {
		return TooComplex
	}
	if err := f.body(); err != nil {
		return err
	}
	if len(f.objects) != len(f.heads) {
		return Polyglot // objects inside of something else
	}
	if err := f.checkTables(); err != nil {
		return err
	}
	for _, judge := range f.later {
		if err := judge(); err != nil {
			return err
		}
	}
	if !f.catalogue {
		return Malformed
	}
	return nil
}

// header passes over the first line. A mark of the byte order and blanks before
// it are what careless programs write; anything else is another file.
func (f *pdfFile) header() error {
	f.next("\xef\xbb\xbf")
	f.skipSpace()
	if f.at > maxLeading || !bytes.HasPrefix(f.data[f.at:], []byte("%PDF-")) {
		return WrongType
	}
	f.base = f.at
	line := f.comment()
	if len(line) < 8 || !isDigit(line[5]) || line[6] != '.' || !isDigit(line[7]) {
		return Malformed
	}
	return f.checkComment(line[len("%PDF-"):])
}

// body reads everything behind the header.
func (f *pdfFile) body() error {
	for {
		f.skipSpace()
		if f.at >= len(f.data) {
			break
		}
		start := f.at
		err := f.part()
		if err == nil {
			continue
		}
		// What cannot be read behind the end of a PDF is no part of it.
		unread := errors.Is(err, Malformed) || errors.Is(err, Truncated)
		if n := len(f.ends); unread && n > 0 && start >= f.ends[n-1] && !f.objects[start] {
			return checkRest(f.data[f.ends[n-1]:])
		}
		return err
	}
	if len(f.ends) == 0 {
		return Truncated
	}
	// Behind the last end there may be blanks, and not the beginning of more.
	return checkRest(f.data[f.ends[len(f.ends)-1]:])
}

// part reads one part of the body.
func (f *pdfFile) part() error {
	switch start := f.at; {
	case f.peek() == '%':
		line := f.comment()
		if bytes.HasPrefix(line, []byte("%%EOF")) {
			f.at = start + len("%%EOF") // some writers go on in the same line
			f.ends = append(f.ends, f.at)
			return nil
		}
		return f.checkComment(line)
	case isDigit(f.peek()):
		return f.object()
	case f.next("xref"):
		f.tables[start] = true
		return f.table()
	case f.next("trailer"):
		v, err := f.value(0)
		if err != nil {
			return err
		}
		dict, ok := v.(pdfDict)
		if !ok {
			return Malformed
		}
		f.link(dict)
		return f.judge(dict, false)
	case f.next("startxref"):
		f.skip()
		offset, ok := f.whole()
		if !ok {
			return Malformed
		}
		if offset != 0 { // the first of two tables of a linearized file says 0
			f.links = append(f.links, offset)
		}
		return nil
	default:
		return Malformed
	}
}

// checkComment judges a comment, in which another file may stand.
func (f *pdfFile) checkComment(line []byte) error {
	if len(line) > maxComment {
		return Polyglot
	}
	return lookInText(line)
}

// object reads an object with its stream.
func (f *pdfFile) object() error {
	start := f.at
	at, ok := f.heads[start]
	if !ok {
		return Malformed
	}
	f.objects[start] = true
	if f.count++; f.count > maxObjects {
		return TooComplex
	}
	number, _ := f.whole()
	f.at = at
	f.skip()
	if f.next("endobj") {
		return nil // an empty one
	}
	v, err := f.value(0)
	if err != nil {
		return err
	}
	f.skip()
	dict, isDict := v.(pdfDict)
	hasStream := isDict && f.next("stream")
	if hasStream {
		body, err := f.stream(dict)
		if err != nil {
			return err
		}
		if err := f.openStream(start, number, dict, body); err != nil {
			return err
		}
		f.skip()
	}
	if err := f.judge(v, hasStream); err != nil {
		return err
	}
	if f.next("endobj") || f.heads[f.at] > 0 {
		return nil // some writers leave it out
	}
	for _, word := range []string{"xref", "trailer", "startxref"} {
		if bytes.HasPrefix(f.data[f.at:], []byte(word)) {
			return nil
		}
	}
	if f.at >= len(f.data) {
		return Truncated
	}
	return Malformed
}

// stream returns the body of a stream and passes over its end. The length that
// the dictionary states is believed when the end stands there; otherwise the
// end is looked for, as readers do.
func (f *pdfFile) stream(dict pdfDict) ([]byte, error) {
	if !f.next("\r\n") && !f.next("\n") && !f.next("\r") {
		f.skipBlanks()
		if !f.next("\r\n") && !f.next("\n") {
			return nil, Malformed
		}
	}
	start := f.at
	for _, length := range f.lengths(dict.get("Length")) {
		if length < 0 || length > len(f.data)-start {
			continue
		}
		f.at = start + length
		f.skipSpace()
		if f.at-start-length <= 4 && f.next("endstream") {
			return f.data[start : start+length], nil
		}
	}
	end := bytes.Index(f.data[start:], []byte("endstream"))
	if end < 0 {
		return nil, Truncated
	}
	f.at = start + end + len("endstream")
	return f.data[start : start+end], nil
}

func (f *pdfFile) skipBlanks() {
	for f.peek() == ' ' || f.peek() == '\t' {
		f.at++
	}
}

// lengths returns what a length may be: the number, or what any version of the
// object says that it refers to.
func (f *pdfFile) lengths(v any) []int {
	switch v := v.(type) {
	case pdfNumber:
		return []int{int(v)}
	case pdfRef:
		var all []int
		for _, at := range f.places[v.number] {
			l := lexer{f.data, at}
			l.skip()
			if n, ok := l.whole(); ok {
				all = append(all, n)
			}
		}
		return all
	default:
		return nil
	}
}

// resolve returns what a value may be: itself, or every version of the object
// that it refers to.
func (f *pdfFile) resolve(v any) []any {
	ref, ok := v.(pdfRef)
	if !ok {
		return []any{v}
	}
	var all []any
	for _, at := range f.places[ref.number] {
		if v, err := (&lexer{f.data, at}).value(0); err == nil {
			all = append(all, v)
		}
	}
	for _, packed := range f.packed[ref.number] {
		if v, err := (&lexer{packed, 0}).value(0); err == nil {
			all = append(all, v)
		}
	}
	return all
}
