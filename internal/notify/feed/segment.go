// This part of the package moves old days of the feeds from the database into files, and erases
// what feeds tell about a number.
//
// What it guarantees:
//
//   - A day leaves the database in the transaction that records its segment, and only after
//     the segment was read back and the chain of every feed in it was checked.
//   - A segment is encrypted under a key of its own. When the key lapses, nobody can read
//     it any more, whatever copies of the file exist.
//   - An erased number is neither in the feeds nor in a segment: the event gives way to its
//     digest, with which the chain can still be checked.

package feed

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// Archive keeps the segments. All fields are required. The pool must have the rights of the
// owner.
type Archive struct {
	Pool  *pgxpool.Pool
	Files blob.Store
	Now   func() time.Time
}

// segmentForm is the first part of what is authenticated with every chunk of a segment.
const segmentForm = "lineproof feed segment 1\n"

// Segment is the file of one day.
type Segment struct {
	Day     time.Time
	Entries int64
	Bytes   int64

	file   uuid.UUID
	key    []byte // nil once it has lapsed
	sha256 [sha256.Size]byte
}

func (s *Segment) context() []byte { return []byte(segmentForm + s.Day.Format(time.DateOnly)) }

// Row is one entry of a feed in a segment, in the order of feed and sequence.
type Row struct {
	Entity uuid.UUID `json:"entity"`
	Mode   string    `json:"mode"`
	Epoch  int       `json:"epoch"`
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Type   string    `json:"type"`
	Number int64     `json:"number,omitzero"`
	Body   []byte    `json:"body,omitempty"`   // the event; empty if it was erased
	Digest []byte    `json:"digest,omitempty"` // of an erased event
	Hash   []byte    `json:"hash"`
}

// erase puts the digest of the event in its place.
func (r *Row) erase() {
	if len(r.Body) > 0 {
		digest := sha256.Sum256(r.Body)
		r.Digest, r.Body, r.Number = digest[:], nil, 0
	}
}

// place identifies the entry.
func (r *Row) place() Place { return Place{r.Entity, r.Mode, r.Epoch, r.Seq} }

// checker checks the chains of the rows of a segment.
type checker struct{ last Row }

var errSegmentChain = errors.New("feed: the chain of a feed is broken")

// check checks that a row follows the one before. The first of a feed follows one of
// another day.
func (c *checker) check(r *Row) error {
	digest := [sha256.Size]byte{}
	if len(r.Body) > 0 {
		digest = sha256.Sum256(r.Body)
	} else {
		copy(digest[:], r.Digest)
	}
	if c.last.Entity == r.Entity && c.last.Mode == r.Mode {
		if want := Chain([sha256.Size]byte(c.last.Hash), digest); r.Seq != c.last.Seq+1 || !bytes.Equal(r.Hash, want[:]) {
			return fmt.Errorf("%w at entry %d-%d of %s", errSegmentChain, r.Epoch, r.Seq, r.Entity)
		}
	}
	if len(r.Hash) != sha256.Size {
		return errSegmentChain
	}
	c.last = *r
	return nil
}

// write stores a segment under a new key, and reads it back. The rows come from each, which
// calls its argument for every row.
func (a *Archive) write(ctx context.Context, day time.Time, each func(func(*Row) error) error) (s Segment, err error) {
	s = Segment{Day: day, file: uuid.Must(uuid.NewV7()), key: make([]byte, keySize)}
	_, _ = rand.Read(s.key) // never fails
	reader, writer := io.Pipe()
	var entries int64
	from := s
	go func() {
		n, err := encodeSegment(writer, &from, each)
		entries = n
		_ = writer.CloseWithError(err)
	}()
	info, err := a.Files.Put(ctx, s.file.String(), reader)
	_ = reader.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // ends the goroutine if Put did not read to the end
	if err != nil {
		return s, fmt.Errorf("feed: store a segment: %w", err)
	}
	s.Entries, s.Bytes, s.sha256 = entries, info.Size, info.SHA256
	var found int64
	if err := a.read(ctx, &s, func(*Row) error { found++; return nil }); err != nil {
		return s, err
	}
	if found != s.Entries {
		return s, fmt.Errorf("feed: %d of %d entries were read back", found, s.Entries)
	}
	return s, nil
}

func encodeSegment(to io.Writer, s *Segment, each func(func(*Row) error) error) (n int64, err error) {
	sealed, err := newSealer(to, s.key, s.context())
	if err != nil {
		return 0, err
	}
	packed, err := zstd.NewWriter(sealed, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, fmt.Errorf("feed: pack a segment: %w", err)
	}
	out := jsontext.NewEncoder(packed)
	err = each(func(r *Row) error {
		n++
		return json.MarshalEncode(out, r)
	})
	if err != nil {
		return n, err
	}
	if err := packed.Close(); err != nil {
		return n, fmt.Errorf("feed: pack a segment: %w", err)
	}
	return n, sealed.Close()
}

// read calls each for every row of a segment, after it was checked.
func (a *Archive) read(ctx context.Context, s *Segment, each func(*Row) error) error {
	if s.key == nil {
		return ErrLapsed
	}
	file, err := a.Files.Open(ctx, s.file.String())
	if err != nil {
		return fmt.Errorf("feed: open a segment: %w", err)
	}
	defer file.Close()
	opened, err := newOpener(file, s.key, s.context())
	if err != nil {
		return err
	}
	unpacked, err := zstd.NewReader(opened, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("feed: unpack a segment: %w", err)
	}
	defer unpacked.Close()
	in := jsontext.NewDecoder(unpacked)
	for c := (checker{}); ; {
		var r Row
		if err := json.UnmarshalDecode(in, &r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("feed: read a segment: %w", err)
		}
		if err := c.check(&r); err != nil {
			return err
		}
		if err := each(&r); err != nil {
			return err
		}
	}
}
