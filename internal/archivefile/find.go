package archivefile

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/blob"
)

// Find returns the record of a request that was made at a time, or nil if the archive
// does not have it. It reads the parts whose period includes the time: few of them,
// because records are stored roughly in the order in which they were written.
func (a *Archive) Find(ctx context.Context, files blob.Store, requestID uuid.UUID, at time.Time) (*Entry, error) {
	m, err := a.Open(ctx, files)
	if err != nil {
		return nil, err
	}
	var found []Entry
	text := at.Format(TimeFormat)
	for i, p := range m.Parts {
		if p.Entries == 0 || text < p.First || text > p.Last {
			continue
		}
		wanted := func(e *Entry) bool { return e.RequestID == requestID }
		err := p.ReadWanted(ctx, files, m.Day, i+1, wanted, func(b *Batch) error {
			found = append(found, b.Entries...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	switch {
	case len(found) == 0:
		return nil, nil //nolint:nilnil // documented
	case len(found) > 1:
		return nil, fmt.Errorf("%w: %d records share one request id", ErrDamaged, len(found))
	}
	if hash := found[0].Hash(); !bytes.Equal(hash[:], found[0].StoredHash) {
		return nil, fmt.Errorf("%w: the record does not match its hash", ErrDamaged)
	}
	return &found[0], nil
}

// BatchesAt calls each for every batch of that time. The batch and its entries are valid
// until each returns.
func (a *Archive) BatchesAt(ctx context.Context, files blob.Store, at time.Time, each func(*Batch) error) error {
	m, err := a.Open(ctx, files)
	if err != nil {
		return err
	}
	text := at.Format(TimeFormat)
	for i, p := range m.Parts {
		if p.Entries == 0 || text < p.First || text > p.Last {
			continue
		}
		err := p.ReadWanted(ctx, files, m.Day, i+1, func(e *Entry) bool { return e.At.Equal(at) }, func(b *Batch) error {
			if !b.At.Equal(at) {
				return nil
			}
			return each(b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
