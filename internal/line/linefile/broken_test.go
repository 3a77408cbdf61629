package linefile_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/testing/brokenfile"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// result is everything that was read from a file.
type result struct {
	rows    []linefile.Row
	refused []linefile.Refusal
	place   int64
	digest  [32]byte
	err     error // nil at the clean end
}

// readAll reads a file to its end, chunk lines at a time.
func readAll(tb testing.TB, in io.Reader, o linefile.Options, chunk int) (got result) {
	tb.Helper()
	r, err := linefile.Open(in, o)
	if err != nil {
		return result{err: err}
	}
	defer func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	}()
	rows := make([]linefile.Row, chunk)
	for {
		n, refused, err := r.Next(rows)
		if n+len(refused) > chunk || err != nil && n+len(refused) > 0 {
			tb.Errorf("Next = %d rows and %d refusals of %d lines, %v", n, len(refused), chunk, err)
		}
		got.rows, got.refused = append(got.rows, rows[:n]...), append(got.refused, refused...)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				got.err = err
			}
			got.place, got.digest = r.Place(), r.Digest()
			return got
		}
	}
}

func brokenOptions(tb testing.TB, k brokenfile.Case) linefile.Options {
	tb.Helper()
	return linefile.Options{Kind: k.Kind, Region: region(tb), AsOf: brokenfile.AsOf, Now: brokenfile.Now}
}

// Every broken file is reported with line, column and reason, or refused as a
// whole, and its valid rows are counted exactly. It does not matter in which pieces
// the file arrives and is read.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, k := range brokenfile.Cases() {
		if k.Large {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			o := brokenOptions(t, k)
			compareCase(t, k, readAll(t, k.Reader(), o, 1000))
			compareCase(t, k, readAll(t, iotest.DataErrReader(iotest.OneByteReader(k.Reader())), o, 1))
			compareCase(t, k, readAll(t, iotest.HalfReader(k.Reader()), o, 3))
		})
	}
}

func compareCase(t *testing.T, k brokenfile.Case, got result) {
	t.Helper()
	_, isFault := errors.AsType[*fault.Error](got.err)
	if isFault != k.WantFileRefused || got.err != nil && !isFault {
		t.Fatalf("the file ends with %v, refused as a whole: %v", got.err, k.WantFileRefused)
	}
	if k.WantRows != brokenfile.Unknown && len(got.rows) != k.WantRows {
		t.Errorf("%d valid rows, want %d", len(got.rows), k.WantRows)
	}
	var refused []linefile.Refusal
	for _, r := range got.refused {
		checkMessage(t, r.Message)
		if len(r.Number) > 70 || len(r.Value) > 70 || !utf8.ValidString(r.Number+r.Value) || strings.ContainsFunc(r.Number+r.Value, unicode.IsControl) {
			t.Errorf("line %d is quoted as %q and %q", r.Place, r.Number, r.Value)
		}
		r.Message, r.Number, r.Value = "", "", ""
		refused = append(refused, r)
	}
	if diff := cmp.Diff(k.WantRefusals, refused); diff != "" && k.WantRows != brokenfile.Unknown {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	if f, ok := errors.AsType[*fault.Error](got.err); ok {
		checkMessage(t, f.Message)
		for _, v := range f.Violations {
			checkMessage(t, v.Message)
		}
	}
}

// checkMessage checks that a message is a sentence and quotes no content.
func checkMessage(t *testing.T, message string) {
	t.Helper()
	if len(message) < 15 || !strings.HasSuffix(message, ".") {
		t.Errorf("the message is not a sentence: %q", message)
	}
	for _, content := range []string{"803", "447400", "msisdn", "PERFECT", "EXPLODED", "yesterday", "html>", "Lagos"} {
		if strings.Contains(message, content) {
			t.Errorf("the message quotes what was sent: %q", message)
		}
	}
}

// The sender of a file that is refused as a whole is told what is wrong with it.
func TestRefusedFilesGetAnExplanation(t *testing.T) {
	t.Parallel()
	want := map[string]struct {
		code  fault.Code
		words string
	}{
		"gzip in gzip":                    {fault.UnsupportedMediaType, "compressed twice"},
		"gzip in zstd":                    {fault.UnsupportedMediaType, "compressed twice"},
		"zstd in gzip":                    {fault.UnsupportedMediaType, "compressed twice"},
		"zstd, window of 64 MiB":          {fault.UnsupportedMediaType, "window"},
		"zstd, wrong checksum":            {fault.InvalidArgument, "damaged or was cut off"},
		"gzip, wrong checksum":            {fault.InvalidArgument, "read from line 502 on"},
		"UTF-16LE with mark":              {fault.UnsupportedMediaType, "UTF-16"},
		"UTF-16BE without mark":           {fault.UnsupportedMediaType, "UTF-16"},
		"spreadsheet, xlsx":               {fault.UnsupportedMediaType, "spreadsheet"},
		"tar in gzip":                     {fault.UnsupportedMediaType, "tar archive"},
		"JSON array":                      {fault.UnsupportedMediaType, "JSON"},
		"HTML behind line breaks":         {fault.UnsupportedMediaType, "HTML"},
		"only NULs":                       {fault.UnsupportedMediaType, "not text"},
		"empty file":                      {fault.InvalidArgument, "If there is nothing to report, send only the line with the column names"},
		"carriage returns only":           {fault.InvalidArgument, "end with CR only"},
		"carriage returns only, long":     {fault.InvalidArgument, "end with CR only"},
		"header: semicolons":              {fault.InvalidArgument, "semicolons"},
		"header: tabs":                    {fault.InvalidArgument, "tabs"},
		"header: bars":                    {fault.InvalidArgument, "bars"},
		"header: none":                    {fault.InvalidArgument, "begins with data"},
		"header: of events":               {fault.InvalidArgument, "These are the columns of an events file"},
		"header of events: of a snapshot": {fault.InvalidArgument, "These are the columns of a snapshot"},
		"header: 10,000 commas":           {fault.InvalidArgument, "more than 4096 bytes"},
		"column missing: state":           {fault.InvalidArgument, "number,state,stateSince; optionally tenureStart,simChangedAt,churnAt"},
	}
	for _, k := range brokenfile.Cases() {
		w, ok := want[k.Name]
		if !ok {
			continue
		}
		delete(want, k.Name)
		err := readAll(t, k.Reader(), brokenOptions(t, k), 1000).err
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != w.code || !strings.Contains(f.Message, w.words) {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	for name := range want {
		t.Errorf("there is no case %q", name)
	}
}

// There are as many cases as promised, each of them once.
func TestBrokenFileCasesAreComplete(t *testing.T) {
	t.Parallel()
	const promised = 200
	names, contents := map[string]bool{}, map[string]string{}
	count := 0
	for _, k := range brokenfile.Cases() {
		if names[k.Name] {
			t.Errorf("%q is listed twice", k.Name)
		}
		names[k.Name] = true
		if !k.Valid() {
			count++
		}
		if k.Large {
			continue
		}
		content, err := io.ReadAll(k.Reader())
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("%s %s", k.Kind, content)
		if other, same := contents[key]; same {
			t.Errorf("%q and %q are the same file", k.Name, other)
		}
		contents[key] = k.Name
	}
	if count < promised {
		t.Errorf("%d broken files, fewer than %d", count, promised)
	}
	t.Logf("%d kinds of broken file, and %d that only look so", count, len(names)-count)
}

// A file that does not fit into memory is reported like the others, with little
// memory.
func TestLargeFilesNeedLittleMemory(t *testing.T) { //nolint:paralleltest // counts the memory of the whole process
	if testing.Short() {
		t.Skip("reads gigabytes; not run with -short")
	}
	const enough = 24 << 20                // the decompressor of zstd takes the most
	for _, k := range brokenfile.Cases() { //nolint:paralleltest // as above
		if !k.Large {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			in := k.Reader()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := readAll(t, in, brokenOptions(t, k), 1000)
			runtime.ReadMemStats(&after)
			compareCase(t, k, got)
			if used := after.TotalAlloc - before.TotalAlloc; used > enough {
				t.Errorf("%d bytes were allocated in all, more than %d", used, enough)
			} else {
				t.Logf("%d KiB allocated in all", used>>10)
			}
		})
	}
}
