package supply

import "github.com/lineproof/lineproof/internal/phone"

// InChunks returns the source with so many rows in each transaction.
func (s Source) InChunks(rows int) Source {
	s.chunk = rows
	return s
}

// Seen is the memory of the numbers that a file has named.
type Seen = seen

// NewSeen returns one that is empty.
func NewSeen() *Seen { return newSeen() }

// Add notes a number and reports whether it was new.
func (s *seen) Add(n phone.Number) bool { return s.add(n) }

// Has reports whether a number was noted.
func (s *seen) Has(n phone.Number) bool { return s.has(n) }

// WorkOnce looks for imports once.
var WorkOnce = (*Desk).workOnce

// Tidy removes the files of imports that are over.
var Tidy = (*Desk).tidy
