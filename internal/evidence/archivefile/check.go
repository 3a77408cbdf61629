// This part of the package has what is done with a slice of a day of the journal, from the
// database or from an archive: its rows are read without an allocation for each, its
// batches are checked, and several slices are processed at the same time.

package archivefile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// HashBytes is the length of a hash and of a root.
const HashBytes = sha256.Size

// Result is the result of a check.
type Result struct {
	Batches  int64
	Entries  int64
	Erased   int64          // entries whose personal part was erased
	Found    int64          // the number of findings
	Findings []SliceFinding // the first of them
}

// SliceFinding is one inconsistency. It names records by their id and never contains
// their content.
type SliceFinding struct {
	Day   time.Time
	Where string // a record, a batch, or a file of an archive
	What  string
}

// OK reports whether nothing was found.
func (r *Result) OK() bool { return r.Found == 0 }

// Merge adds another result, with as many of its findings as the limit allows.
func (r *Result) Merge(other *Result, limit int) {
	r.Batches += other.Batches
	r.Entries += other.Entries
	r.Erased += other.Erased
	r.Found += other.Found
	r.Findings = append(r.Findings, other.Findings[:max(0, min(len(other.Findings), limit-len(r.Findings)))]...)
}

// ErasedSet are the records of a day that an erasure covers.
type ErasedSet struct {
	All     bool
	Records map[uuid.UUID][HashBytes]byte // their hashes
}

// Covers reports whether an erasure covers a record.
func (s *ErasedSet) Covers(e *Entry) bool {
	hash, found := s.Records[e.RequestID]
	return s.All || found && string(hash[:]) == string(e.StoredHash)
}

// Add adds what another period of the same day has.
func (s *ErasedSet) Add(other *ErasedSet) {
	s.All = s.All || other.All
	if s.Records == nil {
		s.Records = other.Records
		return
	}
	maps.Copy(s.Records, other.Records)
}

// SliceCheck checks batches of one day.
type SliceCheck struct {
	Result

	Day         time.Time
	Limit       int       // the number of findings to return; all are counted
	MayBeErased ErasedSet // the records that may be erased

	tree    merkle.Tree // memory that is used again
	scratch []byte
}

// AddFinding adds a finding.
func (t *SliceCheck) AddFinding(where, format string, args ...any) {
	t.Found++
	if len(t.Findings) < t.Limit {
		t.Findings = append(t.Findings, SliceFinding{Day: t.Day, Where: where, What: fmt.Sprintf(format, args...)})
	}
}

// NameOf names a record in a finding.
func NameOf(id uuid.UUID) string { return "record " + id.String() }

// Batch checks a batch and its entries.
func (t *SliceCheck) Batch(b *Batch) {
	if !b.Found {
		for i := range b.Entries {
			t.entry(&b.Entries[i])
			t.AddFinding(NameOf(b.Entries[i].RequestID), "has no batch: batch %d of epoch %d does not exist, or not with its time", b.N, b.Epoch)
		}
		return
	}
	t.Batches++
	t.tree.Reset()
	sequential, otherTimes := true, 0
	for i := range b.Entries {
		e := &b.Entries[i]
		t.entry(e)
		t.tree.Add(e.StoredHash)
		sequential = sequential && e.Idx == i
		if !e.At.Equal(b.At) {
			otherTimes++
		}
	}
	root := t.tree.Root()
	matches := len(b.Entries) == 0 || bytes.Equal(root[:], b.Root)
	if matches && sequential && otherTimes == 0 && len(b.Entries) == b.Count {
		return
	}
	where := fmt.Sprintf("batch %s %d %d", b.Node, b.Epoch, b.N)
	if len(b.Entries) != b.Count {
		t.AddFinding(where, "should have %d records and has %d", b.Count, len(b.Entries))
	}
	if !sequential {
		t.AddFinding(where, "the positions of its records have a gap or a duplicate")
	}
	if otherTimes > 0 {
		t.AddFinding(where, "its time differs from that of %d of its records", otherTimes)
	}
	if !matches {
		t.AddFinding(where, "its records do not match its Merkle root")
	}
}

// entry checks a record on its own.
func (t *SliceCheck) entry(e *Entry) {
	t.Entries++
	if at, ok := record.TimeOf(e.RequestID); !ok || !at.Equal(e.At) {
		t.AddFinding(NameOf(e.RequestID), "the time in its id differs from its time")
	}
	hash, scratch := e.HashWith(t.scratch)
	t.scratch = scratch
	if !bytes.Equal(hash[:], e.StoredHash) {
		t.AddFinding(NameOf(e.RequestID), "does not match its hash")
	}
	if e.Erased() {
		if t.Erased++; !t.MayBeErased.Covers(e) || e.Personal != (record.Personal{}) {
			t.AddFinding(NameOf(e.RequestID), "is erased, or part of it, and no erasure covers it")
		}
	}
}
