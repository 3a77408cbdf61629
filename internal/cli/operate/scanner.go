package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
)

// oldSignatures is the age at which virus signatures miss new viruses. New
// signatures are published daily.
const oldSignatures = 7 * 24 * time.Hour

// scanner checks that the virus scanner detects a test virus, also in a file of
// the largest size that the service accepts.
func (r *report) scanner(ctx context.Context, cfg config.Config) {
	const check = "scanner"
	s := server.Scanner(cfg)
	if s == nil {
		r.warn(check, "none is set: documents wait and nobody can open them", "set LINEPROOF_CLAMD_ADDR; see docs/how-to/set-up-the-scanner.md")
		return
	}
	version, err := s.Version(ctx)
	if err != nil {
		r.fail(check, err.Error(), "check LINEPROOF_CLAMD_ADDR, that clamd runs, and that this user may open its socket; documents wait until then")
		return
	}
	if err := s.SelfTest(ctx); err != nil {
		r.fail(check, selfTestFailure(err), "check its signatures (freshclam); documents wait until then")
		return
	}
	if err := s.SelfTestSize(ctx, cfg.UploadMaxBytes); err != nil {
		r.fail(check, fmt.Sprintf("%s when the file has %d bytes, which LINEPROOF_UPLOAD_MAX_BYTES allows", selfTestFailure(err), cfg.UploadMaxBytes),
			"raise StreamMaxLength, MaxFileSize and MaxScanSize in clamd.conf above that, and set AlertExceedsMax yes")
		return
	}
	if published, ok := clamd.Signatures(version); ok && time.Since(published) > oldSignatures {
		r.warn(check, "its signatures are from "+published.Format(time.DateOnly), "find out why freshclam does not update them")
		return
	}
	r.ok(check, "it detects the test virus; "+version)
}

// selfTestFailure describes why the scanner's self-test failed.
func selfTestFailure(err error) string {
	switch {
	case errors.Is(err, clamd.ErrTestFileMissed):
		return "it does not detect the standard test virus"
	case errors.Is(err, clamd.ErrLimit):
		return "it does not scan the test file"
	default:
		return err.Error()
	}
}

// confinement checks that the processes that draw documents can reach nothing else: by
// Landlock in its version, and by seccomp.
func (r *report) confinement(cfg config.Config, landlock int, missing []string) {
	const check = "confinement"
	switch {
	case len(missing) > 0 && cfg.DrawUnconfined:
		r.warn(check, "this kernel lacks "+strings.Join(missing, " and ")+", and LINEPROOF_DRAW_UNCONFINED is set: a file that takes over poppler can read the service's secrets",
			"use Linux 5.13 or newer with Landlock, and remove that setting")
	case len(missing) > 0:
		r.fail(check, "this kernel lacks "+strings.Join(missing, " and ")+": no document is drawn, so documents wait", "use Linux 5.13 or newer with Landlock, here or in the host of the container")
	case landlock < confined.FullLandlock:
		r.warn(check, fmt.Sprintf("the processes that draw documents have Landlock of version %d, which restricts files; seccomp alone restricts the network and signals", landlock),
			"use Linux 6.12 or newer")
	default:
		r.ok(check, fmt.Sprintf("the processes that draw documents are confined by seccomp and Landlock of version %d", landlock))
	}
}
