// Package linefile reads the files with which operators supply what they know
// about lines, and makes such files for trials at any scale.
//
// What it promises of reading:
//
//   - Whatever comes in, it is answered: the whole file is refused with a
//     [*fault.Error], or a line of it with a [Refusal] that names the line, the
//     column and the reason. Nothing else is left out, and nothing is guessed.
//   - It needs the same memory for any file, whatever is in it.
//   - [Reader.Place] and [Reader.Digest] prove later that a file which is read on
//     from there is the same one.
//
// Who may say what, and whether it makes sense beside what is known, is not
// judged here.
package linefile

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/phone"
)

// Kind is what a file is about.
type Kind string

// The kinds of file.
const (
	Snapshot Kind = "snapshot" // how all lines of an operator stand
	Events   Kind = "events"   // what happened to some of them
)

// ahead is how far the clock of a supplier may be ahead of ours.
const ahead = 5 * time.Minute

// Options says how a file is to be read.
type Options struct {
	Kind   Kind
	Region *phone.Region
	AsOf   time.Time // of a snapshot: the time of which it speaks
	Now    time.Time // of events: later ones are refused
}

// Row is one good line of a file.
type Row struct {
	Place  int64 // the line of the file; the header is line 1
	Number phone.Number
	Snap   line.Baseline // of a snapshot: Tenure, SIM, State and StateSince
	Event  Event         // of events
}

// Event is a row of an events file. Its texts are as they stand in the file: which
// of them a kind needs is judged where events of the API are judged, too.
type Event struct {
	ID, Network, Level, Reason, Voids, Note string
	Kind                                    line.Kind
	Effective                               line.Instant
	ChurnAt                                 line.Instant // Never when the file says nothing
}

// Reader reads one file. It is not for use by several goroutines.
type Reader struct {
	o        Options
	from     *source
	in       lines
	parse    func(row *Row) wrong
	header   header
	cells    [][]byte
	unquoted []byte
	named    []phone.Number // of lines that the last Next refused
	limit    line.Instant   // the last time that has come
	err      error          // what ended the reading
}

// Open begins to read a file: it finds out how it is compressed, by its content,
// and reads the header. The error is a [*fault.Error] when the file is refused.
// Close the Reader in the end; r remains the caller's.
func Open(r io.Reader, o Options) (*Reader, error) {
	f := &Reader{o: o}
	switch o.Kind {
	case Snapshot:
		f.parse, f.limit = f.snapshot, line.InstantOf(o.AsOf)
	case Events:
		f.parse, f.limit = f.event, line.InstantOf(o.Now.Add(ahead))
	default:
		return nil, fmt.Errorf("linefile: open a file: there is no kind %q", o.Kind)
	}
	var err error
	if f.from, err = openSource(r); err != nil {
		return nil, err
	}
	f.in = newLines(f.from)
	if f.header, err = f.readHeader(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Next reads up to len(rows) lines. It fills rows with the good ones, n of them,
// and returns a refusal for each of the others. Lines with nothing on them are
// passed over, so n can be 0 before the end. At the clean end the error is io.EOF,
// and a [*fault.Error] where the file cannot be read on; either comes alone, after
// everything that was read before.
func (r *Reader) Next(rows []Row) (n int, refused []Refusal, err error) {
	r.named = r.named[:0]
	for range rows {
		if r.err != nil {
			break
		}
		text, long, err := r.in.next()
		switch {
		case err != nil:
			r.err = err
		case long:
			refused = append(refused, r.refusal(wrong{"", TooLong}))
		case len(text) == 0:
		default:
			rows[n] = Row{Place: r.in.place - 1}
			if w := r.read(text, &rows[n]); w.reason != "" {
				refused = append(refused, r.refusal(w))
				if rows[n].Number != (phone.Number{}) {
					r.named = append(r.named, rows[n].Number)
				}
			} else {
				n++
			}
		}
	}
	if n == 0 && len(refused) == 0 && r.err != nil {
		return 0, nil, r.broken(r.err)
	}
	return n, refused, nil
}

// read reads one line into row.
func (r *Reader) read(text []byte, row *Row) wrong {
	if w := r.cut(text); w.reason != "" {
		return unless(text, w)
	}
	if len(r.cells) != r.header.width {
		return unless(text, wrong{"", BadColumns})
	}
	if w := r.parse(row); w.reason != "" {
		return unless(text, w)
	}
	return wrong{}
}

func (r *Reader) refusal(w wrong) Refusal {
	return Refusal{Place: r.in.place - 1, Field: w.field, Reason: w.reason, Message: w.message(r.o.Kind)}
}

// Named returns the numbers of the lines that the last Next refused, as far as
// they could be read: the file has them, whatever else is wrong. They are gone
// with the next call.
func (r *Reader) Named() []phone.Number { return r.named }

// Place returns the line behind the last one that was dealt with.
func (r *Reader) Place() int64 { return r.in.place }

// Digest returns the SHA-256 of everything before Place, as it is without
// compression.
func (r *Reader) Digest() [32]byte { return r.in.digest() }

// Skip reads on to a place without looking at the lines before it, so that an
// import can go on where it stopped. The digest goes with it.
func (r *Reader) Skip(place int64) error {
	if place < r.in.place {
		return fmt.Errorf("linefile: skip to line %d: it has passed", place)
	}
	for r.err == nil && r.in.place < place {
		_, _, r.err = r.in.next()
	}
	if errors.Is(r.err, io.EOF) && r.in.place < place {
		return fault.New(fault.InvalidArgument, "The file is shorter than when its import began. Send the same file again, or begin a new import.")
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return r.broken(r.err)
	}
	return nil
}

// Close frees what the reading needed.
func (r *Reader) Close() error { return r.from.close() }
