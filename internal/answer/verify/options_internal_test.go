package verify

import (
	"testing"
	"time"
)

// The options in the record have what was requested, in the order of the alphabet, and
// that the key was accepted by grace. They can
// be parsed.
func TestOptionsAreRecordedAndCanBeParsed(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for want, r := range map[string]Request{
		"":                                       {},
		"gate=grace":                             {Grace: true},
		"include=coverage,dates,signals":         {Include: Include{Signals: true, Coverage: true, Dates: true}},
		"include=receipt":                        {Include: Include{Receipt: true}},
		"include=coverage,dates,receipt,signals": {Include: Include{Signals: true, Coverage: true, Dates: true, Receipt: true}},
		"include=dates gate=grace":               {Include: Include{Dates: true}, Grace: true},
		"since=2026-03-01T00:00:00Z include=signals gate=grace": {Since: since, Include: Include{Signals: true}, Grace: true},
	} {
		text := r.options()
		parsed, ok := parseOptions(text)
		if text != want || !ok || parsed.Grace != r.Grace || !parsed.Since.Equal(r.Since) || parsed.Include != r.Include {
			t.Errorf("want options %q, got %q, parsed as %+v (%v)", want, text, parsed, ok)
		}
	}
}
