package inspect

import (
	"bytes"
	"slices"
	"strconv"
)

// The values of a PDF. Anything else that a parser returns is a pdfWord: true,
// false and null.
type (
	pdfName   string // with its escapes resolved
	pdfString string // with its escapes resolved
	pdfNumber float64
	pdfWord   string
	pdfArray  []any
	pdfRef    struct{ number, generation int }
)

// pdfDict keeps every entry, even if a name occurs twice: which of them counts
// depends on the reader.
type pdfDict []pdfEntry

type pdfEntry struct {
	key   pdfName
	value any
}

// get returns the first entry of a name.
func (d pdfDict) get(keys ...pdfName) any {
	for _, e := range d {
		if slices.Contains(keys, e.key) {
			return e.value
		}
	}
	return nil
}

// maxNesting is how deeply values may be nested.
const maxNesting = 128

// lexer reads the values of a PDF. It reports a value that reaches the end of
// the data as Truncated and one that cannot be read as Malformed.
type lexer struct {
	data []byte
	at   int
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// peek returns the current byte, or 0 at the end.
func (l *lexer) peek() byte {
	if l.at >= len(l.data) {
		return 0
	}
	return l.data[l.at]
}

func (l *lexer) skipSpace() {
	for l.at < len(l.data) && isSpace(l.data[l.at]) {
		l.at++
	}
}

// skip skips white space and comments.
func (l *lexer) skip() {
	for l.skipSpace(); l.peek() == '%'; l.skipSpace() {
		l.comment()
	}
}

// comment reads a comment to the end of its line.
func (l *lexer) comment() []byte {
	start := l.at
	for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
		l.at++
	}
	return l.data[start:l.at]
}

// word reads the regular characters at the current offset.
func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.data) && !isSpace(l.data[l.at]) && !isDelimiter(l.data[l.at]) {
		l.at++
	}
	return string(l.data[start:l.at])
}

// next reports whether a word follows, and skips it.
func (l *lexer) next(word string) bool {
	if !bytes.HasPrefix(l.data[min(l.at, len(l.data)):], []byte(word)) {
		return false
	}
	l.at += len(word)
	return true
}

// whole reads a whole number without a sign.
func (l *lexer) whole() (int, bool) {
	start := l.at
	for l.at < len(l.data) && isDigit(l.data[l.at]) {
		l.at++
	}
	n, err := strconv.Atoi(string(l.data[start:l.at]))
	return n, err == nil
}

// value reads one value.
func (l *lexer) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, TooComplex
	}
	l.skip()
	if l.at >= len(l.data) {
		return nil, Truncated
	}
	switch c := l.data[l.at]; {
	case c == '/':
		l.at++
		return l.name(), nil
	case c == '(':
		return l.literal()
	case l.next("<<"):
		return l.dict(depth)
	case c == '<':
		return l.hex()
	case c == '[':
		l.at++
		return l.array(depth)
	case isDigit(c), c == '+', c == '-', c == '.':
		return l.number(), nil
	}
	switch word := l.word(); word {
	case "true", "false", "null":
		return pdfWord(word), nil
	default:
		return nil, Malformed
	}
}

// name reads a name after its slash.
func (l *lexer) name() pdfName {
	raw := l.word()
	if bytes.IndexByte([]byte(raw), '#') < 0 {
		return pdfName(raw)
	}
	var name []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if c, err := strconv.ParseUint(raw[i+1:i+3], 16, 8); err == nil {
				name = append(name, byte(c))
				i += 2
				continue
			}
		}
		name = append(name, raw[i])
	}
	return pdfName(name)
}

// number reads a number, or a reference, which starts like one.
func (l *lexer) number() any {
	start := l.at
	if number, ok := l.whole(); ok && isSpace(l.peek()) {
		l.skip()
		if generation, ok := l.whole(); ok && isSpace(l.peek()) {
			l.skip()
			if l.peek() == 'R' && (l.at+1 >= len(l.data) || isSpace(l.data[l.at+1]) || isDelimiter(l.data[l.at+1])) {
				l.at++
				return pdfRef{number, generation}
			}
		}
	}
	l.at = start
	n, err := strconv.ParseFloat(l.word(), 64)
	if err != nil {
		n = 0 // readers treat numbers like 0.-5 or --1 as 0 too
	}
	return pdfNumber(n)
}

func (l *lexer) array(depth int) (any, error) {
	var all pdfArray
	for {
		l.skip()
		if l.next("]") {
			return all, nil
		}
		v, err := l.value(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

func (l *lexer) dict(depth int) (any, error) {
	all := pdfDict{}
	for {
		l.skip()
		if l.next(">>") {
			return all, nil
		}
		if l.at >= len(l.data) {
			return nil, Truncated
		}
		if !l.next("/") {
			return nil, Malformed
		}
		key := l.name()
		l.skip()
		if bytes.HasPrefix(l.data[l.at:], []byte(">>")) {
			all = append(all, pdfEntry{key, pdfWord("null")})
			continue
		}
		v, err := l.value(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, pdfEntry{key, v})
	}
}

// hex reads a string in angle brackets.
func (l *lexer) hex() (any, error) {
	end := bytes.IndexByte(l.data[l.at:], '>')
	if end < 0 {
		return nil, Truncated
	}
	var digits []byte
	for _, c := range l.data[l.at+1 : l.at+end] {
		switch {
		case isDigit(c), c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			digits = append(digits, c)
		case !isSpace(c):
			return nil, Malformed
		}
	}
	l.at += end + 1
	return pdfString(unhex(digits)), nil
}

// unhex converts pairs of digits to bytes; the last digit may be missing.
func unhex(digits []byte) []byte {
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	plain := make([]byte, 0, len(digits)/2)
	for i := 0; i < len(digits); i += 2 {
		plain = append(plain, nibble(digits[i])<<4|nibble(digits[i+1]))
	}
	return plain
}

func nibble(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	default:
		return c - 'A' + 10
	}
}

// literal reads a string in round brackets.
func (l *lexer) literal() (any, error) {
	var s []byte
	depth := 0
	for ; l.at < len(l.data); l.at++ {
		switch c := l.data[l.at]; c {
		case '(':
			if depth++; depth > 1 {
				s = append(s, c)
			}
		case ')':
			if depth--; depth == 0 {
				l.at++
				return pdfString(s), nil
			}
			s = append(s, c)
		case '\\':
			s = l.escape(s)
		default:
			s = append(s, c)
		}
	}
	return nil, Truncated
}

// escape reads an escape in a string, and stays on its last byte.
func (l *lexer) escape(s []byte) []byte {
	l.at++
	c := l.peek()
	if c >= '0' && c <= '7' {
		n := 0
		for i := 0; i < 3 && l.peek() >= '0' && l.peek() <= '7'; i++ {
			n = n<<3 + int(l.peek()-'0')
			l.at++
		}
		l.at--
		return append(s, byte(n))
	}
	switch c {
	case '\r':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '\n' {
			l.at++
		}
		return s
	case '\n':
		return s
	}
	if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
		return append(s, "\n\r\t\b\f"[i])
	}
	return append(s, c)
}
