package audit

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// ChainReport is the result of a check.
type ChainReport struct {
	Hours, Entries int64     // that are chained
	Through        time.Time // the end of the last hour of the chain; zero if there is none
	Hash           ChainHash // of that hour
	Found          []ChainFinding
}

// ChainFinding is one inconsistency.
type ChainFinding struct {
	Hour time.Time
	What string
}

// stored is an hour of the chain.
type stored struct {
	hour    time.Time
	entries int64
	hash    []byte
}

// CheckChain computes the chain again and compares. Known are hashes that earlier checks
// reported: each must still be in the chain. The service may be running.
func CheckChain(ctx context.Context, from pg.DB, known ...ChainHash) (ChainReport, error) {
	var r ChainReport
	chain, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (s stored, err error) {
		return s, row.Scan(&s.hour, &s.entries, &s.hash)
	}, `SELECT hour, entries, hash FROM audit_hour ORDER BY hour`)
	if err != nil {
		return r, fmt.Errorf("audit: read the chain: %w", err)
	}
	unseen := make(map[ChainHash]bool, len(known))
	for _, h := range known {
		unseen[h] = true
	}
	first, err := firstHour(ctx, from)
	if err != nil {
		return r, err
	}
	if len(chain) > 0 && !first.IsZero() && first.Before(chain[0].hour) {
		r.find(first, "has entries from before the chain began")
	}
	for i, s := range chain {
		hour := s.hour.UTC()
		if i > 0 && !hour.Equal(r.Through) {
			r.find(r.Through, "and the hours up to "+hour.Format(time.RFC3339)+" are missing in the chain")
		}
		entries, hash, err := sum(ctx, from, hour, r.Hash)
		if err != nil {
			return r, err
		}
		switch {
		case entries != s.entries:
			r.find(hour, fmt.Sprintf("had %d entries when it was chained, and has %d", s.entries, entries))
		case !bytes.Equal(hash[:], s.hash):
			r.find(hour, "its entries, or the hash of the hour before, are not those that were chained")
		}
		// What follows is compared with what is stored, so that one change is one finding.
		copy(r.Hash[:], s.hash)
		delete(unseen, r.Hash)
		r.Hours, r.Entries, r.Through = r.Hours+1, r.Entries+entries, hour.Add(time.Hour)
	}
	for h := range unseen {
		r.find(r.Through, fmt.Sprintf("the chain does not have the hash %x any more", h))
	}
	return r, nil
}

func (r *ChainReport) find(hour time.Time, what string) {
	r.Found = append(r.Found, ChainFinding{hour, what})
}
