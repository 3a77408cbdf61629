package archivefile

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/blob"
)

// ErrDamaged reports files that differ from what was archived.
var ErrDamaged = errors.New("archivefile: the archive is damaged")

// Archive is the database's record of an archived day.
type Archive struct {
	Day      time.Time
	Manifest uuid.UUID // the key of the file that lists its files
	SHA256   [sha256.Size]byte
	Batches  int64
	Entries  int64
	Bytes    int64 // of all its files
	Root     []byte
	At       time.Time // when it was archived
}

// Open reads the manifest and checks that it is the one that was archived.
func (a *Archive) Open(ctx context.Context, files blob.Store) (m Manifest, err error) {
	text, err := ReadFile(ctx, files, a.Manifest.String())
	if err != nil {
		return m, fmt.Errorf("archivefile: read the manifest of %s: %w", a.Day.Format(time.DateOnly), err)
	}
	if sha256.Sum256(text) != a.SHA256 {
		return m, fmt.Errorf("%w: file %s is not the archived manifest of %s", ErrDamaged, a.Manifest, a.Day.Format(time.DateOnly))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("archivefile: read the manifest of %s: %w", a.Day.Format(time.DateOnly), err)
	}
	if m.Form != Format {
		return m, fmt.Errorf("archivefile: the archive of %s has a format that this version does not support; use a newer version", m.Day)
	}
	return m, nil
}

// ReadFile returns the content of a file.
func ReadFile(ctx context.Context, files blob.Store, key string) ([]byte, error) {
	f, err := files.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", key, err)
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Read calls each for every batch of a part, in order, and then checks the file
// against the manifest. So each must not rely on a batch before Read has returned
// nil.
func (p *Part) Read(ctx context.Context, files blob.Store, day string, number int, each func(*Batch) error) error {
	return p.ReadWanted(ctx, files, day, number, func(*EntryLine) bool { return true }, each)
}

// ReadWanted is Read with only those entries of each batch that are wanted.
func (p *Part) ReadWanted(ctx context.Context, files blob.Store, day string, number int, wanted func(*EntryLine) bool, each func(*Batch) error) error {
	f, err := files.Open(ctx, p.Key)
	if err != nil {
		return fmt.Errorf("archivefile: read the archive of %s: file %s: %w", day, p.Key, err)
	}
	defer f.Close()
	sum, size := sha256.New(), &byteCounter{}
	in := io.TeeReader(f, io.MultiWriter(sum, size))
	if err = readLines(in, head{Form: Format, Day: day, Part: number}, wanted, each); err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		return fmt.Errorf("archivefile: read the archive of %s: file %s: %w", day, p.Key, err)
	}
	if size.n != p.Bytes || hex.EncodeToString(sum.Sum(nil)) != p.SHA256 {
		return fmt.Errorf("%w: file %s does not match the manifest of %s", ErrDamaged, p.Key, day)
	}
	return nil
}

// byteCounter counts the bytes written to it.
type byteCounter struct{ n int64 }

// Write implements [io.Writer].
func (c *byteCounter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// MaxLine bounds a line of an archive: a record has no more than what fits into the
// header and the body of a request.
const MaxLine = 1 << 20

// readLines reads the lines of a part.
func readLines(compressed io.Reader, want head, wanted func(*EntryLine) bool, each func(*Batch) error) error {
	decoder, err := zstd.NewReader(compressed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer decoder.Close()
	lines := bufio.NewScanner(decoder)
	lines.Buffer(make([]byte, 64<<10), MaxLine)
	var current *Batch
	for first := true; lines.Scan(); first = false {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		switch {
		case first:
			if l.Head == nil || *l.Head != want {
				return fmt.Errorf("%w: its first line is that of another file", ErrDamaged)
			}
		case l.Batch != nil:
			if current != nil {
				if err := each(current); err != nil {
					return err
				}
			}
			if current, err = l.Batch.batch(); err != nil {
				return err
			}
		case l.Entry != nil && current != nil && !wanted(l.Entry):
		case l.Entry != nil && current != nil:
			e, err := l.Entry.entry(len(current.Entries))
			if err != nil {
				return err
			}
			current.Entries = append(current.Entries, e)
		default:
			return fmt.Errorf("%w: a line is neither a batch nor a record", ErrDamaged)
		}
	}
	if err := lines.Err(); err != nil || current == nil {
		return err
	}
	return each(current)
}
