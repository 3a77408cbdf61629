package inspect

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
)

// The limits of a PDF.
const (
	maxLeading = 64      // blanks before the header
	maxComment = 4096    // bytes of a comment
	maxObjects = 500_000 // objects of all kinds
)

// pdfFile reads a PDF from its first byte to its last.
//
// Readers find objects by the table at the end and, if that is damaged, by
// searching for "1 0 obj" in the whole file. An attacker makes a file in which the
// two differ. So both are done here: every byte belongs to an object, a
// table or a comment; every "1 0 obj" in the file is one of those objects, not
// the inside of a stream or string; and the tables point at nothing else.
type pdfFile struct {
	lexer
	base          int              // the offset of the header
	heads         map[int]int      // offset of every "1 0 obj" in the file: offset of its value
	places        map[int][]int    // object number: offsets of its values
	objects       map[int]bool     // offsets of objects
	tables        map[int]bool     // offsets of cross-reference tables and streams
	inStreams     map[int][][]byte // object number: its values in object streams
	objectStreams map[int]bool     // the numbers of the object streams
	entries       []pdfTableEntry
	links         []int // offsets of further tables, from the tables
	count         int   // objects so far
	unpacked      int64
	ends          []int          // where each %%EOF ends
	deferred      []func() error // checks that need all objects
	catalogue     bool
}

// pdfTableEntry locates an object: at an offset, or in an object stream.
type pdfTableEntry struct {
	offset int
	holder int // not 0: the object stream
}

// objectHead is the pattern by which every reader recognises the start of an object.
var objectHead = regexp.MustCompile(`(\d+)[ \t\r\n\f\x00]+(\d+)[ \t\r\n\f\x00]+obj`)

// checkPDF reads a PDF completely.
func checkPDF(data []byte) error {
	f := &pdfFile{
		lexer: lexer{data: data}, heads: map[int]int{}, places: map[int][]int{}, objects: map[int]bool{},
		tables: map[int]bool{}, inStreams: map[int][][]byte{}, objectStreams: map[int]bool{},
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
		return Polyglot // objects inside something else
	}
	if err := f.checkTables(); err != nil {
		return err
	}
	for _, check := range f.deferred {
		if err := check(); err != nil {
			return err
		}
	}
	if !f.catalogue {
		return Malformed
	}
	return nil
}

// header skips the first line. Careless programs write a byte order mark and
// spaces before it; anything else is another file.
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

// body reads everything after the header.
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
		// What cannot be read after the end of a PDF is not part of it.
		unread := errors.Is(err, Malformed) || errors.Is(err, Truncated)
		if n := len(f.ends); unread && n > 0 && start >= f.ends[n-1] && !f.objects[start] {
			return checkTrailing(f.data[f.ends[n-1]:])
		}
		return err
	}
	if len(f.ends) == 0 {
		return Truncated
	}
	// After the last end there may be white space, but not the start of more.
	return checkTrailing(f.data[f.ends[len(f.ends)-1]:])
}

// part reads one part of the body.
func (f *pdfFile) part() error {
	switch start := f.at; {
	case f.peek() == '%':
		line := f.comment()
		if bytes.HasPrefix(line, []byte("%%EOF")) {
			f.at = start + len("%%EOF") // some writers continue on the same line
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
		return f.check(dict, false)
	case f.next("startxref"):
		f.skip()
		offset, ok := f.whole()
		if !ok {
			return Malformed
		}
		if offset != 0 { // it is 0 in the first of two tables of a linearized file
			f.links = append(f.links, offset)
		}
		return nil
	default:
		return Malformed
	}
}

// checkComment checks a comment, which may contain another file.
func (f *pdfFile) checkComment(line []byte) error {
	if len(line) > maxComment {
		return Polyglot
	}
	return findForeignInText(line)
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
	if err := f.check(v, hasStream); err != nil {
		return err
	}
	if f.next("endobj") || f.heads[f.at] > 0 {
		return nil // some writers omit it
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

// stream returns the body of a stream and skips its end. The length in the
// dictionary is used if the stream ends there; otherwise the end is searched for,
// as readers do.
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

// lengths returns the possible values of a length: the number, or that of any
// version of the object that it refers to.
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

// resolve returns the possible values of a value: itself, or every version of the
// object that it refers to.
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
	for _, packed := range f.inStreams[ref.number] {
		if v, err := (&lexer{packed, 0}).value(0); err == nil {
			all = append(all, v)
		}
	}
	return all
}
