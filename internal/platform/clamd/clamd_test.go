package clamd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
)

func scanner(address string) *clamd.Scanner {
	return &clamd.Scanner{Address: address, Timeout: 30 * time.Second}
}

// filler returns n bytes without a meaning.
func filler(n int) io.Reader { return bytes.NewReader(bytes.Repeat([]byte("lorem ip"), n/8)) }

// A virus is found anywhere in a file, over both kinds of connection; other files
// are clean, the empty file too.
func TestVerdictIsAboutTheWholeFile(t *testing.T) {
	t.Parallel()
	server := clamtest.New(t)
	infected := clamd.Verdict{Infected: true, Signature: clamtest.Signature}
	for _, s := range []*clamd.Scanner{scanner(server.Address()), scanner(server.TCP())} {
		for name, tc := range map[string]struct {
			file io.Reader
			want clamd.Verdict
		}{
			"empty":                  {strings.NewReader(""), clamd.Verdict{}},
			"a byte at a time":       {iotest.OneByteReader(strings.NewReader("a small file")), clamd.Verdict{}},
			"a chunk exactly":        {filler(64 << 10), clamd.Verdict{}},
			"ten megabytes":          {filler(10 << 20), clamd.Verdict{}},
			"at the start":           {strings.NewReader(clamtest.Virus), infected},
			"at the end of ten":      {strings.NewReader(strings.Repeat("lorem ip", 10<<17+100) + clamtest.Virus), infected},
			"across chunks":          {io.MultiReader(filler(64<<10-8), strings.NewReader(clamtest.Virus), filler(1<<10)), infected},
			"a word at a time":       {iotest.HalfReader(strings.NewReader("x" + clamtest.Virus)), infected},
			"with an error at EOF":   {iotest.DataErrReader(strings.NewReader("x" + clamtest.Virus)), infected},
			"almost, but not really": {strings.NewReader(clamtest.Virus[1:]), clamd.Verdict{}},
		} {
			if got, err := s.Scan(t.Context(), tc.file); err != nil || got != tc.want {
				t.Errorf("%s by %s: %+v, %v; want %+v", name, s.Address, got, err, tc.want)
			}
		}
		if v, err := s.Version(t.Context()); err != nil || !strings.HasPrefix(v, "ClamAV 1") {
			t.Errorf("version %q, %v", v, err)
		}
		if err := s.SelfTest(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A scanner without its signatures still replies, and the self-test detects that.
func TestSelfTestTellsABlindScanner(t *testing.T) {
	t.Parallel()
	server := clamtest.New(t)
	s := scanner(server.Address())
	if err := server.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.SelfTest(t.Context()); !errors.Is(err, clamd.ErrTestFileMissed) {
		t.Errorf("%v, want ErrBlind", err)
	}
	if err := server.Sight(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.SelfTest(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.SelfTest(t.Context()); !errors.Is(err, clamd.ErrUnavailable) || errors.Is(err, clamd.ErrTestFileMissed) {
		t.Errorf("%v, want ErrAway", err)
	}
}

// clamd scans only files within its limits. A file beyond them is reported as such
// and never as clean, for the limit of the stream and for those of the engine.
func TestFileBeyondALimitIsNotClean(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"stream": "StreamMaxLength 1M", "file": "MaxFileSize 1M"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clamtest.New(t, line)
			for _, s := range []*clamd.Scanner{scanner(server.Address()), scanner(server.TCP())} {
				for range 5 {
					if v, err := s.Scan(t.Context(), filler(8<<20)); !errors.Is(err, clamd.ErrLimit) {
						t.Errorf("by %s: %+v, %v; want ErrLimit", s.Address, v, err)
					}
				}
				if _, err := s.Scan(t.Context(), filler(1<<10)); err != nil {
					t.Errorf("a small file: %v", err)
				}
			}
		})
	}
}

// A clamd that reports files as clean because they are too large to scan is
// detected only by a self-test of that size.
func TestSelfTestTellsAScannerThatSkipsLargeFiles(t *testing.T) {
	t.Parallel()
	server := clamtest.New(t, "MaxFileSize 1M", "AlertExceedsMax no")
	s := scanner(server.Address())
	if err := errors.Join(s.SelfTest(t.Context()), s.SelfTestSize(t.Context(), 1<<19)); err != nil {
		t.Error(err)
	}
	if err := s.SelfTestSize(t.Context(), 2<<20); !errors.Is(err, clamd.ErrTestFileMissed) {
		t.Errorf("%v, want ErrBlind", err)
	}
}

// A scanner that is not running, is frozen or dies during a scan is unavailable.
func TestScannerThatIsAwayGivesNoVerdict(t *testing.T) {
	t.Parallel()
	server := clamtest.New(t)
	s := &clamd.Scanner{Address: server.Address(), Timeout: 300 * time.Millisecond}
	away := func(when string, scan func() error) {
		t.Helper()
		if err := scan(); !errors.Is(err, clamd.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrAway", when, err)
		}
	}
	small := func() error { _, err := s.Scan(t.Context(), filler(1<<10)); return err }
	large := func() error { _, err := s.Scan(t.Context(), filler(8<<20)); return err }
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	away("frozen, all sent", small)
	away("frozen, the pipe full", large)

	// It is killed while it owes an answer.
	s.Timeout = 30 * time.Second
	owed := make(chan error, 1)
	half := &signalling{r: filler(8 << 10), at: make(chan struct{})}
	go func() { _, err := s.Scan(t.Context(), half); owed <- err }()
	<-half.at
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	away("killed", func() error { return <-owed })
	away("not there", small)
	away("no such host", func() error {
		_, err := (&clamd.Scanner{Address: "127.0.0.1:1", Timeout: time.Second}).Version(t.Context())
		return err
	})
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := small(); err != nil {
		t.Errorf("after its return: %v", err)
	}
}

// signalling closes at when everything was read.
type signalling struct {
	r  io.Reader
	at chan struct{}
}

func (s *signalling) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if errors.Is(err, io.EOF) {
		close(s.at)
	}
	return n, err
}

// If the caller cancels, the error says so; an error of the file is returned, and
// the part that was read gets no verdict.
func TestCallerAndFileAreNotTakenForTheScanner(t *testing.T) {
	t.Parallel()
	server := clamtest.New(t)
	s := scanner(server.Address())
	broken := errors.New("the disk is gone")
	if _, err := s.Scan(t.Context(), io.MultiReader(filler(1<<20), iotest.ErrReader(broken))); !errors.Is(err, broken) || errors.Is(err, clamd.ErrUnavailable) {
		t.Errorf("%v, want the error of the file", err)
	}
	log, err := server.Log()
	if err != nil || strings.Contains(log, ": OK") {
		t.Errorf("%v; the half of a file was scanned:\n%s", err, log)
	}
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Scan(ctx, filler(1<<10)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, clamd.ErrUnavailable) {
		t.Errorf("%v, want that the caller gave up", err)
	}
}

// The date of the signatures is that of the daily file; clamd writes it in its local time.
func TestDateOfTheSignatures(t *testing.T) {
	t.Parallel()
	server := clamtest.New(t)
	made := time.Date(2026, 2, 3, 12, 30, 0, 0, time.UTC)
	if err := server.SetDate(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	version, err := scanner(server.Address()).Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := clamd.Signatures(version); !ok || got.Sub(made).Abs() > 14*time.Hour {
		t.Errorf("%q is of %s, want %s", version, got, made)
	}
	if err := scanner(server.Address()).SelfTest(t.Context()); err != nil {
		t.Error(err)
	}
}
