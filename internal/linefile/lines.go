package linefile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

const (
	// maxLine is the longest line that is read, without its break.
	maxLine = 4096
	// bufferSize is how much is read at once. It fits the processor's cache, so
	// that what was read is hashed while it is still there.
	bufferSize = 128 << 10
)

// lines cuts a stream into lines and hashes what was dealt with.
type lines struct {
	r      io.Reader
	buf    []byte
	begin  int // of the next line
	end    int // of what was read
	hashed int // what lies before is in the sum
	sum    hash.Hash
	place  int64 // of the next line
	err    error // what ended the stream

	// before is the digest at the begin of a line that is too long to be held,
	// while that line is passed over.
	before  [sha256.Size]byte
	passing bool
}

func newLines(r io.Reader) lines {
	return lines{r: r, buf: make([]byte, bufferSize), sum: sha256.New(), place: 1}
}

// next returns the next line without its break. Of a line that is too long it
// returns nothing but that. The line is gone with the next call.
func (l *lines) next() (text []byte, long bool, err error) {
	seen := 0 // how many bytes of the line are known to be no break
	for {
		if i := bytes.IndexByte(l.buf[l.begin+seen:l.end], '\n'); i >= 0 {
			text, long = l.take(l.begin+seen+i, l.begin+seen+i+1)
			return text, long, nil
		}
		if seen = l.end - l.begin; seen > maxLine+len("\r") {
			l.pass()
			seen = 0
		}
		if l.err == nil {
			l.fill()
			continue
		}
		if !errors.Is(l.err, io.EOF) || l.begin == l.end && !l.passing {
			return nil, false, l.err
		}
		text, long = l.take(l.end, l.end) // the last line has no break
		return text, long, nil
	}
}

// take ends the line at to. The next one begins at begin.
func (l *lines) take(to, begin int) (text []byte, long bool) {
	text = bytes.TrimSuffix(l.buf[l.begin:to], []byte{'\r'})
	long = l.passing || len(text) > maxLine
	l.begin, l.passing = begin, false
	l.place++
	if long {
		return nil, true
	}
	return text, false
}

// pass drops what is there of a line that is too long.
func (l *lines) pass() {
	if !l.passing {
		l.before, l.passing = l.digest(), true
	}
	l.begin = l.end
}

// fill hashes what was dealt with, makes room and reads on.
func (l *lines) fill() {
	l.settle()
	copy(l.buf, l.buf[l.begin:l.end])
	l.end -= l.begin
	l.begin, l.hashed = 0, 0
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if l.err = err; n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

func (l *lines) settle() {
	_, _ = l.sum.Write(l.buf[l.hashed:l.begin]) // a hash never fails
	l.hashed = l.begin
}

// digest returns the sum of all lines that were dealt with.
func (l *lines) digest() (d [sha256.Size]byte) {
	if l.passing {
		return l.before
	}
	l.settle()
	l.sum.Sum(d[:0])
	return d
}
