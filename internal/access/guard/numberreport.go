// This part of the package writes and reads which numbers organisations verified, as the
// nodes tell each other.

package guard

import (
	"encoding/binary"
	"errors"

	"github.com/google/uuid"
)

// seen is what one organisation verified since the last report of its node. Each number is
// shifted by one, with the lowest bit set for a miss.
type seen struct {
	Entity, Sponsor uuid.UUID // Sponsor is zero if it has none
	Numbers         []uint64  // ascending
}

// encodeReport writes what was seen: for each organisation its id, that of its sponsor, how
// many numbers follow, and the difference of each from the one before.
func encodeReport(all []seen) (text []byte) {
	for _, s := range all {
		text = append(append(text, s.Entity[:]...), s.Sponsor[:]...)
		text = binary.AppendUvarint(text, uint64(len(s.Numbers)))
		before := uint64(0)
		for _, value := range s.Numbers {
			text = binary.AppendUvarint(text, value-before)
			before = value
		}
	}
	return text
}

var errDamaged = errors.New("guard: a report of numbers is damaged")

// decodeReport calls fn for each organisation of a report.
func decodeReport(text []byte, fn func(seen)) error {
	for len(text) > 0 {
		var s seen
		if len(text) < len(s.Entity)+len(s.Sponsor) {
			return errDamaged
		}
		text = text[copy(s.Entity[:], text):]
		text = text[copy(s.Sponsor[:], text):]
		count, size := binary.Uvarint(text)
		if size <= 0 || count > uint64(len(text)) { // a number takes at least a byte
			return errDamaged
		}
		text = text[size:]
		value := uint64(0)
		for range count {
			step, size := binary.Uvarint(text)
			if size <= 0 {
				return errDamaged
			}
			text = text[size:]
			value += step
			s.Numbers = append(s.Numbers, value)
		}
		fn(s)
	}
	return nil
}
