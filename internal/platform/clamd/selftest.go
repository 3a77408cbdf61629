package clamd

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
)

// eicar is the harmless test file that every scanner detects by agreement
// (https://www.eicar.org), inverted and in hexadecimal digits: otherwise scanners
// would report this source file and the program built from it.
const eicar = "a7cab0deafdabfbeafa4cba3afa5a7cacbd7afa1d6c8bcbcd6c882dbbab6bcbeadd2" +
	"acabbeb1bbbeadbbd2beb1abb6a9b6adaaacd2abbaacabd2b9b6b3badedbb7d4b7d5"

// SelfTest returns nil if clamd detects the harmless test file, and
// [ErrNoSignatures] if it does not.
func (s *Scanner) SelfTest(ctx context.Context) error { return s.scanTestFile(ctx, 0) }

// SelfTestSize is SelfTest with a file of the given size that starts with the test
// file. It shows whether clamd scans files as large as that: with a smaller
// MaxFileSize it may report them as clean without a scan.
func (s *Scanner) SelfTestSize(ctx context.Context, size int64) error {
	return s.scanTestFile(ctx, size)
}

func (s *Scanner) scanTestFile(ctx context.Context, size int64) error {
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
		return ErrTestFileMissed
	}
	return nil
}

// spaces is an endless reader of spaces, which may follow the test file.
type spaces struct{}

// Read implements io.Reader.
func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
