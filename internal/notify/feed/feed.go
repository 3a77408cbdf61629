// Package feed keeps what each organisation is told: one feed for its live keys and one
// for its test keys.
//
// What it guarantees:
//
//   - A feed has one order. Its entries are numbered without gaps ([Append] locks the
//     head), so that a reader notices when one is missing.
//   - Each entry carries a hash over itself and all entries before, so that a reader
//     notices when one was altered, left out, moved or repeated.
//   - An id means the same bytes for ever, also after a restore from a backup, which
//     raises the epoch. The only exception is an entry whose number was erased: it says
//     so, and the chain can still be checked.
//   - Entries are added in the transaction of what they tell, and leave when they are durable,
//     also on the standby for which commits wait.
//
// It knows nothing of what is told. Package distribute adds what changed about watched
// numbers.
package feed

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Owner is the organisation of a feed. Mode is the mode of its keys: live or test.
type Owner struct {
	Entity uuid.UUID
	Mode   string
}

// Entry is one entry of a feed. Its id is epoch and seq.
type Entry struct {
	Epoch int
	Seq   int64
	At    time.Time // when it was added
	Type  string    // of the event, without its prefix
	Body  []byte    // the event as canonical JSON (RFC 8785), without the member lpchain
	Hash  [sha256.Size]byte

	// Erased reports that the body was erased. Body then is an event that says so.
	Erased bool
}

// ID returns the id of the event.
func (e *Entry) ID() string { return idOf(e.Epoch, e.Seq) }

func idOf(epoch int, seq int64) string { return strconv.Itoa(epoch) + "-" + strconv.FormatInt(seq, 10) }

// Cursor returns the place after the entry, from which a reader goes on.
func (e *Entry) Cursor() string { return cursorOf(e.Epoch, e.Seq, e.Hash[:]) }

func cursorOf(epoch int, seq int64, hash []byte) string {
	return idOf(epoch, seq) + "-" + hex.EncodeToString(hash[:cursorHash])
}

// JSON returns the event as it is sent: the body, with the hash as its last member.
func (e *Entry) JSON() []byte {
	const member = `,"lpchain":"`
	text := make([]byte, 0, len(e.Body)+len(member)+base64.RawURLEncoding.EncodedLen(len(e.Hash))+2)
	text = append(append(text, e.Body[:len(e.Body)-1]...), member...)
	return append(base64.RawURLEncoding.AppendEncode(text, e.Hash[:]), `"}`...)
}

// Chain returns the hash of an entry from the hash of the one before and the digest of
// its body.
func Chain(before [sha256.Size]byte, digest [sha256.Size]byte) [sha256.Size]byte {
	return sha256.Sum256(append(before[:], digest[:]...))
}

const entryColumns = `epoch, seq, at, type, body, digest, hash`

func scanEntry(o Owner) pgx.RowToFunc[Entry] {
	return func(row pgx.CollectableRow) (e Entry, err error) {
		var digest, hash []byte
		if err = row.Scan(&e.Epoch, &e.Seq, &e.At, &e.Type, &e.Body, &digest, &hash); err != nil {
			return e, err
		}
		copy(e.Hash[:], hash)
		e.At = e.At.UTC()
		if e.Body == nil {
			e.Erased, e.Type = true, erasedType
			e.Body, err = erasedBody(o, &e, digest)
		}
		return e, err
	}
}

// recentDays is where a reader that follows a feed finds what is new, without a look at
// all days that are kept.
const recentDays = 2

// After returns up to limit entries after a place, in their order. Seq is that of the
// last entry that the reader has; 0 if it has none.
func (s *Service) After(ctx context.Context, o Owner, seq int64, limit int) ([]Entry, error) {
	recent, err := s.after(ctx, o, seq, limit, s.Now().AddDate(0, 0, -recentDays))
	if err != nil || len(recent) > 0 && recent[0].Seq == seq+1 { // there are no gaps, so these are the next
		return recent, err
	}
	head, err := readHead(ctx, s.Pool, o)
	if err != nil || head.seq <= seq {
		return nil, err
	}
	return s.after(ctx, o, seq, limit, time.Time{})
}

// Entries returns those of some entries that are still in the database, in their order.
func (s *Service) Entries(ctx context.Context, o Owner, seqs []int64) ([]Entry, error) {
	return s.read(ctx, o, `seq = ANY($3) ORDER BY seq`, seqs)
}

func (s *Service) after(ctx context.Context, o Owner, seq int64, limit int, since time.Time) ([]Entry, error) {
	return s.read(ctx, o, `seq > $3 AND at >= $4 ORDER BY seq LIMIT $5`, seq, since, limit)
}

// read returns the entries of a feed for which a condition holds, whose arguments begin at $3.
func (s *Service) read(ctx context.Context, o Owner, where string, args ...any) ([]Entry, error) {
	entries, err := pg.Collect(ctx, s.Pool, scanEntry(o), `SELECT `+entryColumns+` FROM feed_entry WHERE entity_id = $1 AND mode = $2 AND `+where, append([]any{o.Entity, o.Mode}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("feed: read entries: %w", err)
	}
	if len(entries) > 0 {
		if err := s.confirm(ctx, o, &entries[len(entries)-1]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// head is the end of a feed.
type head struct {
	epoch int
	seq   int64
	hash  [sha256.Size]byte
}

// readHead returns the end of a feed; that of an empty one if it has no entry yet.
func readHead(ctx context.Context, from pg.DB, o Owner) (h head, err error) {
	var hash []byte
	err = from.QueryRow(ctx, `SELECT epoch, seq, hash FROM feed_head WHERE entity_id = $1 AND mode = $2`, o.Entity, o.Mode).Scan(&h.epoch, &h.seq, &hash)
	if errors.Is(err, pgx.ErrNoRows) {
		err = from.QueryRow(ctx, `SELECT epoch FROM feed_epoch`).Scan(&h.epoch)
	}
	if err != nil {
		return h, fmt.Errorf("feed: read the head: %w", err)
	}
	copy(h.hash[:], hash)
	return h, nil
}
