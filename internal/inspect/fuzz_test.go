package inspect_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/testing/corpus"
)

// fuzz inspects damaged files of one format. The only results are a refusal or nil,
// and no file may cause a crash: in its own process that would do no harm, but the
// refusal would be less specific.
func fuzz(f *testing.F, mediaType string) {
	f.Helper()
	for s := range corpus.Seeds() {
		if s.MediaType == mediaType {
			f.Add(s.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := inspect.File(bytes.NewReader(data), int64(len(data)), mediaType)
		var refusal *inspect.Refusal
		if err != nil && !errors.As(err, &refusal) {
			t.Errorf("File = %v, which is no reason", err)
		}
	})
}

func FuzzPDF(f *testing.F)  { fuzz(f, "application/pdf") }
func FuzzPNG(f *testing.F)  { fuzz(f, "image/png") }
func FuzzJPEG(f *testing.F) { fuzz(f, "image/jpeg") }
func FuzzGIF(f *testing.F)  { fuzz(f, "image/gif") }
func FuzzWebP(f *testing.F) { fuzz(f, "image/webp") }
func FuzzTIFF(f *testing.F) { fuzz(f, "image/tiff") }
