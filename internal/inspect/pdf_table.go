package inspect

import "slices"

// table reads the entries of a cross-reference table, up to the word trailer.
func (f *pdfFile) table() error {
	for {
		f.skip()
		if !isDigit(f.peek()) {
			return nil // the trailer follows, or the next part is checked on its own
		}
		if _, ok := f.whole(); !ok { // the number of the first object
			return Malformed
		}
		f.skip()
		count, ok := f.whole()
		if !ok || count > maxObjects {
			return Malformed
		}
		for range count {
			f.skip()
			if !isDigit(f.peek()) {
				break // fewer than announced, as in some files
			}
			if err := f.tableEntry(); err != nil {
				return err
			}
		}
	}
}

func (f *pdfFile) tableEntry() error {
	offset, ok := f.whole()
	if !ok {
		return Malformed
	}
	f.skip()
	if _, ok := f.whole(); !ok {
		return Malformed
	}
	f.skip()
	switch {
	case f.next("n"):
		return f.addEntry(pdfTableEntry{offset: offset})
	case f.next("f"):
		return nil
	default:
		return Malformed
	}
}

func (f *pdfFile) addEntry(e pdfTableEntry) error {
	if len(f.entries) > 2*maxObjects {
		return TooComplex
	}
	f.entries = append(f.entries, e)
	return nil
}

// link records the offsets of other tables in a trailer.
func (f *pdfFile) link(trailer pdfDict) {
	for _, e := range trailer {
		if n, ok := e.value.(pdfNumber); ok && (e.key == "Prev" || e.key == "XRefStm") {
			f.links = append(f.links, int(n))
		}
	}
}

// tableStream reads the entries of a cross-reference stream.
func (f *pdfFile) tableStream(dict pdfDict, plain []byte) error {
	f.link(dict)
	var widths [3]int
	w, ok := dict.get("W").(pdfArray)
	if !ok || len(w) < 3 {
		return Malformed
	}
	for i := range widths {
		n, ok := w[i].(pdfNumber)
		if !ok || n < 0 || n > 8 {
			return Malformed
		}
		widths[i] = int(n)
	}
	row := widths[0] + widths[1] + widths[2]
	if row == 0 {
		return Malformed
	}
	for ; len(plain) >= row; plain = plain[row:] {
		kind := 1
		if widths[0] > 0 {
			kind = bigEndian(plain[:widths[0]])
		}
		second := bigEndian(plain[widths[0] : widths[0]+widths[1]])
		var err error
		switch kind {
		case 1:
			err = f.addEntry(pdfTableEntry{offset: second})
		case 2:
			err = f.addEntry(pdfTableEntry{holder: second})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func bigEndian(b []byte) (n int) {
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

// checkTables makes sure that the tables refer to nothing but the objects that
// were read.
func (f *pdfFile) checkTables() error {
	for _, e := range f.entries {
		switch {
		case e.holder != 0:
			if !f.objectStreams[e.holder] {
				return Malformed
			}
		case e.offset == 0: // how some writers mark a missing object
		case !f.hasOffset(f.objects, e.offset):
			return Malformed
		}
	}
	if len(f.links) == 0 {
		return Malformed
	}
	for _, offset := range f.links {
		if !f.hasOffset(f.tables, offset) {
			return Malformed
		}
	}
	return nil
}

// hasOffset reports whether one of the places is at an offset, which counts from
// the start of the file or of the header, and may be that of spaces before it.
func (f *pdfFile) hasOffset(places map[int]bool, offset int) bool {
	return slices.ContainsFunc([]int{offset, offset + f.base}, func(at int) bool {
		if at < 0 || at >= len(f.data) {
			return false
		}
		l := lexer{f.data, at}
		l.skipSpace()
		return places[l.at]
	})
}
