package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/inspect"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/testing/corpus"
)

func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main()
	os.Exit(m.Run())
}

// asFile writes a sample to a file that is removed after the test.
func asFile(t *testing.T, data []byte) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

// code returns the code of a refusal, "" for a file that passes, and the text
// of any other error.
func code(err error) string {
	var refusal *inspect.Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return refusal.Code
	default:
		return err.Error()
	}
}

// share returns every n-th sample; LINEPROOF_CORPUS=all returns all.
func share(all func(func(corpus.Sample) bool), every int) (samples []corpus.Sample) {
	if os.Getenv("LINEPROOF_CORPUS") == "all" {
		every = 1
	}
	n := 0
	for s := range all {
		if n++; n%every == 0 {
			samples = append(samples, s)
		}
	}
	return samples
}

// Every honest file can be drawn, except in the forms that the decoders of images do not
// read, which are refused.
func TestHonestFilesAreDrawn(t *testing.T) {
	t.Parallel()
	drawn := map[string]int{}
	samples := share(corpus.Honest(), 4)
	for _, s := range samples {
		if got := code(inspect.File(t.Context(), new(pageimage.Drawer), asFile(t, s.Data), s.MediaType)); got != "" {
			if !corpus.Undrawn(s.Name) || got != inspect.Unreadable.Code {
				t.Errorf("%s: %s", s.Name, got)
			}
			continue
		}
		drawn[s.MediaType]++
	}
	t.Logf("drawn: %v of %d", drawn, len(samples))
}

// Of a hostile file, whether it is drawn or refused, nothing comes out but pictures that this
// process has encoded, and none of the marks of what it hides.
func TestHostileFilesBecomePixels(t *testing.T) {
	t.Parallel()
	results := map[string]int{}
	samples := share(corpus.Hostile(), 12)
	for _, s := range samples {
		_, err := new(pageimage.Drawer).DrawAll(t.Context(), asFile(t, s.Data), s.MediaType, func(picture []byte) error {
			p, err := jpeg.Decode(bytes.NewReader(picture))
			if err != nil {
				t.Errorf("%s: what comes out is no picture: %v", s.Name, err)
				return nil
			}
			var again bytes.Buffer
			if err := jpeg.Encode(&again, p, &jpeg.Options{Quality: 85}); err != nil || !strings.HasPrefix(string(picture), again.String()[:300]) {
				t.Errorf("%s: what comes out has other tables than the encoder of this process: %v", s.Name, err)
			}
			return nil
		})
		word := code(inspect.File(t.Context(), new(pageimage.Drawer), asFile(t, s.Data), s.MediaType))
		if (word == "") != (err == nil) || strings.Contains(word, " ") {
			t.Errorf("%s: %q, and drawing it: %v", s.Name, word, err)
		}
		results[word]++
	}
	t.Logf("of %d hostile files: %v", len(samples), results)
}

// An error that is not about the file is no refusal: the document waits.
func TestFailuresOfTheMachineRefuseNothing(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for s := range corpus.Honest() {
		err := inspect.File(ctx, new(pageimage.Drawer), asFile(t, s.Data), s.MediaType)
		if refused := new(inspect.Refusal); err == nil || errors.As(err, &refused) {
			t.Errorf("%v", err)
		}
		break
	}
	err := inspect.File(t.Context(), &pageimage.Drawer{Tools: t.TempDir()}, asFile(t, []byte("%PDF-1.4")), "application/pdf")
	if refused := new(inspect.Refusal); err == nil || errors.As(err, &refused) {
		t.Errorf("without poppler: %v", err)
	}
}

// Of the PDF files in the directory that LINEPROOF_FOREIGN names, how many can be drawn; for
// example the test files of pdf.js, of which some are damaged on purpose.
func TestForeignFilesAreCounted(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LINEPROOF_FOREIGN")
	if dir == "" {
		t.Skip("LINEPROOF_FOREIGN names no directory")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]int{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		word := code(inspect.File(t.Context(), new(pageimage.Drawer), f, "application/pdf"))
		if results[word]++; word != "" {
			t.Logf("%s: %s", filepath.Base(path), word)
		}
		_ = f.Close()
	}
	t.Logf("of %d files: %v", len(paths), results)
}
