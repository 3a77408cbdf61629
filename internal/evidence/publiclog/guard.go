package publiclog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// requireNotAhead returns [ErrAhead] if the store has entries that the database does not
// have, or has others of, or if a witness has seen a larger log. It looks at the start, and
// when the server was promoted or restored.
func (p *Publisher) requireNotAhead(ctx context.Context, s *state) error {
	if p.timeline == s.timeline {
		return nil
	}
	// A log that is larger than what the database takes for published has one of these.
	for _, t := range merkle.Larger(s.published) {
		content, err := p.read(ctx, t)
		if errors.Is(err, blob.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("publiclog: look for later tiles: %w", err)
		}
		same, err := hasBundle(ctx, p.Log.Pool, t, content, s.published)
		if err != nil {
			return err
		}
		if !same {
			return ErrAhead
		}
	}
	if err := p.requireWitnessesBehind(ctx, s); err != nil {
		return err
	}
	p.timeline = s.timeline
	return nil
}

// hasBundle reports whether the database has exactly the entries of a bundle from an index
// on. Those before are published, and may have left the database.
func hasBundle(ctx context.Context, from pg.DB, t merkle.Tile, content []byte, first int64) (bool, error) {
	entries, err := merkle.Entries(content)
	if err != nil || len(entries) != t.Width {
		return false, fmt.Errorf("publiclog: %s: %w", t.Path(), merkle.ErrDamaged)
	}
	entries = entries[first-t.First():]
	there, err := entriesOf(ctx, from, first, t.First()+int64(t.Width))
	if err != nil || len(there) != len(entries) {
		return false, err
	}
	for i := range entries {
		if !bytes.Equal(entries[i], there[i]) {
			return false, nil
		}
	}
	return true, nil
}

// entriesOf returns the entries from one index to before another, as far as there are.
func entriesOf(ctx context.Context, from pg.DB, first, after int64) ([][]byte, error) {
	entries, err := pg.Collect(ctx, from, pgx.RowTo[[]byte], `SELECT entry FROM log_entry WHERE idx >= $1 AND idx < $2 ORDER BY idx`, first, after)
	return entries, fault.Wrap(err, "publiclog: read the entries")
}

// requireWitnessesBehind asks each witness for the size that it has seen, with the last
// published checkpoint, so that nothing new has to be signed. One that does not answer is
// asked again when the next checkpoint is signed.
func (p *Publisher) requireWitnessesBehind(ctx context.Context, s *state) error {
	if p.Witnesses == nil || s.published == 0 {
		return nil
	}
	note, err := Checkpoint(ctx, p.Log.Pool)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, witnessTime)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for name, url := range p.Witnesses.Policy.Witnesses() {
		all.Go(func() {
			status, answer, err := p.Witnesses.post(ctx, url, fmt.Sprintf("old %d\n\n%s", s.published, note))
			if err != nil || status != http.StatusConflict {
				return
			}
			if size, err := checkpoint.ParseNumber(strings.TrimSuffix(answer, "\n")); err == nil && size > s.size {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, fmt.Errorf("witness %s has seen %d entries: %w", name, size, ErrAhead))
			}
		})
	}
	all.Wait()
	return failed
}
