package journal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
)

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

// errArchive reports files that differ from what was archived.
var errArchive = errors.New("journal: the archive is damaged")

// Archives lists the archives of the days from one to another, both included,
// by day and age. The zero time is no limit. A day has two if something
// was written to it after the first.
func Archives(ctx context.Context, db pg.DB, from, to time.Time) ([]Archive, error) {
	limit := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = dayOf(t)
		return &t
	}
	rows, err := db.Query(ctx, `SELECT day::timestamptz, manifest, sha256, batches, entries, bytes, root, archived_at FROM journal_archive
		WHERE day >= coalesce($1::timestamptz::date, '-infinity') AND day <= coalesce($2::timestamptz::date, 'infinity') ORDER BY day, archived_at`,
		limit(from), limit(to))
	if err != nil {
		return nil, fmt.Errorf("journal: list archives: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Archive, err error) {
		var sum []byte
		err = row.Scan(&a.Day, &a.Manifest, &sum, &a.Batches, &a.Entries, &a.Bytes, &a.Root, &a.At)
		a.Day, a.At = a.Day.UTC(), a.At.UTC()
		copy(a.SHA256[:], sum)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("journal: list archives: %w", err)
	}
	return all, nil
}

// Find returns the record of a request from the database or, if its day was
// archived, from the archive. A record that does not match its hash is
// an error, and so is a missing archive: that a record cannot be read does not
// mean that there is none.
func Find(ctx context.Context, pool *pgxpool.Pool, files blob.Store, requestID uuid.UUID) (record.Entry, error) {
	e, err := Get(ctx, pool, requestID)
	if !errors.Is(err, ErrNotFound) {
		return e, err
	}
	at, ok := record.TimeOf(requestID)
	if !ok {
		return record.Entry{}, ErrNotFound
	}
	archives, err := Archives(ctx, pool, at, at)
	if err != nil {
		return record.Entry{}, err
	}
	for i := range archives {
		if e, err = archives[i].find(ctx, files, requestID, at); !errors.Is(err, ErrNotFound) {
			return e, err
		}
	}
	return record.Entry{}, ErrNotFound
}

// find reads the parts whose period includes a time. There are few of them,
// because records are stored roughly in the order in which they were written.
func (a *Archive) find(ctx context.Context, files blob.Store, requestID uuid.UUID, at time.Time) (record.Entry, error) {
	m, err := a.open(ctx, files)
	if err != nil {
		return record.Entry{}, err
	}
	var found []storedEntry
	text := at.Format(archiveTimeFormat)
	for i, p := range m.Parts {
		if p.Entries == 0 || text < p.First || text > p.Last {
			continue
		}
		wanted := func(e *archiveEntry) bool { return e.RequestID == requestID }
		err := p.readWanted(ctx, files, m.Day, i+1, wanted, func(b *storedBatch) error {
			found = append(found, b.entries...)
			return nil
		})
		if err != nil {
			return record.Entry{}, err
		}
	}
	switch {
	case len(found) == 0:
		return record.Entry{}, ErrNotFound
	case len(found) > 1:
		return record.Entry{}, fmt.Errorf("%w: %d records share one request id", errArchive, len(found))
	}
	if hash := found[0].Hash(); !bytes.Equal(hash[:], found[0].hash) {
		return record.Entry{}, fmt.Errorf("%w: the record does not match its hash", errArchive)
	}
	return found[0].Entry, nil
}

// open reads the manifest and checks that it is the one that was archived.
func (a *Archive) open(ctx context.Context, files blob.Store) (m Manifest, err error) {
	text, err := readFile(ctx, files, a.Manifest.String())
	if err != nil {
		return m, fmt.Errorf("journal: read the manifest of %s: %w", a.Day.Format(time.DateOnly), err)
	}
	if sha256.Sum256(text) != a.SHA256 {
		return m, fmt.Errorf("%w: file %s is not the archived manifest of %s", errArchive, a.Manifest, a.Day.Format(time.DateOnly))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("journal: read the manifest of %s: %w", a.Day.Format(time.DateOnly), err)
	}
	if m.Form != archiveFormat {
		return m, fmt.Errorf("journal: the archive of %s has a format that this version does not support; use a newer version", m.Day)
	}
	return m, nil
}

func readFile(ctx context.Context, files blob.Store, key string) ([]byte, error) {
	f, err := files.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", key, err)
	}
	defer f.Close()
	return io.ReadAll(f)
}

// read calls each for every batch of a part, in order, and then checks the file
// against the manifest. So each must not rely on a batch before read has returned
// nil.
func (p *Part) read(ctx context.Context, files blob.Store, day string, number int, each func(*storedBatch) error) error {
	return p.readWanted(ctx, files, day, number, func(*archiveEntry) bool { return true }, each)
}

// readWanted is read with only those entries of each batch that are wanted.
func (p *Part) readWanted(ctx context.Context, files blob.Store, day string, number int, wanted func(*archiveEntry) bool, each func(*storedBatch) error) error {
	f, err := files.Open(ctx, p.Key)
	if err != nil {
		return fmt.Errorf("journal: read the archive of %s: file %s: %w", day, p.Key, err)
	}
	defer f.Close()
	sum, size := sha256.New(), &byteCounter{}
	in := io.TeeReader(f, io.MultiWriter(sum, size))
	if err = readLines(in, archiveHead{Form: archiveFormat, Day: day, Part: number}, wanted, each); err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	if err != nil {
		return fmt.Errorf("journal: read the archive of %s: file %s: %w", day, p.Key, err)
	}
	if size.n != p.Bytes || hex.EncodeToString(sum.Sum(nil)) != p.SHA256 {
		return fmt.Errorf("%w: file %s does not match the manifest of %s", errArchive, p.Key, day)
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

// maxLine bounds a line of an archive: a record has no more than what fits into the
// header and the body of a request.
const maxLine = 1 << 20

// readLines reads the lines of a part.
func readLines(compressed io.Reader, want archiveHead, wanted func(*archiveEntry) bool, each func(*storedBatch) error) error {
	decoder, err := zstd.NewReader(compressed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer decoder.Close()
	lines := bufio.NewScanner(decoder)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var current *storedBatch
	for first := true; lines.Scan(); first = false {
		var l archiveLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		switch {
		case first:
			if l.Head == nil || *l.Head != want {
				return fmt.Errorf("%w: its first line is that of another file", errArchive)
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
			e, err := l.Entry.entry(len(current.entries))
			if err != nil {
				return err
			}
			current.entries = append(current.entries, e)
		default:
			return fmt.Errorf("%w: a line is neither a batch nor a record", errArchive)
		}
	}
	if err := lines.Err(); err != nil || current == nil {
		return err
	}
	return each(current)
}
