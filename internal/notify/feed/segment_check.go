package feed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Checked counts what a check has read.
type Checked struct {
	Segments int   // archived days
	Days     int   // days in the database
	Lapsed   int   // archived days that nobody can read any more
	Entries  int64 // of all feeds
	Feeds    int   // with entries
}

// segmentEnd is the last entry of a feed that was read, or of which its head tells.
type segmentEnd struct {
	seq  int64
	hash []byte
}

// Check checks the chains of all feeds across days, from the oldest archived day that can be
// read to the end of each feed: the last entry of a day is the one before the first of the
// next. It reads everything; nothing may be archived or erased at the same time.
func (a *Archive) Check(ctx context.Context) (c Checked, err error) {
	heads, err := a.heads(ctx)
	if err != nil {
		return c, err
	}
	segments, err := a.segments(ctx, `true`)
	if err != nil {
		return c, err
	}
	ends := make(map[Owner]segmentEnd)
	each := func(r *Row) error {
		c.Entries++
		o := Owner{Entity: r.Entity, Mode: r.Mode}
		if err := follows(ends, o, r, c.Lapsed > 0); err != nil {
			return err
		}
		if h := heads[o]; h.seq == r.Seq && !bytes.Equal(h.hash, r.Hash) {
			return fmt.Errorf("%w: its head is not entry %d-%d of %s", errSegmentChain, r.Epoch, r.Seq, r.Entity)
		}
		ends[o] = segmentEnd{r.Seq, r.Hash}
		return nil
	}
	for i := range segments {
		if segments[i].key == nil {
			c.Lapsed++
			continue
		}
		if err := a.read(ctx, &segments[i], each); err != nil {
			return c, fmt.Errorf("%s: %w", segments[i].Day.Format(time.DateOnly), err)
		}
		c.Segments++
	}
	days, err := a.Due(ctx, a.Now().AddDate(1, 0, 0)) // all of them
	if err != nil {
		return c, err
	}
	for _, day := range days {
		if err := a.eachRow(ctx, day, each); err != nil {
			return c, fmt.Errorf("%s: %w", day.Format(time.DateOnly), err)
		}
		c.Days++
	}
	for o, h := range heads {
		if ends[o].seq < h.seq && (c.Lapsed == 0 || ends[o].seq > 0) { // all of a quiet feed may have lapsed
			return c, fmt.Errorf("%w: entries after %d of %s are missing, up to %d", errSegmentChain, ends[o].seq, o.Entity, h.seq)
		}
	}
	c.Feeds = len(ends)
	return c, nil
}

// follows checks that an entry follows the last one that was read of its feed. The first one
// can follow an entry that has lapsed.
func follows(ends map[Owner]segmentEnd, o Owner, r *Row, lapsed bool) error {
	last, found := ends[o]
	if !found {
		if lapsed && r.Seq > 1 {
			return nil
		}
		last.hash = make([]byte, sha256.Size)
	}
	digest := [sha256.Size]byte{}
	if len(r.Body) > 0 {
		digest = sha256.Sum256(r.Body)
	} else {
		copy(digest[:], r.Digest)
	}
	if want := Chain([sha256.Size]byte(last.hash), digest); r.Seq != last.seq+1 || !bytes.Equal(r.Hash, want[:]) {
		return fmt.Errorf("%w: entry %d-%d of %s does not follow entry %d", errSegmentChain, r.Epoch, r.Seq, r.Entity, last.seq)
	}
	return nil
}

// heads returns the end of each feed.
func (a *Archive) heads(ctx context.Context) (map[Owner]segmentEnd, error) {
	all := make(map[Owner]segmentEnd)
	var o Owner
	var seq int64
	var hash []byte
	err := pg.ForEach(ctx, a.Pool, []any{&o.Entity, &o.Mode, &seq, &hash}, func() error {
		all[o] = segmentEnd{seq, bytes.Clone(hash)}
		return nil
	}, `SELECT entity_id, mode, seq, hash FROM feed_head`)
	return all, fault.Wrap(err, "feed: read the heads of feeds")
}
