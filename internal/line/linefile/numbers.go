package linefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// EachNumber calls fn with each line of a file that has one number a line, plain or
// compressed with gzip or zstd, and with the place of the line. Empty lines are left out,
// and so is the space around a number. Of a line that is longer than any number, fn gets
// the beginning. It ends with the first error of fn, with ctx, and with an error for the
// caller when the file has more than maxRows lines, or more than 64 bytes for each of so
// many: what it costs is bounded, however small the file was when it was compressed.
func EachNumber(ctx context.Context, r io.Reader, maxRows int64, fn func(place int64, text string) error) error {
	s, err := openSource(Until(ctx, r))
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	in := bufio.NewReaderSize(Until(ctx, &capped{s, maxRows * maxNumberText}), bufferSize)
	for place := int64(1); ; place++ {
		text, err := in.ReadSlice('\n')
		if place > maxRows && len(text) > 0 {
			return fault.New(fault.PayloadTooLarge, "The file has more than "+strconv.FormatInt(maxRows, 10)+" lines. Leave out empty lines, or divide it among several lists.")
		}
		rest := err
		for errors.Is(rest, bufio.ErrBufferFull) {
			_, rest = in.ReadSlice('\n')
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("linefile: read the file: %w", err)
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return s.readError(err, place)
		}
		if number := strings.TrimSpace(string(text[:min(len(text), maxNumberText)])); number != "" {
			if err := fn(place, number); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(rest, io.EOF):
			return nil
		case rest != nil:
			return s.readError(rest, place)
		}
	}
}

// capped is the content of a file, of which only so many bytes are read.
type capped struct {
	s    *source
	left int64
}

var errLongLines = fault.New(fault.PayloadTooLarge, "The file has lines that are too long. Send one number a line.")

// Read implements [io.Reader].
func (c *capped) Read(p []byte) (int, error) {
	n, err := c.s.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return n, errLongLines
	}
	return n, err
}

// maxNumberText is longer than any spelling of a number.
const maxNumberText = 64
