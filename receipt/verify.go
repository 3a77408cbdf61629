package receipt

import (
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/logentry"
)

// Verified has the facts that a receipt proves.
type Verified struct {
	Record
	InLog
}

// InLog is where the log has the entry that a receipt is about.
type InLog struct {
	Origin string // the name of the log
	Index  int64  // of the entry in it
	Size   int64  // of the log when the checkpoint was signed
	// Witnessed says which witnesses of the policy have seen the checkpoint, and when.
	Witnessed map[string]time.Time
}

// The ways in which a receipt can be wrong.
var (
	ErrBatch      = errors.New("receipt: the record is not in the batch")
	ErrProof      = errors.New("receipt: the proof is not in the form c2sp.org/tlog-proof@v1")
	ErrLog        = errors.New("receipt: the batch is not in the log")
	ErrCheckpoint = errors.New("receipt: the checkpoint is not signed by the key of the log, or a signature is wrong")
	ErrQuorum     = errors.New("receipt: too few witnesses have seen the checkpoint")
)

// Verify verifies a receipt with a policy, which must come from somebody you trust, and not
// from where the receipt came from. Compare the fields of the result with what you believe
// was answered.
func (r *Receipt) Verify(p *Policy) (*Verified, error) {
	if r.Proof == "" {
		return nil, ErrNotYet
	}
	record, err := r.ReadRecord()
	if err != nil {
		return nil, err
	}
	in, err := p.find(r.Entry(), r.Proof)
	if err != nil {
		return nil, err
	}
	return &Verified{record, in}, nil
}

// find verifies a proof that the log has an entry.
func (p *Policy) find(entry []byte, proof string) (in InLog, err error) {
	in.Origin = p.Log()
	path, signed, err := in.readProof(proof)
	if err != nil {
		return in, err
	}
	root, err := in.openCheckpoint(signed, p)
	if err != nil {
		return in, err
	}
	if tlog.CheckRecord(path, in.Size, root, in.Index, tlog.RecordHash(entry)) != nil {
		return in, ErrLog
	}
	return in, nil
}

// checkBatch checks that the record is in the batch.
func (r *Receipt) checkBatch(record *Record, hash [sha256.Size]byte) error {
	b := &r.Batch
	if len(b.Root) != sha256.Size || b.Index < 0 || b.Index >= int64(b.Count) || b.At != record.At.UnixMilli() {
		return ErrBatch
	}
	path, err := hashes(b.Path)
	if err != nil || tlog.CheckRecord(path, int64(b.Count), tlog.Hash(b.Root), b.Index, tlog.RecordHash(hash[:])) != nil {
		return ErrBatch
	}
	return nil
}

func hashes[T ~[]byte](list []T) (all []tlog.Hash, err error) {
	for _, h := range list {
		if len(h) != tlog.HashSize {
			return nil, ErrBatch
		}
		all = append(all, tlog.Hash(h))
	}
	return all, nil
}

// Entry returns the entry that the log has of the batch, or has promised to have. The
// receipt must have been verified.
func (r *Receipt) Entry() []byte {
	b := &r.Batch
	e := logentry.Batch{At: time.UnixMilli(b.At), Epoch: b.Epoch, N: b.N, Count: b.Count, Root: [sha256.Size]byte(b.Root)}
	return e.Encode()
}

// readProof reads the proof: its name, the index, the hashes, an empty line, and the
// checkpoint.
func (in *InLog) readProof(proof string) (path []tlog.Hash, signed string, err error) {
	head, signed, found := strings.Cut(proof, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 || lines[0] != "c2sp.org/tlog-proof@v1" {
		return nil, "", ErrProof
	}
	if in.Index, err = checkpoint.ParseNumber(strings.TrimPrefix(lines[1], "index ")); err != nil || in.Index > maxNumber || !strings.HasPrefix(lines[1], "index ") {
		return nil, "", ErrProof
	}
	for _, line := range lines[2:] {
		hash, err := checkpoint.ParseHash(line)
		if err != nil {
			return nil, "", ErrProof
		}
		path = append(path, hash)
	}
	return path, signed, nil
}

// openCheckpoint verifies the signatures of the checkpoint.
func (in *InLog) openCheckpoint(signed string, p *Policy) (root tlog.Hash, err error) {
	text, witnessed, err := p.Open(signed)
	if err != nil {
		return root, err
	}
	if !p.Satisfied(witnessed) {
		return root, ErrQuorum
	}
	in.Witnessed = witnessed
	origin, tree, err := checkpoint.Parse(text)
	if err != nil || origin != in.Origin || tree.N > maxNumber {
		return root, ErrCheckpoint
	}
	in.Size = tree.N
	return tree.Hash, nil
}
