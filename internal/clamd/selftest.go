package clamd

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
)

// eicar is the harmless file that every scanner finds by agreement
// (https://www.eicar.org), in hexadecimal digits of the bits turned over: as it is,
// it would make scanners stop this source and the program made from it.
const eicar = "a7cab0deafdabfbeafa4cba3afa5a7cacbd7afa1d6c8bcbcd6c882dbbab6bcbeadd2" +
	"acabbeb1bbbeadbbd2beb1abb6a9b6adaaacd2abbaacabd2b9b6b3badedbb7d4b7d5"

// SelfTest returns nil when clamd finds the harmless test file, and [ErrBlind]
// when it passes it.
func (s *Scanner) SelfTest(ctx context.Context) error { return s.find(ctx, 0) }

// SelfTestSize does the same with a file of that size that begins like the test
// file, and so tells whether clamd looks into files as large as that: a clamd
// whose MaxFileSize is smaller may call them clean unseen.
func (s *Scanner) SelfTestSize(ctx context.Context, size int64) error { return s.find(ctx, size) }

func (s *Scanner) find(ctx context.Context, size int64) error {
	b, err := hex.DecodeString(eicar)
	if err != nil {
		return fmt.Errorf("clamd: decode the test file: %w", err)
	}
	for i := range b {
		b[i] = ^b[i]
	}
	rest := io.LimitReader(spaces{}, max(0, size-int64(len(b))))
	v, err := s.Scan(ctx, io.MultiReader(bytes.NewReader(b), rest))
	if err != nil {
		return err
	}
	if !v.Infected {
		return ErrBlind
	}
	return nil
}

// spaces is a file without end. The test file may be followed by blanks.
type spaces struct{}

// Read implements io.Reader.
func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
