package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// What [Store.Check] finds.
const (
	ProblemMissing = "missing" // there is a record and no file
	ProblemSize    = "size"    // the file has another size than was uploaded
	ProblemContent = "content" // the file has other content than was uploaded
	ProblemStray   = "stray"   // there is a file and no record; the sweep removes it
	ProblemDeleted = "deleted" // there is a file of a document that was deleted; the sweep removes it
)

// Problem is a document whose record and file disagree.
type Problem struct {
	Kind     string
	Document uuid.UUID
}

// Tally is what a check went through.
type Tally struct {
	Records  int // of documents that are not deleted
	Files    int
	Bytes    int64 // of all files
	Problems int
}

// youngest is how old a file must be to be called a stray: its record is
// written when its upload ends.
const youngest = time.Hour

// Check compares every record with its file and every file with its record, and
// calls each for whatever disagrees. Deep reads every file to its end. Watch is
// told how many of the records are done; it may be nil. Uploads and deletions
// may go on meanwhile.
func (s *Store) Check(ctx context.Context, deep bool, each func(Problem), watch func(done, total int)) (t Tally, err error) {
	found := func(kind string, id uuid.UUID) {
		t.Problems++
		each(Problem{Kind: kind, Document: id})
	}
	sizes := map[uuid.UUID]int64{}
	before := s.now().Add(-youngest)
	err = s.eachFile(ctx, func(files []blob.Item, known map[uuid.UUID]bool) error {
		for _, f := range files {
			id := uuid.MustParse(f.Key) // eachFile has
			t.Files++
			t.Bytes += f.Size
			sizes[id] = f.Size
			living, recorded := known[id]
			switch {
			case living:
			case recorded:
				found(ProblemDeleted, id)
			case f.Modified.Before(before):
				found(ProblemStray, id)
			}
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	total, err := db.New(s.Pool).CountLiving(ctx)
	if err != nil {
		return t, fmt.Errorf("document: count: %w", err)
	}
	var after uuid.UUID
	for {
		rows, err := db.New(s.Pool).Living(ctx, db.LivingParams{After: pg.ID(after), Most: batch})
		if err != nil {
			return t, fmt.Errorf("document: list: %w", err)
		}
		for _, r := range rows {
			size, there := sizes[r.ID]
			kind, err := s.compare(ctx, &r, size, there, deep)
			if err != nil {
				return t, err
			}
			if kind != "" {
				found(kind, r.ID)
			}
			t.Records++
			after = r.ID
			if watch != nil {
				watch(t.Records, max(int(total), t.Records))
			}
		}
		if len(rows) < batch {
			return t, nil
		}
	}
}

// compare says what is wrong with the file of a record; empty for nothing. The
// list of files may be older than the record, so a file that is not on it is
// looked for.
func (s *Store) compare(ctx context.Context, r *db.LivingRow, size int64, there, deep bool) (kind string, err error) {
	if there && size != r.Size {
		return ProblemSize, nil
	}
	if there && !deep {
		return "", nil
	}
	content, err := s.Files.Open(ctx, r.ID.String())
	if errors.Is(err, blob.ErrNotFound) {
		d, err := s.Find(ctx, r.ID)
		if err != nil || d.State == Deleted { // since a moment
			return "", err
		}
		return ProblemMissing, nil
	}
	if err != nil {
		return "", fmt.Errorf("document: open %s: %w", r.ID, err)
	}
	defer func() { _ = content.Close() }()
	hash := sha256.New()
	n, err := io.Copy(hash, content)
	switch {
	case errors.Is(err, blob.ErrDamaged):
		return ProblemContent, nil
	case err != nil:
		return "", fmt.Errorf("document: read %s: %w", r.ID, err)
	case n != r.Size:
		return ProblemSize, nil
	case [sha256.Size]byte(hash.Sum(nil)) != [sha256.Size]byte(r.Sha256):
		return ProblemContent, nil
	}
	return "", nil
}
