package supply

import (
	"context"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// RegulatorEvent is an event that an order of the regulator becomes. Package order
// decides which orders wait for a second person.
type RegulatorEvent struct {
	Number phone.Number
	Event  line.Event
	Of     string // for VOID and CONFIRM: the seq of the event, as the history shows it
	Now    bool   // it takes effect now: after every event that is stored
	Check  bool   // only check that it is possible; nothing is stored

	LapsesAt time.Time // of a bar: when it ends unless it is confirmed; zero for never
	OfBar    bool      // of CONFIRM: it lets a bar last that would lapse
}

// Regulated is what became of a [RegulatorEvent].
type Regulated struct {
	Result      Result
	Seq         int64
	EffectiveAt time.Time
	Hold        line.Hold // of CONFIRM: why its event was held

	Before, After line.View // with Check: the answer now, and with the event
}

// InTx runs fn in a transaction, and retries it if another transaction was in
// conflict with it.
func (s *Service) InTx(ctx context.Context, fn func(tx pg.Tx) error) error { return s.inTx(ctx, fn) }

// Regulate applies one event with the authority of the regulator. One that takes
// effect now is dated after every event that is stored, so that of two within one
// second the later one prevails.
func (s *Service) Regulate(ctx context.Context, tx pg.Tx, from Supplier, e RegulatorEvent) (Regulated, error) {
	from.Authorities = []line.Authority{line.Regulator}
	r, err := s.rulesAt(ctx, tx, e.Event.ReportedAt)
	if err != nil {
		return Regulated{}, err
	}
	supplier, err := s.resolve(ctx, tx, from, r)
	if err != nil {
		return Regulated{}, err
	}
	seqs, err := linestore.ReserveSeqs(ctx, tx, 1)
	if err != nil {
		return Regulated{}, err
	}
	cs, err := s.load(ctx, tx, r, []phone.Number{e.Number}, true)
	if err != nil {
		return Regulated{}, err
	}
	i := item{number: e.Number, event: e.Event, voids: e.Of, ofBar: e.OfBar}
	i.event.Authority, i.event.Supplier, i.event.Until, i.event.EndedAfter = line.Regulator, supplier.supplierIDs[line.Regulator], line.Never, line.Never
	if !e.LapsesAt.IsZero() {
		i.event.Until = line.InstantOf(e.LapsesAt)
	}
	change := cs.byNumber[e.Number]
	if e.Now && change.Row.Newest >= i.event.Effective {
		i.event.Effective = change.Row.Newest + 1 // also after a bare date of today, which is ordered at its end
	}
	i.result.ID = i.event.ID
	cs.supplier, cs.seqs = supplier, &seqAllocator{tx: tx}
	if err := cs.applyEvent(ctx, &i, seqs[0]); err != nil {
		return Regulated{}, err
	}
	if i.result.Outcome == Refused {
		// Only a VOID or a CONFIRM can be refused here: the regulator may do everything else.
		return Regulated{}, fault.ErrInvalid.With(fault.Violation{Field: "event", Code: fault.NotAllowed, Message: i.result.Message})
	}
	done := Regulated{Result: i.result, Seq: seqs[0], EffectiveAt: i.event.Effective.Time()}
	if i.event.Kind == line.Confirm {
		done.Hold = change.BySeq(i.event.Target).Hold
	}
	if e.Check {
		done.Before, done.After = r.view(e.Number, &change.Stored), r.view(e.Number, &change.Row)
		return done, nil
	}
	if err := cs.save(ctx, tx); err != nil {
		return Regulated{}, err
	}
	return done, cs.counts.save(ctx, tx)
}

// view returns the answer about a number that has a row.
func (r *rules) view(n phone.Number, row *line.Row) line.View {
	l := linestore.Lookup{Facts: line.Facts{Row: *row, Coverage: r.coverage}, Policy: r.policy, Plan: r.plan}
	l.ApplyPlan(n, r.now)
	return l.View(r.now)
}

// The words of violations that reports and orders share.
const (
	NumberForm = numberForm
	NoteForm   = noteForm
	TimeForm   = timeForm
)

// IsNote reports whether a text can be the note of an event.
func IsNote(text string) bool { return printable(text, maxNote) }

// IsBarReason reports whether a code can be the reason of a bar, and BarReasons lists
// those codes in words.
func IsBarReason(c line.Code) bool { return slices.Contains(barReasons, c) }

// MaxNote is how many characters a note has at most.
const MaxNote = maxNote

// BarReasons lists the reasons of a bar.
func BarReasons() string { return joinCodes(barReasons) }

// MaxClockSkew is how far a caller's clock may be ahead of ours.
const MaxClockSkew = maxClockSkew
