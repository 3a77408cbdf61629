// Package broken has the kinds of supply file that nobody should send and somebody
// will, each with what must be said about it. It is for the tests of everything
// that takes such files.
package broken

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/linefile"
)

// The times for which the kinds are made: the time of which the snapshots speak,
// and the time at which the events are read.
var (
	AsOf = time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)
	Now  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

// Kind is one kind of file. Its region is Nigeria.
type Kind struct {
	Name   string
	Kind   linefile.Kind
	Reader func() io.Reader
	// WantFile is true when the file is refused as a whole, at its begin or where
	// it cannot be read on.
	WantFile bool
	// WantRefusals are the lines that are refused, without their messages.
	WantRefusals []linefile.Refusal
	// WantRows is how many good rows are read. It is Any where the damage decides
	// what is read before the file breaks off.
	WantRows int
	// Large is true when the content would not fit into memory.
	Large bool
}

// Any stands for a number of rows that nobody can tell.
const Any = -1

// Sound reports whether there is nothing wrong with the file, however it looks.
func (k Kind) Sound() bool { return !k.WantFile && len(k.WantRefusals) == 0 }

// Kinds lists all kinds.
func Kinds() []Kind { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Kind {
	return slices.Concat(
		contents(), gzips(), zstds(), snapshotHeaders(), eventHeaders(),
		numbers(), tenures(), states(), otherTimes(), lines(), encodings(), events(), large(),
	)
})

const (
	snapshotHeader = "number,tenureStart,simChangedAt,state,stateSince\n"
	eventHeader    = "id,number,type,effectiveAt,network,level,reason,churnAt,voids,note\n"

	good1 = "+2348031000001,2019-03-04,,ACTIVE,\n"
	good2 = "+2348031000002,2020-05-06,2026-10-01T08:30:00Z,INACTIVE,2026-09-30T00:00:00Z\n"

	event1 = "e-1,+2348031000001,SIM_CHANGED,2026-10-30T09:00:00Z,,,,,,\n"
	event2 = "e-2,+2348031000002,BARRED,2026-10-31T09:00:00Z,,,LOST,,,\n"
)

// text makes a reader of content.
func text(content string) func() io.Reader {
	return func() io.Reader { return strings.NewReader(content) }
}

// refused is a kind that is refused as a whole before any row is read.
func refused(name, content string) Kind {
	return Kind{Name: name, Kind: linefile.Snapshot, Reader: text(content), WantFile: true}
}

// sound is a kind that looks odd and is right, with two rows.
func sound(name, content string) Kind {
	return Kind{Name: name, Kind: linefile.Snapshot, Reader: text(content), WantRows: 2}
}

// row is a snapshot of three rows of which the middle one is wrong.
func row(name, middle, field, reason string) Kind {
	return Kind{
		Name: name, Kind: linefile.Snapshot, Reader: text(snapshotHeader + good1 + middle + "\n" + good2),
		WantRefusals: []linefile.Refusal{{Place: 3, Field: field, Reason: reason}}, WantRows: 2,
	}
}

// event is a file of three events of which the middle one is wrong.
func event(name, middle, field, reason string) Kind {
	k := row(name, "", field, reason)
	k.Kind, k.Reader = linefile.Events, text(eventHeader+event1+middle+"\n"+event2)
	return k
}
