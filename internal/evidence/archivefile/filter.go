package archivefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// LiveNumbers adds to numbers those of the live records of a batch, which the filter of
// its part has, and counts the erased records, which have none.
func (p *Part) LiveNumbers(numbers []int64, b *Batch) []int64 {
	for i := range b.Entries {
		switch e := &b.Entries[i]; {
		case e.Mode != "live":
		case e.Erased():
			p.Erased++
		default:
			numbers = append(numbers, e.Number)
		}
	}
	return numbers
}

// ReadFilters returns the filter of each part. An error means that the filters are not
// those that were archived, or cannot be read.
func (m *Manifest) ReadFilters(ctx context.Context, files blob.Store) ([]Filter, error) {
	content, err := ReadFile(ctx, files, m.Filters.Key)
	if err != nil {
		return nil, fmt.Errorf("archivefile: read the number filters of %s: %w", m.Day, err)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != m.Filters.SHA256 || int64(len(content)) != m.Filters.Bytes {
		return nil, fmt.Errorf("%w: file %s does not match the manifest of %s", ErrDamaged, m.Filters.Key, m.Day)
	}
	all := make([]Filter, len(m.Parts))
	for i, p := range m.Parts {
		if p.FilterAt < 0 || p.FilterBytes < 0 || p.FilterAt > m.Filters.Bytes-p.FilterBytes {
			return nil, fmt.Errorf("%w: the filter of part %d of %s is outside of file %s", ErrDamaged, i+1, m.Day, m.Filters.Key)
		}
		all[i] = content[p.FilterAt : p.FilterAt+p.FilterBytes]
	}
	return all, nil
}
