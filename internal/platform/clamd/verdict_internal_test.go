package clamd

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Only the exact reply means clean. Unknown or truncated replies are no verdict.
func TestOnlyTheExactWordsMeanClean(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Verdict{
		"stream: OK\x00":                         {},
		"stream: Win.Test.EICAR_HDB-1 FOUND\x00": {Infected: true, Signature: "Win.Test.EICAR_HDB-1"},
	} {
		text, err := reply(strings.NewReader(said))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := verdict(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", said, got, err)
		}
	}
	for _, said := range []string{
		"", "\x00", "stream: OK", "stream: OK\n", "stream: O\x00", "OK\x00", "stream: ok\x00", "stream: OK \x00", " stream: OK\x00", "1: stream: OK\x00",
		"stream: OK\n\x00", "/tmp/x: OK\x00", "stream:  FOUND\x00", "stream: FOUND\x00", "FOUND\x00", "x FOUND\x00", "stream: Eicar FOUN",
		"UNKNOWN COMMAND\x00", "COMMAND READ TIMED OUT\x00", "stream: Can't allocate memory ERROR\x00", "stream: Time limit reached ERROR\x00", strings.Repeat("stream: OK", 1000) + "\x00",
	} {
		text, err := reply(strings.NewReader(said))
		if err == nil {
			_, err = verdict(text)
		}
		if err == nil || errors.Is(err, ErrLimit) {
			t.Errorf("%q is taken for a verdict: %v", said, err)
		}
	}
	for _, said := range []string{"INSTREAM size limit exceeded. ERROR\x00", "stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\x00", "stream: Heuristics.Limits.Exceeded FOUND\x00"} {
		text, _ := reply(strings.NewReader(said))
		v, err := verdict(text)
		if !errors.Is(err, ErrLimit) || errors.Is(err, ErrDeep) != strings.Contains(said, "Heuristics") {
			t.Errorf("%q: %+v, %v; want ErrLimit", said, v, err)
		}
	}
}

// The age of the signatures is known when they are the official ones.
func TestSignaturesHaveADate(t *testing.T) {
	t.Parallel()
	made, ok := Signatures("ClamAV 1.4.6/27345/Tue Jul  6 08:30:00 2024")
	if want := time.Date(2024, 7, 6, 8, 30, 0, 0, time.UTC); !ok || !made.Equal(want) {
		t.Errorf("%v, %t", made, ok)
	}
	for _, version := range []string{"", "ClamAV 1.4.6", "ClamAV 1.4.6/27345", "ClamAV 1.4.6/27345/yesterday"} {
		if made, ok := Signatures(version); ok {
			t.Errorf("%q was made %v", version, made)
		}
	}
}
