package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	// maxRatio is the maximum ratio of decompressed to compressed bytes, after the
	// first ratioFreeBytes. Compression makes a realistic file of lines 4 to 7 times
	// smaller. The most that a file of lines reached is 262 times, by zstd -19, with
	// consecutive numbers that are alike in all else.
	maxRatio       = 500
	ratioFreeBytes = 16 << 20
	// maxWindow limits the memory of the zstd decompressor.
	maxWindow = 32 << 20
)

var (
	errBomb = fault.New(fault.PayloadTooLarge, fmt.Sprintf(
		"The file becomes more than %d times as large when it is decompressed, which no file of lines does. Send it uncompressed.", maxRatio))
	errWindow = fault.New(fault.UnsupportedMediaType,
		"The file was compressed with a window of more than 32 MiB. Compress it without --long and with a level of at most 19.")
)

// source is the decompressed content of a file. It distinguishes an error of the
// underlying reader from a damaged file.
type source struct {
	body       io.Reader
	raw        io.Reader
	rawRead    int64
	rawErr     error // the error of raw, unless it is io.EOF
	bodyRead   int64
	compressed bool
	close      func() error
}

// rawReader counts the compressed bytes.
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
	if s.compressed && s.bodyRead > ratioFreeBytes && s.bodyRead/maxRatio > s.rawRead {
		return n, errBomb
	}
	return n, err
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// isZstd also accepts a skippable frame, with which some files begin.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.HasPrefix(head[1:], []byte{0x2a, 0x4d, 0x18})
}

// openSource returns the content of r, decompressed if it is compressed.
func openSource(r io.Reader) (*source, error) {
	s := &source{raw: r, close: func() error { return nil }}
	in := bufio.NewReaderSize(rawReader{s}, bufferSize)
	s.body = in
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.readError(err, 1)
	}
	switch {
	case isGzip(head):
		s.compressed = true
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, s.readError(err, 1)
		}
		s.body = z // its Close releases nothing and returns the last error again
	case isZstd(head):
		s.compressed = true
		// One goroutine, so that the bytes read and the bytes returned can be compared.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("linefile: open zstd: %w", err)
		}
		s.body, s.close = z, func() error { z.Close(); return nil }
	}
	return s, nil
}

// readError turns the error that ended the reading at a line into the error for the
// caller.
func (s *source) readError(err error, place int64) error {
	switch {
	case errors.Is(err, errBomb), errors.Is(err, errLongLines):
		return err
	case s.rawErr != nil:
		return fmt.Errorf("linefile: read the file: %w", s.rawErr)
	case !s.compressed:
		return fmt.Errorf("linefile: read the file: %w", err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return errWindow.Because(err)
	}
	return fault.New(fault.InvalidArgument, fmt.Sprintf(
		"The compressed file is damaged or was cut off; it cannot be read from line %d on. Compress it again and send it.", place)).Because(err)
}

// readError returns the error with which reading ends.
func (r *Reader) readError(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return r.source.readError(err, r.in.place)
}
