package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/fault"
)

const (
	// maxRatio is how many bytes a compressed one may become, after the first
	// freely bytes. Files of lines become about a tenth; only what was made to
	// harm becomes a thousandth.
	maxRatio = 1000
	freely   = 64 << 20
	// maxWindow bounds what the decompressor of zstd holds in memory.
	maxWindow = 32 << 20
)

var (
	errBomb = fault.New(fault.PayloadTooLarge,
		"The file grows more than a thousandfold when it is decompressed, which no file of lines does. Send what it contains.")
	errWindow = fault.New(fault.UnsupportedMediaType,
		"The file was compressed with a window of more than 32 MiB. Compress it without --long and with a level of at most 19.")
)

// source is the content of a file, decompressed. It tells a failure to read from
// a file that is damaged.
type source struct {
	body       io.Reader
	raw        io.Reader
	rawRead    int64
	rawErr     error // what failed below, if anything but the end
	bodyRead   int64
	compressed bool
	close      func() error
}

// rawReader counts what is read from below.
type rawReader struct{ s *source }

func (r rawReader) Read(p []byte) (int, error) {
	n, err := r.s.raw.Read(p)
	r.s.rawRead += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.s.rawErr = err
	}
	return n, err
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.bodyRead += int64(n)
	if s.compressed && s.bodyRead > freely && s.bodyRead/maxRatio > s.rawRead {
		return n, errBomb
	}
	return n, err
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// isZstd also knows frames that are to be skipped, with which some files begin.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.HasPrefix(head[1:], []byte{0x2a, 0x4d, 0x18})
}

// openSource begins to decompress what r gives, if it is compressed.
func openSource(r io.Reader) (*source, error) {
	s := &source{raw: r, close: func() error { return nil }}
	in := bufio.NewReaderSize(rawReader{s}, bufferSize)
	s.body = in
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.broken(err, 1)
	}
	switch {
	case isGzip(head):
		s.compressed = true
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, s.broken(err, 1)
		}
		s.body = z // its Close frees nothing and repeats the last error
	case isZstd(head):
		s.compressed = true
		// One goroutine, so that what is read and what comes out can be compared.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("linefile: open zstd: %w", err)
		}
		s.body, s.close = z, func() error { z.Close(); return nil }
	}
	return s, nil
}

// broken turns what ended the reading at a line into what the caller is told.
func (s *source) broken(err error, place int64) error {
	switch {
	case errors.Is(err, errBomb):
		return errBomb
	case s.rawErr != nil:
		return fmt.Errorf("linefile: read the file: %w", s.rawErr)
	case !s.compressed:
		return fmt.Errorf("linefile: read the file: %w", err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return errWindow.Because(err)
	}
	return fault.New(fault.InvalidArgument, fmt.Sprintf(
		"The compressed file is damaged or was cut off; it cannot be read on from line %d. Compress it anew and send it again.", place)).Because(err)
}

// broken is the error with which reading ends.
func (r *Reader) broken(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return r.from.broken(err, r.in.place)
}
