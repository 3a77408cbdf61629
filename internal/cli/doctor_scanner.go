package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/server"
)

// oldSignatures is an age at which new viruses pass. New signatures come daily.
const oldSignatures = 7 * 24 * time.Hour

// scanner checks that documents are scanned by something that finds viruses, in
// files as large as those that are taken.
func (c *checkup) scanner(ctx context.Context, cfg config.Config) {
	const check = "scanner"
	s := server.Scanner(cfg)
	if s == nil {
		c.warn(check, "there is none, so documents wait and nobody can open them", "set LINEPROOF_CLAMD_ADDR; docs/how-to/set-up-the-scanner.md says how")
		return
	}
	version, err := s.Version(ctx)
	if err != nil {
		c.fail(check, err.Error(), "check LINEPROOF_CLAMD_ADDR, that clamd runs, and that this user may open its socket; documents wait meanwhile")
		return
	}
	if err := s.SelfTest(ctx); err != nil {
		c.fail(check, complain(err), "check its signatures (freshclam); documents wait meanwhile")
		return
	}
	if err := s.SelfTestSize(ctx, cfg.UploadMaxBytes); err != nil {
		c.fail(check, fmt.Sprintf("%s, when that has %d bytes, which LINEPROOF_UPLOAD_MAX_BYTES allows", complain(err), cfg.UploadMaxBytes),
			"raise StreamMaxLength, MaxFileSize and MaxScanSize in clamd.conf above that, and set AlertExceedsMax yes")
		return
	}
	if made, ok := clamd.Signatures(version); ok && time.Since(made) > oldSignatures {
		c.warn(check, "its signatures are of "+made.Format(time.DateOnly), "see why freshclam brings no new ones")
		return
	}
	c.ok(check, "it finds the test file; "+version)
}

// complain says what a test of the scanner came to.
func complain(err error) string {
	switch {
	case errors.Is(err, clamd.ErrBlind):
		return "it passes the test file that every scanner must find"
	case errors.Is(err, clamd.ErrLimit):
		return "it does not look into the test file"
	default:
		return err.Error()
	}
}
