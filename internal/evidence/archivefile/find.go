package archivefile

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// Find returns the record of a request that was made at a time, or nil if the archive
// does not have it.
func (a *Archive) Find(ctx context.Context, files blob.Store, requestID uuid.UUID, at time.Time) (*Entry, error) {
	m, err := a.Open(ctx, files)
	if err != nil {
		return nil, err
	}
	b, index, err := m.FindInBatch(ctx, files, requestID, at)
	if b == nil || err != nil {
		return nil, err
	}
	return &b.Entries[index], nil
}

// FindInBatch returns the batch of the record of a request that was made at a time, and the
// place of the record in it, or nil if the archive does not have it. It reads the parts
// whose period includes the time: few of them, because records are stored roughly in the
// order in which they were written.
func (m *Manifest) FindInBatch(ctx context.Context, files blob.Store, requestID uuid.UUID, at time.Time) (found *Batch, index int, err error) {
	text := at.Format(TimeFormat)
	times := 0
	for _, p := range m.Parts {
		if p.Entries == 0 || text < p.First || text > p.Last {
			continue
		}
		err := p.readAt(ctx, files, m.Day, at, func(b *Batch) error {
			for i := range b.Entries {
				if b.Entries[i].RequestID == requestID {
					times++
					index = i
					found = &Batch{BatchKey: b.BatchKey, Found: true, At: b.At, Count: b.Count, Root: b.Root, Log: b.Log, Entries: slices.Clone(b.Entries)}
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	switch {
	case found == nil:
		return nil, 0, nil
	case times > 1:
		return nil, 0, fmt.Errorf("%w: %d records share one request id", ErrDamaged, times)
	}
	if e := &found.Entries[index]; !e.matchesHash() {
		return nil, 0, fmt.Errorf("%w: the record does not match its hash", ErrDamaged)
	}
	return found, index, nil
}

func (e *Entry) matchesHash() bool {
	hash := e.Hash()
	return bytes.Equal(hash[:], e.StoredHash)
}
