package document

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// The kinds of problems that [Store.Check] finds.
const (
	ProblemMissing = "missing" // the document has no file
	ProblemSize    = "size"    // the file has another size than was uploaded
	ProblemContent = "content" // the file has other content than was uploaded
	ProblemStray   = "stray"   // the file belongs to no document; the sweep removes it
	ProblemDeleted = "deleted" // the file belongs to a deleted document; the sweep removes it
)

// Problem is a document whose record and file disagree.
type Problem struct {
	Kind     string
	Document uuid.UUID
}

// CheckResult counts what a check has compared.
type CheckResult struct {
	Records  int // documents that are not deleted
	Files    int
	Bytes    int64 // of all files
	Problems int
}

// minOrphanAge is how old a file without a document must be to be reported: the
// document is recorded when the upload ends.
const minOrphanAge = time.Hour

// Check compares every document with its file and every file with its document,
// and calls each for every difference. Deep reads every file completely. Watch, if
// not nil, is called with the number of documents done. Uploads and deletions may
// happen at the same time.
func (s *Store) Check(ctx context.Context, deep bool, each func(Problem), watch func(done, total int)) (t CheckResult, err error) {
	found := func(kind string, id uuid.UUID) {
		t.Problems++
		each(Problem{Kind: kind, Document: id})
	}
	sizes := map[uuid.UUID]int64{}
	before := s.now().Add(-minOrphanAge)
	err = s.eachFile(ctx, func(files []blob.Item, known map[uuid.UUID]bool) error {
		for _, f := range files {
			id := uuid.MustParse(f.Key) // eachFile has parsed it before
			t.Files++
			t.Bytes += f.Size
			sizes[id] = f.Size
			existing, recorded := known[id]
			switch {
			case existing:
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
	var total int
	if err := s.Pool.QueryRow(ctx, `SELECT count(*) FROM document WHERE state <> 'deleted'`).Scan(&total); err != nil {
		return t, fmt.Errorf("document: count: %w", err)
	}
	var after uuid.UUID
	for {
		rows, err := pg.Collect(ctx, s.Pool, pgx.RowToStructByPos[recorded],
			`SELECT id, size, sha256 FROM document WHERE state <> 'deleted' AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2`, pg.ID(after), pageSize)
		if err != nil {
			return t, fmt.Errorf("document: list: %w", err)
		}
		for _, r := range rows {
			size, listed := sizes[r.ID]
			kind, err := s.compare(ctx, &r, size, listed, deep)
			if err != nil {
				return t, err
			}
			if kind != "" {
				found(kind, r.ID)
			}
			t.Records++
			after = r.ID
			if watch != nil {
				watch(t.Records, max(total, t.Records))
			}
		}
		if len(rows) < pageSize {
			return t, nil
		}
	}
}

// recorded is the description of a file in the record of its document.
type recorded struct {
	ID     uuid.UUID
	Size   int64
	SHA256 []byte
}

// compare returns the problem with the file of a document; empty if there is none.
// The list of files may be older than the document, so a file that is not listed
// is opened before it is reported.
func (s *Store) compare(ctx context.Context, r *recorded, size int64, listed, deep bool) (kind string, err error) {
	if listed && size != r.Size {
		return ProblemSize, nil
	}
	if listed && !deep {
		return "", nil
	}
	content, err := s.Files.Open(ctx, r.ID.String())
	if errors.Is(err, blob.ErrNotFound) {
		d, err := s.Find(ctx, r.ID)
		if err != nil || d.State == Deleted { // deleted in the meantime
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
	case [sha256.Size]byte(hash.Sum(nil)) != [sha256.Size]byte(r.SHA256):
		return ProblemContent, nil
	}
	return "", nil
}
