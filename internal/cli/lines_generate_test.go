package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/cli"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A generated file can be read by the importer, with any compression.
func TestGeneratedFilesCanBeRead(t *testing.T) {
	t.Parallel()
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"", "--gzip", "--zstd"} {
		file, _ := machine{t: t}.run(0, nil, strings.Fields("lines generate --network GLO --lines 3000 --as-of 2026-11-01 "+how)...)
		if plain := strings.HasPrefix(file, "number,"); plain != (how == "") {
			t.Errorf("%q is ignored", how)
		}
		r, err := linefile.Open(strings.NewReader(file), linefile.Options{
			Kind: linefile.Snapshot, Region: region, AsOf: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			t.Fatal(err)
		}
		n, refused, err := r.Next(make([]linefile.Row, 5000))
		if n != 3000 || len(refused) > 0 || err != nil {
			t.Errorf("%q: %d rows, refused %v, %v", how, n, refused, err)
		}
		if _, _, err := r.Next(make([]linefile.Row, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%q ends with %v", how, err)
		}
	}
}

// An interruption stops the command before the whole file is written.
func TestGeneratingCanBeInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	code := cli.Main(ctx, cli.Env{
		Args:   strings.Fields("lines generate --network MTN --lines 100000000"),
		Stdout: writer(func() { stop() }), Stderr: &stderr,
	})
	if code != 1 || stderr.String() != "lineproof: interrupted\n" {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

// writer is a function that is called for every write.
type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}
