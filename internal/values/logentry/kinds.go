package logentry

import (
	"fmt"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Body is the content of an entry of a kind other than [Answers].
type Body interface {
	kind() Kind
	write(to *writer)
	read(from *reader)
	// valid reports whether the fields have values that such an entry can have.
	valid() bool
	// String says in words what the entry is about.
	String() string
}

// Commitment is an entry about a file of an operator: a hash that only the operator, who
// has the nonce, can recognise.
type Commitment struct{ Hash merkle.Hash }

// Version is an entry about a version of the rules by which answers are given.
type Version struct {
	Of     string // policy or plan
	Number int32
	Text   merkle.Hash // SHA-256 of its text
}

// Hour is an entry about an hour of the audit trail.
type Hour struct {
	Hour    time.Time
	Entries int64
	Hash    merkle.Hash // over them and the hour before, as package audit makes it
}

// KeyUse is an entry about a key that is used from then on.
type KeyUse struct {
	Role  string // log, next, post-quantum, promise or witnesses
	Value string // the verifier of a key, or SHA-256 of the policy of witnesses
}

// Day is an entry about an archived day of the journal.
type Day struct {
	Day      time.Time
	Entries  int64
	Root     merkle.Hash
	Manifest merkle.Hash // SHA-256
}

// Restore is an entry about what a restore of the database has lost.
type Restore struct {
	First, After int64 // the indexes of the lost entries: from the first to before the other
	Answers      int64 // that their batches had
	Reason       string
	Epochs       []LastBatch // in the order of the epochs
}

// LastBatch is the last batch of an epoch that the database still has, or -1.
type LastBatch struct{ Epoch, N int64 }

// Month is an entry about the erasures of a month.
type Month struct {
	Month   time.Time // its first day
	Records int64
	Days    int64 // of which everything was erased
	Hash    merkle.Hash
}

// Reasons of a restore. A text of a person could name somebody.
const (
	Restored = "restore"  // from a backup
	Promoted = "failover" // a standby that was behind
	Exercise = "exercise"
)

func (*Commitment) kind() Kind { return Supply }
func (*Version) kind() Kind    { return Rules }
func (*Hour) kind() Kind       { return Audit }
func (*KeyUse) kind() Kind     { return Keys }
func (*Day) kind() Kind        { return Archives }
func (*Restore) kind() Kind    { return Restores }
func (*Month) kind() Kind      { return Erasures }

func (b *Commitment) write(to *writer)  { to.hash(b.Hash) }
func (b *Commitment) read(from *reader) { b.Hash = from.hash() }
func (*Commitment) valid() bool         { return true }

// String implements [fmt.Stringer].
func (*Commitment) String() string { return "a file of an operator" }

func (b *Version) write(to *writer)  { to.text(b.Of); to.short(b.Number); to.hash(b.Text) }
func (b *Version) read(from *reader) { *b = Version{from.text(), from.short(), from.hash()} }
func (b *Version) valid() bool       { return (b.Of == "policy" || b.Of == "plan") && b.Number > 0 }

// String implements [fmt.Stringer].
func (b *Version) String() string { return fmt.Sprintf("version %d of the %s", b.Number, b.Of) }

func (b *Hour) write(to *writer)  { to.time(b.Hour); to.number(b.Entries); to.hash(b.Hash) }
func (b *Hour) read(from *reader) { *b = Hour{from.time(), from.number(), from.hash()} }
func (b *Hour) valid() bool       { return b.Hour.Equal(b.Hour.Truncate(time.Hour)) && b.Entries >= 0 }

// String implements [fmt.Stringer].
func (b *Hour) String() string { return "the audit trail of " + b.Hour.Format("2006-01-02T15Z07:00") }

func (b *KeyUse) write(to *writer)  { to.text(b.Role); to.text(b.Value) }
func (b *KeyUse) read(from *reader) { *b = KeyUse{from.text(), from.text()} }
func (b *KeyUse) valid() bool {
	return slices.Contains([]string{RoleLog, RoleNext, RolePostQuantum, RolePromise, RoleWitnesses}, b.Role) && b.Value != ""
}

// String implements [fmt.Stringer].
func (b *KeyUse) String() string { return "a key of the role " + b.Role }

// The roles of keys.
const (
	RoleLog         = "log"          // signs checkpoints
	RoleNext        = "next"         // signs them, too, and will take the place of that one
	RolePostQuantum = "post-quantum" // signs them with ML-DSA-44
	RolePromise     = "promise"      // signs the promises of a node
	RoleWitnesses   = "witnesses"    // the policy of witnesses
)

func (b *Day) write(to *writer) {
	to.time(b.Day)
	to.number(b.Entries)
	to.hash(b.Root)
	to.hash(b.Manifest)
}
func (b *Day) read(from *reader) { *b = Day{from.time(), from.number(), from.hash(), from.hash()} }
func (b *Day) valid() bool       { return b.Day.Equal(b.Day.Truncate(24*time.Hour)) && b.Entries >= 0 }

// String implements [fmt.Stringer].
func (b *Day) String() string { return "the archive of " + b.Day.Format(time.DateOnly) }

func (b *Restore) write(to *writer) {
	to.number(b.First)
	to.number(b.After)
	to.number(b.Answers)
	to.text(b.Reason)
	to.short(int32(len(b.Epochs))) //nolint:gosec // few
	for _, e := range b.Epochs {
		to.number(e.Epoch)
		to.number(e.N)
	}
}

func (b *Restore) read(from *reader) {
	*b = Restore{First: from.number(), After: from.number(), Answers: from.number(), Reason: from.text()}
	for range from.short() {
		if from.cut {
			return
		}
		b.Epochs = append(b.Epochs, LastBatch{from.number(), from.number()})
	}
}

func (b *Restore) valid() bool {
	sorted := slices.IsSortedFunc(b.Epochs, func(l, r LastBatch) int { return int(min(max(l.Epoch-r.Epoch, -1), 1)) })
	return b.First >= 0 && b.After > b.First && b.Answers >= 0 && sorted && (b.Reason == Restored || b.Reason == Promoted || b.Reason == Exercise)
}

// String implements [fmt.Stringer].
func (b *Restore) String() string {
	return fmt.Sprintf("a restore that lost the entries from %d to %d", b.First, b.After-1)
}

func (b *Month) write(to *writer) {
	to.time(b.Month)
	to.number(b.Records)
	to.number(b.Days)
	to.hash(b.Hash)
}

func (b *Month) read(from *reader) {
	*b = Month{from.time(), from.number(), from.number(), from.hash()}
}

func (b *Month) valid() bool {
	first := time.Date(b.Month.Year(), b.Month.Month(), 1, 0, 0, 0, 0, time.UTC)
	return b.Month.Equal(first) && b.Records >= 0 && b.Days >= 0
}

// String implements [fmt.Stringer].
func (b *Month) String() string { return "the erasures of " + b.Month.Format("2006-01") }

// EncodeBody returns the kind of a body and its bytes.
func EncodeBody(b Body) (Kind, []byte) {
	var to writer
	b.write(&to)
	return b.kind(), to.bytes
}

// DecodeBody reads the body of an entry of any kind but [Answers].
func (e *Entry) DecodeBody() (Body, error) {
	for _, b := range []Body{&Commitment{}, &Version{}, &Hour{}, &KeyUse{}, &Day{}, &Restore{}, &Month{}} {
		if b.kind() != e.Kind {
			continue
		}
		from := &reader{bytes: e.Body}
		b.read(from)
		if from.end() != nil || !b.valid() {
			return nil, ErrFormat
		}
		return b, nil
	}
	return nil, ErrFormat
}
