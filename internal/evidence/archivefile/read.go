package archivefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/fault"
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
	Logged   int64 // batches that have an index in the public log
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

// Read calls each for every batch of a part, in order. It first checks the file against
// the manifest, so that each gets only what was archived. A batch and its entries are
// valid until each returns.
func (p *Part) Read(ctx context.Context, files blob.Store, day string, number int, each func(*Batch) error) error {
	return p.read(ctx, files, day, number, nil, each)
}

// ReadWanted is Read with only those entries of each batch that are wanted. They may be
// kept.
func (p *Part) ReadWanted(ctx context.Context, files blob.Store, day string, number int, wanted func(*Entry) bool, each func(*Batch) error) error {
	return p.read(ctx, files, day, number, wanted, each)
}

func (p *Part) read(ctx context.Context, files blob.Store, day string, number int, wanted func(*Entry) bool, each func(*Batch) error) error {
	return p.open(ctx, files, day, func(memory *partBuffers) error {
		text, err := memory.decompress(memory.compressed)
		if err != nil {
			return err
		}
		lines, err := cutHead(text, head{Form: Format, Day: day, Part: number})
		if err != nil {
			return err
		}
		return readLines(lines, wanted, each)
	})
}

// readAt calls each for the batches of a time, and perhaps for some of other times. Only a
// few frames of the file are decompressed.
func (p *Part) readAt(ctx context.Context, files blob.Store, day string, at time.Time, each func(*Batch) error) error {
	return p.open(ctx, files, day, func(memory *partBuffers) error {
		frames, first, err := framesAt(memory.compressed, at)
		if err != nil {
			return err
		}
		text, err := memory.decompress(frames)
		if err != nil {
			return err
		}
		if first {
			_, text, _ = strings.Cut(text, "\n")
		}
		return readLines(text, nil, each)
	})
}

// open calls a function with memory that has the file of a part, if it is the one that was
// archived.
func (p *Part) open(ctx context.Context, files blob.Store, day string, read func(*partBuffers) error) error {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-slots }()
	memory := buffers.Get().(*partBuffers) //nolint:forcetypeassert // nothing else is put into it
	defer buffers.Put(memory)
	err := p.load(ctx, files, day, memory)
	if err == nil {
		err = read(memory)
	}
	return fault.Wrap(err, "archivefile: read the archive of %s: file %s", day, p.Key)
}

// slots bounds how many parts are in memory at once: in the server, any caller can ask
// for a record of an archived day.
var slots = make(chan struct{}, min(runtime.GOMAXPROCS(0), 8))

// load reads the file of a part, if it is the one that was archived.
func (p *Part) load(ctx context.Context, files blob.Store, day string, memory *partBuffers) error {
	f, err := files.Open(ctx, p.Key)
	if err != nil {
		return err
	}
	defer f.Close()
	compressed := bytes.NewBuffer(memory.compressed[:0])
	if _, err := compressed.ReadFrom(io.LimitReader(f, p.Bytes+1)); err != nil {
		return err
	}
	memory.compressed = compressed.Bytes()
	if sum := sha256.Sum256(memory.compressed); int64(len(memory.compressed)) != p.Bytes || hex.EncodeToString(sum[:]) != p.SHA256 {
		return fmt.Errorf("%w: it does not match the manifest of %s", ErrDamaged, day)
	}
	return nil
}

// decompress returns the lines of frames.
func (b *partBuffers) decompress(frames []byte) (string, error) {
	decoder, err := newDecoder()
	if err != nil {
		return "", err
	}
	if b.lines, err = decoder.DecodeAll(frames, b.lines[:0]); err != nil {
		return "", err
	}
	return string(b.lines), nil
}

// newDecoder returns the decoder, which may be used by several goroutines.
var newDecoder = sync.OnceValues(func() (*zstd.Decoder, error) { return zstd.NewReader(nil) })

// partBuffers is memory for the reading of a part. It is used again: parts are large.
type partBuffers struct{ compressed, lines []byte }

var buffers = sync.Pool{New: func() any { return new(partBuffers) }}

// cutHead checks the first line of a part and returns the others.
func cutHead(text string, want head) (string, error) {
	first, rest, _ := strings.Cut(text, "\n")
	var l Line
	if err := json.Unmarshal([]byte(first), &l); err != nil {
		return "", err
	}
	if l.Head == nil || *l.Head != want {
		return "", fmt.Errorf("%w: its first line is that of another file", ErrDamaged)
	}
	return rest, nil
}

// readLines reads the lines of batches and records.
func readLines(rest string, wanted func(*Entry) bool, each func(*Batch) error) error {
	var current, next Batch
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		place := len(current.Entries)
		current.Entries = slices.Grow(current.Entries, 1)[:place+1]
		e := &current.Entries[place]
		isBatch, err := decodeLine(line, &next, e)
		switch {
		case err != nil:
			return err
		case isBatch:
			current.Entries = current.Entries[:place]
			if err := passOn(&current, each); err != nil {
				return err
			}
			next.Entries = current.Entries[:0]
			current = next
		case !current.Found:
			return fmt.Errorf("%w: a record comes before the first batch", ErrDamaged)
		case wanted != nil && !wanted(e):
			current.Entries = current.Entries[:place]
		default:
			e.Idx = place
			if wanted != nil {
				e.detach()
			}
		}
	}
	return passOn(&current, each)
}

func passOn(b *Batch, each func(*Batch) error) error {
	if !b.Found {
		return nil
	}
	return each(b)
}

// detach copies the texts of an entry, so that keeping it does not keep its whole part.
func (e *Entry) detach() {
	for _, text := range []*string{
		&e.Type, &e.Mode, &e.Purpose, &e.PurposeText, &e.Status, &e.Reason, &e.MobileNetwork,
		&e.PhoneNumber, &e.Correlator, &e.ExternalID, &e.OnBehalfOf, &e.Options, &e.Extra,
	} {
		*text = strings.Clone(*text)
	}
}
