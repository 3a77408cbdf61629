package feed

import (
	"context"
	"fmt"
)

// SkipArchived returns the seq before the first entry after seq that is still kept; that of
// the head if none is. It is seq itself if no entry in between was archived.
func (s *Service) SkipArchived(ctx context.Context, o Owner, seq int64) (int64, error) {
	h, err := readHead(ctx, s.Pool, o) // first: an entry that is added meanwhile is found below
	if err != nil || h.seq <= seq {
		return seq, err
	}
	var first *int64
	if err := s.Pool.QueryRow(ctx, `SELECT min(seq) FROM feed_entry WHERE entity_id = $1 AND mode = $2 AND seq > $3`, o.Entity, o.Mode, seq).Scan(&first); err != nil {
		return 0, fmt.Errorf("feed: find the oldest entry: %w", err)
	}
	if first != nil {
		return *first - 1, nil
	}
	return h.seq, nil
}
