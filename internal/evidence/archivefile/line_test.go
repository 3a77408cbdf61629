package archivefile_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
)

// randomBatch returns a batch with random content in every field.
func randomBatch(r *rand.Rand) *archivefile.Batch {
	alphabet := []rune("abc XYZ019+-'\"\\/\n\t\b\r\x00\x1f\x7f{}<&>éßñ’ẹ́ọ̀语字😀\u2028\u2029\ufffd")
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			text := make([]rune, r.IntN(30))
			for i := range text {
				text[i] = alphabet[r.IntN(len(alphabet))]
			}
			v.SetString(string(text))
		case reflect.Int, reflect.Int32, reflect.Int64:
			v.SetInt(int64(int32(r.Uint32())))
		case reflect.Array:
			for i := range v.Len() {
				v.Index(i).SetUint(uint64(byte(r.Uint32())))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				v.Set(reflect.ValueOf(time.UnixMilli(1_790_000_000_000 + r.Int64N(1<<36)).UTC()))
				return
			}
			for _, f := range v.Fields() {
				fill(f)
			}
		default:
		}
	}
	b := &archivefile.Batch{Found: true, Entries: make([]archivefile.Entry, 1+r.IntN(4)), Root: make([]byte, 32)}
	fill(reflect.ValueOf(&b.BatchKey).Elem())
	for _, field := range []any{&b.Node, &b.At, &b.Count, &b.Xact, &b.Log} {
		fill(reflect.ValueOf(field).Elem())
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		fill(reflect.ValueOf(&e.Entry).Elem())
		e.Idx, e.StoredHash = i, uuid.New().NodeID()
		e.StoredHash = append(e.StoredHash, make([]byte, 32-len(e.StoredHash))...)
		if r.IntN(3) == 0 {
			e.Personal, e.Nonce = record.Personal{}, [16]byte{}
		} else {
			e.Inner = [32]byte{}
		}
	}
	return b
}

// Lines are those that package json makes, whatever their texts are.
func TestLinesAreThoseOfPackageJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := randomBatch(r)
		compare := func(line archivefile.Line, appendLine func([]byte) ([]byte, error)) {
			want, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			got, err := appendLine([]byte("before "))
			if err != nil || string(got) != "before "+string(want)+"\n" {
				t.Fatalf("wrote %q, want %q (%v)", got, want, err)
			}
		}
		compare(b.Line(), b.AppendLine)
		for i := range b.Entries {
			compare(b.Entries[i].Line(), b.Entries[i].AppendLine)
		}
	}
}

// A part is read as it was written, and the day that it belongs to is counted.
func TestPartIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	files, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	r := rand.New(rand.NewPCG(3, 4))
	w, err := archivefile.NewPartWriter(files)
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC)
	whole := archivefile.NewWriter(files, day)
	var written [][]*archivefile.Batch
	for number := 1; number <= 3; number++ {
		if err := w.Start("2026-11-14", number); err != nil {
			t.Fatal(err)
		}
		var batches []*archivefile.Batch
		for range 200 {
			b := randomBatch(r)
			batches = append(batches, b)
			if err := w.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		part, err := w.Store(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		whole.Add(part)
		written = append(written, batches)
	}
	archive, err := whole.Finish(t.Context(), day)
	if err != nil || archive.Batches != 600 {
		t.Fatalf("%+v, %v", archive, err)
	}
	m, err := archive.Open(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range m.Parts {
		next := 0
		read := func(b *archivefile.Batch) error {
			if diff := cmp.Diff(written[i][next], b); diff != "" {
				t.Fatalf("batch %d of part %d (-written +read):\n%s", next, i+1, diff)
			}
			next++
			return nil
		}
		if err := part.Read(t.Context(), files, m.Day, i+1, read); err != nil || next != 200 {
			t.Fatalf("%d batches, %v", next, err)
		}
	}
}

// Lines in another form, such as with spaces or with members in another order, are read
// with the same result; and a line that is not one is an error.
func TestLinesInAnotherFormAreRead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		b := randomBatch(r)
		e := &b.Entries[0]
		line, err := e.AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		spaced := jsontext.Value(strings.Clone(string(line)))
		if err := spaced.Indent(); err != nil {
			t.Fatal(err)
		}
		ordered := jsontext.Value(strings.Clone(string(line)))
		if err := ordered.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{strings.TrimSuffix(string(line), "\n"), string(spaced), string(ordered)} {
			got, isBatch, err := archivefile.DecodeLine(text)
			got.Idx = e.Idx
			if diff := cmp.Diff(*e, got); diff != "" || isBatch || err != nil {
				t.Fatalf("%s (%v) (-written +read):\n%s", text, err, diff)
			}
		}
		for _, text := range []string{"", "{}", "[]", string(line[:len(line)/2]), strings.Replace(string(line), `"nonce":"`, `"nonce":"0`, 1), `{"entry":{}}`} {
			if _, _, err := archivefile.DecodeLine(text); err == nil {
				t.Errorf("read %q as a line", text)
			}
		}
	}
}
