package linefile_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// benchLines is how many lines the benchmarks' file has.
const benchLines = 1_000_000

// BenchmarkReadSnapshot measures rows per second on one core, with the digest.
func BenchmarkReadSnapshot(b *testing.B) {
	var plain bytes.Buffer
	if err := nation(b, benchLines).Snapshot(&plain); err != nil {
		b.Fatal(err)
	}
	quoted := quoteAll(plain.Bytes())
	for name, file := range map[string][]byte{
		"plain": plain.Bytes(), "quoted": quoted, "gzip": gzipped(b, plain.Bytes()), "zstd": zstded(b, plain.Bytes()),
	} {
		b.Run(name, func(b *testing.B) { measureRead(b, file, options(b, linefile.Snapshot), benchLines) })
	}
	// Bare dates in a zone with one offset, and in one whose clocks change.
	for _, name := range []string{"Africa/Lagos", "Europe/Berlin"} {
		o := options(b, linefile.Snapshot)
		o.Zone = zone(b, name)
		b.Run("plain in "+name, func(b *testing.B) { measureRead(b, plain.Bytes(), o, benchLines) })
	}
}

// BenchmarkReadEvents is the same for an events file.
func BenchmarkReadEvents(b *testing.B) {
	var plain bytes.Buffer
	if err := nation(b, benchLines).Changes(&plain, benchLines, asOf, asOf.Add(24*time.Hour), true); err != nil {
		b.Fatal(err)
	}
	measureRead(b, plain.Bytes(), options(b, linefile.Events), benchLines)
}

// BenchmarkSkip measures how fast an import finds the line at which it resumes.
func BenchmarkSkip(b *testing.B) {
	var plain bytes.Buffer
	if err := nation(b, benchLines).Snapshot(&plain); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := linefile.Open(bytes.NewReader(plain.Bytes()), options(b, linefile.Snapshot))
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Skip(benchLines + 2); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchLines*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkGenerate measures how fast files are generated.
func BenchmarkGenerate(b *testing.B) {
	n := nation(b, benchLines)
	for name, write := range map[string]func(io.Writer) error{
		"snapshot": n.Snapshot,
		"changes":  func(w io.Writer) error { return n.Changes(w, benchLines, asOf, asOf.Add(24*time.Hour), false) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(benchLines*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func measureRead(b *testing.B, file []byte, o linefile.Options, want int) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(len(file)))
	rows := make([]linefile.Row, 5000)
	for b.Loop() {
		r, err := linefile.Open(bytes.NewReader(file), o)
		if err != nil {
			b.Fatal(err)
		}
		got := 0
		for err == nil {
			var n int
			var refused []linefile.Refusal
			if n, refused, err = r.Next(rows); len(refused) > 0 {
				b.Fatal(refused[0])
			}
			got += n
		}
		if got != want || err != io.EOF { //nolint:errorlint // the contract says exactly this error
			b.Fatal(got, err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(want)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// quoteAll puts every cell of a file in quotes, as some programs do.
func quoteAll(file []byte) []byte {
	file = bytes.ReplaceAll(file, []byte(","), []byte(`","`))
	file = bytes.ReplaceAll(file, []byte("\n"), []byte("\"\n\""))
	return append([]byte{'"'}, file[:len(file)-1]...)
}

func gzipped(tb testing.TB, content []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func zstded(tb testing.TB, content []byte) []byte {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return z.EncodeAll(content, nil)
}
