package verify

import (
	"testing"
	"time"
)

// That a key was admitted by grace stands in the record, beside what was asked,
// and is read back from it.
func TestGraceStandsInTheRecord(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for want, q := range map[string]Question{
		"":           {},
		"gate=grace": {Grace: true},
		"since=2026-03-01T00:00:00Z include=signals gate=grace": {Since: since, Include: Include{Signals: true}, Grace: true},
	} {
		text := q.options()
		back, ok := parseOptions(text)
		if text != want || !ok || back.Grace != q.Grace || !back.Since.Equal(q.Since) || back.Include != q.Include {
			t.Errorf("%q became %q, and was read back as %+v (%v)", want, text, back, ok)
		}
	}
}
