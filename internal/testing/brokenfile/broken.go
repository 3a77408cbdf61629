// Package brokenfile has broken supply files of every kind, each with the refusals
// that it must cause. The tests of all packages that read supply files use it.
package brokenfile

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/line/linefile"
)

// The times for which the files are made: asOf of the snapshots, and the current
// time when the events are read.
var (
	AsOf = time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)
	Now  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

// Case is one broken file, or one that looks broken and is valid. Its region is
// Nigeria.
type Case struct {
	Name   string
	Kind   linefile.Kind
	Reader func() io.Reader
	// WantFileRefused is true if the whole file is refused, at its start or at the
	// point beyond which it cannot be read.
	WantFileRefused bool
	// WantRefusals are the lines that are refused, without their messages.
	WantRefusals []linefile.Refusal
	// WantRows is how many valid rows are read. It is Unknown if that depends on how
	// the damage affects the decompressor.
	WantRows int
	// Large is true if the content would not fit into memory.
	Large bool
}

// Unknown is the number of rows if it cannot be predicted.
const Unknown = -1

// Valid reports whether nothing is wrong with the file, although it looks odd.
func (c Case) Valid() bool { return !c.WantFileRefused && len(c.WantRefusals) == 0 }

// Cases returns all cases.
func Cases() []Case { return slices.Clone(all()) }

var all = sync.OnceValue(func() []Case {
	return slices.Concat(
		contents(), gzips(), zstds(), snapshotHeaders(), eventHeaders(),
		numbers(), tenures(), states(), otherTimes(), churnDates(), lines(), encodings(), events(), large(),
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

// text returns a function that reads content.
func text(content string) func() io.Reader {
	return func() io.Reader { return strings.NewReader(content) }
}

// refused is a file that is refused as a whole before any row is read.
func refused(name, content string) Case {
	return Case{Name: name, Kind: linefile.Snapshot, Reader: text(content), WantFileRefused: true}
}

// valid is a file that looks odd and is valid, with two rows.
func valid(name, content string) Case {
	return Case{Name: name, Kind: linefile.Snapshot, Reader: text(content), WantRows: 2}
}

// row is a snapshot of three rows of which the middle one is wrong.
func row(name, middle, field, reason string) Case {
	return Case{
		Name: name, Kind: linefile.Snapshot, Reader: text(snapshotHeader + good1 + middle + "\n" + good2),
		WantRefusals: []linefile.Refusal{{Place: 3, Field: field, Reason: reason}}, WantRows: 2,
	}
}

// event is a file of three events of which the middle one is wrong.
func event(name, middle, field, reason string) Case {
	c := row(name, "", field, reason)
	c.Kind, c.Reader = linefile.Events, text(eventHeader+event1+middle+"\n"+event2)
	return c
}
