package supply

import "github.com/lineproof/lineproof/internal/phone"

// seen remembers which numbers a file has named: one bit for each number of the
// pages that it touches. The numbers of a network lie close together, so a
// nation of five hundred million possible numbers takes at most 63 megabytes.
type seen struct {
	pages map[int64]*[pageWords]uint64
	last  int64 // the page of the number before
	page  *[pageWords]uint64
}

const (
	pageWords = 1024
	pageBits  = pageWords * 64
)

func newSeen() *seen { return &seen{pages: make(map[int64]*[pageWords]uint64), last: -1} }

func (s *seen) at(n phone.Number, grow bool) (word *uint64, bit uint64) {
	key := n.Int() / pageBits
	if key != s.last {
		page := s.pages[key]
		if page == nil {
			if !grow {
				return nil, 0
			}
			page = new([pageWords]uint64)
			s.pages[key] = page
		}
		s.last, s.page = key, page
	}
	offset := n.Int() % pageBits
	return &s.page[offset/64], 1 << (offset % 64)
}

// add notes a number and reports whether it was new.
func (s *seen) add(n phone.Number) bool {
	word, bit := s.at(n, true)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// has reports whether a number was noted.
func (s *seen) has(n phone.Number) bool {
	word, bit := s.at(n, false)
	return word != nil && *word&bit != 0
}
