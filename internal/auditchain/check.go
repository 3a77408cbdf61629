package auditchain

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/pg"
)

// Report is the result of a check.
type Report struct {
	Hours, Entries int64     // that are chained
	Through        time.Time // the end of the last hour of the chain; zero if there is none
	Hash           Hash      // of that hour
	Found          []Finding
}

// Finding is one inconsistency.
type Finding struct {
	Hour time.Time
	What string
}

// stored is an hour of the chain.
type stored struct {
	hour    time.Time
	entries int64
	hash    []byte
}

// Check computes the chain again and compares. Known are hashes that earlier checks
// reported: each must still be in the chain. The service may be running.
func Check(ctx context.Context, from pg.DB, known ...Hash) (Report, error) {
	var r Report
	rows, err := from.Query(ctx, `SELECT hour, entries, hash FROM audit_hour ORDER BY hour`)
	if err != nil {
		return r, fmt.Errorf("auditchain: read the chain: %w", err)
	}
	chain, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s stored, err error) {
		return s, row.Scan(&s.hour, &s.entries, &s.hash)
	})
	if err != nil {
		return r, fmt.Errorf("auditchain: read the chain: %w", err)
	}
	unseen := make(map[Hash]bool, len(known))
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

func (r *Report) find(hour time.Time, what string) { r.Found = append(r.Found, Finding{hour, what}) }
