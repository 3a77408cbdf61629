// Package linefile reads the files in which operators report about their lines and
// those in which banks send numbers to verify, and generates such files for tests at
// any scale.
//
// What it promises about reading:
//
//   - Every problem is reported: either the whole file is refused with a
//     [*fault.Error], or a line of it with a [Refusal] that has the line, the
//     column and the reason. No other line is left out, and nothing is guessed.
//   - It needs the same memory for every file, whatever it contains.
//   - With [Reader.Place] and [Reader.Digest] a caller can check later that a file
//     which it continues to read from there is the same file.
//
// The package does not check whether the operator may report about a number, nor
// whether a row fits what is known about the line.
package linefile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Kind is what a file contains.
type Kind string

// The kinds of file.
const (
	Snapshot  Kind = "snapshot"  // the state of all lines of an operator at one time
	Events    Kind = "events"    // changes of some lines
	Questions Kind = "questions" // numbers that a bank wants to have verified
)

// maxClockSkew is how far a supplier's clock may be ahead of ours.
const maxClockSkew = time.Minute

// Options is how to read a file.
type Options struct {
	Kind   Kind
	Region *phone.Region
	AsOf   time.Time      // for a snapshot: the time at which it was correct
	Now    time.Time      // for events and questions: the current time; later times are refused
	Zone   *time.Location // of bare dates; nil means UTC
}

// Row is one valid line of a file.
type Row struct {
	Place  int64 // the line of the file; the header is line 1
	Number phone.Number
	Snap   line.Baseline // for a snapshot: everything but Import and Network
	Event  Event         // for events
	Asked  Question      // for questions
}

// Event is a row of an events file. Its texts are those of the file: package supply
// checks which of them a kind needs, as it does for events sent to the API.
type Event struct {
	ID, Network, Level, Reason, Scope, Voids, Note string

	Kind        line.Kind
	Effective   line.Instant // of a bare date, the last second of its day
	Day         bool         // Effective was a bare date
	FirstHolder bool
	ChurnAt     line.Instant // of a bare date, the last second of its day; Never if the file has none
}

// Reader reads one file. It is not safe for concurrent use.
type Reader struct {
	opts           Options
	source         *source
	in             lineReader
	parse          func(row *Row) problem
	header         header
	cells          [][]byte
	unquoted       []byte
	refusedNumbers []phone.Number // of the lines that the last Next refused
	limit          line.Instant   // later times are in the future
	days           calendar       // of the zone
	err            error          // what ended the reading
}

// Open starts to read a file: it detects the compression from the content and
// reads the header. The error is a [*fault.Error] if the file is refused. The
// caller must close the Reader, and r, which the Reader does not close.
func Open(r io.Reader, o Options) (*Reader, error) {
	f := &Reader{opts: o, days: newCalendar(o.Zone)}
	switch o.Kind {
	case Snapshot:
		f.parse, f.limit = f.snapshot, line.InstantOf(o.AsOf)
	case Events:
		f.parse, f.limit = f.event, line.InstantOf(o.Now.Add(maxClockSkew))
	case Questions:
		f.parse, f.limit = f.question, line.InstantOf(o.Now)
	default:
		return nil, fmt.Errorf("linefile: open a file: there is no kind %q", o.Kind)
	}
	var err error
	if f.source, err = openSource(r); err != nil {
		return nil, err
	}
	f.in = newLineReader(f.source)
	if f.header, err = f.readHeader(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Next reads up to len(rows) lines. It fills rows with the n valid ones and returns
// a refusal for each of the others. Empty lines are skipped, so n can be 0 before
// the end. At the end of the file the error is io.EOF, and where the file cannot be
// read further it is a [*fault.Error]; either is returned alone, by the call after
// the last rows.
func (r *Reader) Next(rows []Row) (n int, refused []Refusal, err error) {
	r.refusedNumbers = r.refusedNumbers[:0]
	for range rows {
		if r.err != nil {
			break
		}
		text, long, err := r.in.next()
		switch {
		case err != nil:
			r.err = err
		case long:
			refused = append(refused, r.refusal(problem{"", TooLong}))
		case len(text) == 0:
		default:
			rows[n] = Row{Place: r.in.place - 1}
			if p := r.read(text, &rows[n]); p.reason != "" {
				refused = append(refused, r.refusal(p))
				if rows[n].Number != (phone.Number{}) {
					r.refusedNumbers = append(r.refusedNumbers, rows[n].Number)
				}
			} else {
				n++
			}
		}
	}
	if n == 0 && len(refused) == 0 && r.err != nil {
		return 0, nil, r.readError(r.err)
	}
	return n, refused, nil
}

// read parses one line into row.
func (r *Reader) read(text []byte, row *Row) problem {
	if p := r.splitCells(text); p.reason != "" {
		return orBadEncoding(text, p)
	}
	if len(r.cells) != r.header.width {
		return orBadEncoding(text, problem{"", BadColumns})
	}
	if p := r.parse(row); p.reason != "" {
		return orBadEncoding(text, p)
	}
	return problem{}
}

func (r *Reader) refusal(p problem) Refusal {
	f := Refusal{Place: r.in.place - 1, Field: p.field, Reason: p.reason, Message: p.message(r.opts.Kind)}
	if len(r.cells) != r.header.width || p.reason == BadEncoding || p.reason == BadQuotes || p.reason == TooLong && p.field == "" {
		return f // the cells are not those of the columns, or of the line before
	}
	columns := columnsOf(r.opts.Kind)
	f.Number = quoted(r.cell(slices.Index(columns, colNumber)))
	if at := slices.Index(columns, p.field); at >= 0 {
		f.Value = quoted(r.cell(at))
	}
	if id := r.cell(questionExternalID); r.opts.Kind == Questions && p.field != colExternalID && printable(id) && utf8.RuneCount(id) <= maxID {
		f.ExternalID = string(id)
	}
	return f
}

// RefusedNumbers returns the numbers of the lines that the last Next refused, as far
// as they could be read: they occur in the file, whatever else is wrong with the
// line. The slice is valid until the next call.
func (r *Reader) RefusedNumbers() []phone.Number { return r.refusedNumbers }

// Place returns the number of the next line.
func (r *Reader) Place() int64 { return r.in.place }

// Digest returns the SHA-256 of everything before Place, after decompression.
func (r *Reader) Digest() [32]byte { return r.in.digest() }

// Skip reads up to a place without parsing the lines before it, so that an import
// can continue where it stopped. The digest includes the skipped lines.
func (r *Reader) Skip(place int64) error {
	if place < r.in.place {
		return fmt.Errorf("linefile: skip to line %d: it has already been read", place)
	}
	for r.err == nil && r.in.place < place {
		_, _, r.err = r.in.next()
	}
	if errors.Is(r.err, io.EOF) && r.in.place < place {
		return fault.New(fault.InvalidArgument, "The file is shorter than when its import started. Send the same file again, or start a new import.")
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return r.readError(r.err)
	}
	return nil
}

// Close releases the decompressor.
func (r *Reader) Close() error { return r.source.close() }
