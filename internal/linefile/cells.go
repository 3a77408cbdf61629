package linefile

import (
	"bytes"
	"unicode/utf8"
)

// cut cuts a line into cells. It stops when there is one more than the header has.
func (r *Reader) cut(text []byte) wrong {
	if bytes.IndexByte(text, '"') >= 0 {
		return r.cutQuoted(text)
	}
	r.cells = r.cells[:0]
	for len(r.cells) <= r.header.width {
		i := bytes.IndexByte(text, ',')
		if i < 0 {
			r.cells = append(r.cells, text)
			break
		}
		r.cells = append(r.cells, text[:i])
		text = text[i+1:]
	}
	return wrong{}
}

// cutQuoted cuts a line that has quotes, as package csv would; a test holds the
// two to the same answer. Some programs put every cell in quotes, and such a file
// must not be slow.
func (r *Reader) cutQuoted(text []byte) wrong {
	r.cells = r.cells[:0]
	r.unquoted = r.unquoted[:0] // has room for a whole line, so that it never moves
	for {
		var cell []byte
		if bytes.HasPrefix(text, []byte{'"'}) {
			var ok bool
			if cell, text, ok = r.unquote(text[1:]); !ok {
				return wrong{"", BadQuotes}
			}
		} else {
			end := bytes.IndexByte(text, ',')
			if end < 0 {
				end = len(text)
			}
			cell, text = text[:end], text[end:]
			if bytes.IndexByte(cell, '"') >= 0 {
				return wrong{"", BadQuotes}
			}
		}
		r.cells = append(r.cells, cell)
		if len(text) == 0 {
			return wrong{}
		}
		if text[0] != ',' {
			return wrong{"", BadQuotes}
		}
		text = text[1:]
	}
}

// unquote returns what stands before the closing quote, with doubled quotes made
// single, and what stands behind it.
func (r *Reader) unquote(text []byte) (cell, rest []byte, ok bool) {
	begin := len(r.unquoted)
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return nil, nil, false
		}
		r.unquoted = append(r.unquoted, text[:i]...)
		text = text[i+1:]
		if !bytes.HasPrefix(text, []byte{'"'}) {
			return r.unquoted[begin:], text, true
		}
		r.unquoted = append(r.unquoted, '"')
		text = text[1:]
	}
}

// unless returns what is wrong with a line: w, unless it is no text at all, which
// explains the rest. Cells of a good line need no such look, for what they may
// hold is checked to the letter.
func unless(text []byte, w wrong) wrong {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return wrong{"", BadEncoding}
	}
	return w
}
