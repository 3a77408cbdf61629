package linefile

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// EachNumber calls fn with each line of a file that has one number a line, plain or
// compressed with gzip or zstd, and with the place of the line. Empty lines are left out,
// and so is the space around a number. Of a line that is longer than any number, fn gets
// the beginning. It ends with the first error of fn.
func EachNumber(r io.Reader, fn func(place int64, text string) error) error {
	s, err := openSource(r)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	in := bufio.NewReaderSize(s, bufferSize)
	for place := int64(1); ; place++ {
		text, err := in.ReadSlice('\n')
		rest := err
		for errors.Is(rest, bufio.ErrBufferFull) {
			_, rest = in.ReadSlice('\n')
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

// maxNumberText is longer than any spelling of a number.
const maxNumberText = 64
