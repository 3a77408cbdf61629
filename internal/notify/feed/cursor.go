package feed

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// cursorHash is how many bytes of the hash a cursor has.
const cursorHash = 8

var (
	// ErrCursor reports text that is not a cursor.
	ErrCursor = fault.ErrInvalid.With(fault.Violation{
		Field: "after", Code: fault.BadFormat, Message: "Send the cursor that came with the last event, unchanged, or none to begin with the oldest event that is kept.",
	})
	// ErrCursorTooOld reports a cursor after which entries have been deleted.
	ErrCursorTooOld = fault.New(fault.Gone, "The events after this cursor are no longer kept. Verify your numbers, and read the feed from its oldest event, without a cursor.")
	// ErrOtherChain reports a cursor that is not of this feed.
	ErrOtherChain = fault.New(fault.IncompatibleState, "This cursor is not of this feed. Read again from an earlier cursor, or without one.")
	// ErrRebased reports a cursor of entries that a restore from a backup has lost.
	ErrRebased = fault.New(fault.IncompatibleState, "The service was restored from a backup, and the last events before this cursor are void. "+
		"Read GET /api/v1/feed once with this cursor and rebase=true: its events begin where your history was cut, and feed.v1.rebased says from where you have to forget.")
	// ErrCutUnknown reports a cursor of a history of which the restored database knows nothing:
	// it has been restored more than once.
	ErrCutUnknown = fault.New(fault.Gone, "The service was restored from backups more than once, and where your history was cut can't be told. "+
		"Read the feed from its oldest event, without a cursor. What you have of that time and do not get again is void: verify its numbers.")
)

// Resume returns the seq after which a reader with this cursor goes on; 0 for "".
func (s *Service) Resume(ctx context.Context, o Owner, cursor string) (seq int64, err error) {
	if cursor == "" {
		return s.oldest(ctx, o)
	}
	epoch, seq, hash, err := parseCursor(cursor)
	if err != nil {
		return 0, err
	}
	h, err := readHead(ctx, s.Pool, o)
	if err != nil {
		return 0, err
	}
	other := ErrOtherChain
	if epoch < h.epoch {
		other = ErrRebased
	}
	switch {
	case seq > h.seq || epoch > h.epoch:
		return 0, other
	case seq == h.seq: // its entry may have been deleted long ago
		if hex.EncodeToString(h.hash[:cursorHash]) != hash {
			return 0, other
		}
		return seq, nil
	}
	var foundEpoch int
	var found []byte
	err = s.Pool.QueryRow(ctx, `SELECT epoch, hash FROM feed_entry WHERE entity_id = $1 AND mode = $2 AND seq = $3`, o.Entity, o.Mode, seq).Scan(&foundEpoch, &found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		before, err := s.oldest(ctx, o)
		if err == nil && before > seq {
			err = ErrCursorTooOld
		}
		return seq, err
	case err != nil:
		return 0, fmt.Errorf("feed: find a cursor: %w", err)
	case foundEpoch != epoch || hex.EncodeToString(found[:cursorHash]) != hash:
		return 0, other
	}
	return seq, nil
}

// oldest returns the seq before the oldest entry that is kept; that of the head if none is.
func (s *Service) oldest(ctx context.Context, o Owner) (seq int64, err error) {
	return s.SkipArchived(ctx, o, 0)
}

// CursorBefore returns the cursor with which a reader that has nothing begins: that of the
// head, which is at seq.
func (s *Service) CursorBefore(ctx context.Context, o Owner, seq int64) (string, error) {
	h, err := readHead(ctx, s.Pool, o)
	if err != nil || h.seq != seq {
		return "", err
	}
	return cursorOf(h.epoch, h.seq, h.hash[:]), nil
}

// CursorAt returns the cursor of the end of a feed.
func (s *Service) CursorAt(ctx context.Context, o Owner) (string, error) {
	h, err := readHead(ctx, s.Pool, o)
	if err != nil {
		return "", err
	}
	return cursorOf(h.epoch, h.seq, h.hash[:]), nil
}

func parseCursor(text string) (epoch int, seq int64, hash string, err error) {
	parts := strings.Split(text, "-")
	if len(parts) != 3 || len(parts[2]) != 2*cursorHash {
		return 0, 0, "", ErrCursor
	}
	epoch, err = strconv.Atoi(parts[0])
	if err == nil {
		seq, err = strconv.ParseInt(parts[1], 10, 64)
	}
	if err == nil {
		_, err = hex.DecodeString(parts[2])
	}
	if err != nil || epoch < 1 || seq < 0 || idOf(epoch, seq) != parts[0]+"-"+parts[1] || strings.ToLower(parts[2]) != parts[2] {
		return 0, 0, "", ErrCursor
	}
	return epoch, seq, parts[2], nil
}
