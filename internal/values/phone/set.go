package phone

// Set is a set of numbers: one bit for each number of the pages that are in
// use. The numbers of a network are close together, so that a country with five
// hundred million possible numbers takes at most 63 megabytes.
type Set struct {
	pages map[int64]*[pageWords]uint64
	last  int64              // the key of page
	page  *[pageWords]uint64 // the page that was used last
}

const (
	pageWords = 1024
	pageBits  = pageWords * 64
)

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{pages: make(map[int64]*[pageWords]uint64), last: -1}
}

// at returns the word and the bit of a number; no word if its page does not exist
// and grow is false.
func (s *Set) at(n Number, grow bool) (word *uint64, bit uint64) {
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

// Add adds a number and reports whether it was new.
func (s *Set) Add(n Number) bool {
	word, bit := s.at(n, true)
	added := *word&bit == 0
	*word |= bit
	return added
}

// Has reports whether a number is in the set.
func (s *Set) Has(n Number) bool {
	word, bit := s.at(n, false)
	return word != nil && *word&bit != 0
}
