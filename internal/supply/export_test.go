package supply

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/phone"
)

// InChunks returns the source with a number of rows for each transaction.
func (s Source) InChunks(rows int) Source {
	s.chunk = rows
	return s
}

// NumberSet exports numberSet.
type NumberSet = numberSet

// NewNumberSet returns an empty set.
func NewNumberSet() *NumberSet { return newNumberSet() }

// Add exports add.
func (s *numberSet) Add(n phone.Number) bool { return s.add(n) }

// Has exports has.
func (s *numberSet) Has(n phone.Number) bool { return s.has(n) }

// RunWaiting runs the waiting imports once.
var RunWaiting = (*Service).runWaiting

// DeleteFinishedFiles deletes the files of finished imports.
var DeleteFinishedFiles = (*Service).deleteFinishedFiles

// VoidInBatches voids a snapshot with a number of lines for each transaction.
func (s *Service) VoidInBatches(ctx context.Context, uid uuid.UUID, by audit.Actor, batch int, onProgress func(Import)) (Import, error) {
	return s.voidInBatches(ctx, uid, by, batch, onProgress)
}
