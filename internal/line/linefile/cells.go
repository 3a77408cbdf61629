package linefile

import (
	"bytes"
	"unicode/utf8"
)

// splitCells splits a line into cells. It stops as soon as there is one cell more
// than the header has.
func (r *Reader) splitCells(text []byte) problem {
	if bytes.IndexByte(text, '"') >= 0 {
		return r.splitQuoted(text)
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
	return problem{}
}

// splitQuoted splits a line that has quotes, as encoding/csv would; a test compares
// the two. Some programs put every cell in quotes, and such a file must not be slow.
func (r *Reader) splitQuoted(text []byte) problem {
	r.cells = r.cells[:0]
	r.unquoted = r.unquoted[:0] // its capacity is a whole line, so that append never moves the cells
	for {
		var cell []byte
		if bytes.HasPrefix(text, []byte{'"'}) {
			var ok bool
			if cell, text, ok = r.unquote(text[1:]); !ok {
				return problem{"", BadQuotes}
			}
		} else {
			end := bytes.IndexByte(text, ',')
			if end < 0 {
				end = len(text)
			}
			cell, text = text[:end], text[end:]
			if bytes.IndexByte(cell, '"') >= 0 {
				return problem{"", BadQuotes}
			}
		}
		r.cells = append(r.cells, cell)
		if len(text) == 0 {
			return problem{}
		}
		if text[0] != ',' {
			return problem{"", BadQuotes}
		}
		text = text[1:]
	}
}

// unquote returns the text before the closing quote, with doubled quotes made
// single, and the rest of the line after it.
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

// orBadEncoding returns p, or BadEncoding if the line is not text, because that is
// the cause of the other problem. Only a line with a problem needs this check: the
// cells of a valid line are checked character by character.
func orBadEncoding(text []byte, p problem) problem {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return problem{"", BadEncoding}
	}
	return p
}
