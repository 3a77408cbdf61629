package receipt

import (
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/logentry"
)

const (
	proofForm   = "c2sp.org/tlog-proof@v1\n"
	extraPrefix = "extra "
	indexSize   = 4
)

// TlogProof returns a receipt with a proof in the form of c2sp.org/tlog-proof. What is not
// part of that form is in its line extra: the entry of the batch, the index of the record
// in it, the path, and the record.
func (r *Receipt) TlogProof() string {
	extra := binary.BigEndian.AppendUint32(r.Entry(), uint32(r.Batch.Index)) //nolint:gosec // below the count
	for _, hash := range r.Batch.Path {
		extra = append(extra, hash...)
	}
	extra = append(append(append(extra, r.Public...), r.Personal...), r.PersonalHash...)
	return proofForm + extraPrefix + base64.StdEncoding.EncodeToString(extra) + "\n" + strings.TrimPrefix(r.Proof, proofForm)
}

// parseTlogProof is the reverse of [Receipt.TlogProof], and accepts no other spelling.
func parseTlogProof(text string) (*Receipt, error) {
	line, proof, _ := strings.Cut(strings.TrimPrefix(text, proofForm), "\n")
	encoded, isExtra := strings.CutPrefix(line, extraPrefix)
	extra, err := checkpoint.Decode(encoded)
	if err != nil || !isExtra {
		return nil, ErrFormat
	}
	if len(extra) < logentry.BatchSize+indexSize {
		return nil, ErrRecord
	}
	entry, err := logentry.DecodeBatch(extra[:logentry.BatchSize])
	if err != nil {
		return nil, ErrRecord
	}
	extra = extra[logentry.BatchSize:]
	b := Batch{Epoch: entry.Epoch, N: entry.N, At: entry.At.UnixMilli(), Count: entry.Count, Index: int64(binary.BigEndian.Uint32(extra)), Path: []Bytes{}, Root: entry.Root[:]}
	for _, n := range []int64{b.Epoch, b.N, b.At} {
		if n < 0 || n > maxNumber {
			return nil, ErrRecord
		}
	}
	if b.Index >= int64(b.Count) {
		return nil, ErrRecord
	}
	extra = extra[indexSize:]
	for range pathLength(b.Index, int64(b.Count)) {
		if len(extra) < tlog.HashSize {
			return nil, ErrRecord
		}
		b.Path = append(b.Path, extra[:tlog.HashSize])
		extra = extra[tlog.HashSize:]
	}
	r := &Receipt{Form: Form, Statement: Statement, Batch: b, Proof: proofForm + proof}
	size := publicSize(extra)
	if size < 0 {
		return nil, ErrRecord
	}
	r.Public = extra[:size]
	if rest := extra[size:]; len(rest) == tlog.HashSize {
		r.PersonalHash = rest
	} else {
		r.Personal = rest
	}
	if r.TlogProof() != text {
		return nil, ErrFormat
	}
	return r, nil
}

// pathLength returns how many hashes lead from a leaf of a tree to its root (RFC 9162,
// section 2.1.3.2).
func pathLength(leaf, size int64) int {
	if leaf >= size {
		return 0
	}
	inner := bits.Len64(uint64(leaf ^ (size - 1)))             //nolint:gosec // neither is negative
	return inner + bits.OnesCount64(uint64(leaf)>>uint(inner)) //nolint:gosec // as above
}
