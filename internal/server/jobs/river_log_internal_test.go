package jobs

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// River's warnings are logged once a minute each, its statistics not at all.
func TestRiverWarningsAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(newRiverLog(slog.NewTextHandler(&out, nil))).With(slog.String("client", "x"))
	for range 50 {
		log.LogAttrs(t.Context(), slog.LevelInfo, "counts")
		log.LogAttrs(t.Context(), slog.LevelError, "cannot fetch")
		log.LogAttrs(t.Context(), slog.LevelWarn, "slow")
	}
	if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "counts") {
		t.Errorf("%d lines, want one of each warning:\n%s", n, &out)
	}
}
