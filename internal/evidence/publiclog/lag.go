package publiclog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Lag returns how old the oldest entry is that no published checkpoint covers; 0 if all are
// published.
func Lag(ctx context.Context, from pg.DB) (time.Duration, error) {
	var lag *time.Duration
	err := from.QueryRow(ctx, `SELECT (SELECT clock_timestamp() - e.at FROM log_entry e WHERE e.idx >= p.published ORDER BY e.idx LIMIT 1) FROM log_published p`).Scan(&lag)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("publiclog: read what is not published: %w", err)
	}
	if lag == nil {
		return 0, nil
	}
	return max(0, *lag), nil
}

// Seen remembers when the newest checkpoint with each witness's signature was published. The
// time is the time of the publication: a witness's clock may be wrong.
type Seen struct {
	Witnesses *Witnesses

	at map[string]time.Time
}

// Read reads the newest checkpoint and returns the time of each witness of the policy; the zero
// time for one whose signature was not seen yet.
func (s *Seen) Read(ctx context.Context, from pg.DB) (map[string]time.Time, error) {
	if s.at == nil {
		s.at = make(map[string]time.Time)
		for name := range s.Witnesses.Policy.Witnesses() {
			s.at[name] = time.Time{}
		}
	}
	var note string
	var at time.Time
	err := from.QueryRow(ctx, `SELECT note, at FROM log_published`).Scan(&note, &at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("publiclog: read the signatures of the checkpoint: %w", err)
	}
	if _, signed, err := s.Witnesses.Policy.Open(note); err == nil { // before the first checkpoint there is none
		for name := range signed {
			if _, asked := s.at[name]; asked {
				s.at[name] = at
			}
		}
	}
	return maps.Clone(s.at), nil
}
