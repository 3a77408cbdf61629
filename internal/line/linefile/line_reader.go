package linefile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

const (
	// maxLine is the longest line that is read, in bytes, without its line break.
	maxLine = 4096
	// bufferSize is how many bytes are read at once. They fit into the processor's
	// cache, so that they are hashed while they are still there.
	bufferSize = 128 << 10
)

// lineReader splits a stream into lines, and hashes the lines that were returned.
type lineReader struct {
	r      io.Reader
	buf    []byte
	start  int // of the next line in buf
	end    int // of the bytes in buf
	hashed int // the bytes of buf before this are in sum
	sum    hash.Hash
	place  int64 // the number of the next line
	err    error // what ended the stream

	// digestBefore is the digest before a line that is longer than the buffer, while
	// that line is being skipped.
	digestBefore [sha256.Size]byte
	skipping     bool
}

func newLineReader(r io.Reader) lineReader {
	return lineReader{r: r, buf: make([]byte, bufferSize), sum: sha256.New(), place: 1}
}

// next returns the next line without its line break. For a line that is too long it
// returns no text and true. The text is valid until the next call.
func (l *lineReader) next() (text []byte, long bool, err error) {
	searched := 0 // bytes of the line that have no line break
	for {
		if i := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); i >= 0 {
			text, long = l.takeLine(l.start+searched+i, l.start+searched+i+1)
			return text, long, nil
		}
		if searched = l.end - l.start; searched > maxLine+len("\r") {
			l.skipRead()
			searched = 0
		}
		if l.err == nil {
			l.fill()
			continue
		}
		if !errors.Is(l.err, io.EOF) || l.start == l.end && !l.skipping {
			return nil, false, l.err
		}
		text, long = l.takeLine(l.end, l.end) // the last line has no line break
		return text, long, nil
	}
}

// takeLine returns the line that ends before end. The next line starts at next.
func (l *lineReader) takeLine(end, next int) (text []byte, long bool) {
	text = bytes.TrimSuffix(l.buf[l.start:end], []byte{'\r'})
	long = l.skipping || len(text) > maxLine
	l.start, l.skipping = next, false
	l.place++
	if long {
		return nil, true
	}
	return text, false
}

// skipRead drops the bytes in buf of a line that is too long.
func (l *lineReader) skipRead() {
	if !l.skipping {
		l.digestBefore, l.skipping = l.digest(), true
	}
	l.start = l.end
}

// fill hashes the lines that were returned, removes them from buf and reads more.
func (l *lineReader) fill() {
	l.hashConsumed()
	copy(l.buf, l.buf[l.start:l.end])
	l.end -= l.start
	l.start, l.hashed = 0, 0
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if l.err = err; n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

func (l *lineReader) hashConsumed() {
	_, _ = l.sum.Write(l.buf[l.hashed:l.start]) // a hash never fails
	l.hashed = l.start
}

// digest returns the SHA-256 of all lines that were returned.
func (l *lineReader) digest() (d [sha256.Size]byte) {
	if l.skipping {
		return l.digestBefore
	}
	l.hashConsumed()
	l.sum.Sum(d[:0])
	return d
}
