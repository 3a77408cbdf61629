package supply

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// MaxEvents is how many events one call may bring.
const MaxEvents = 1000

// Item is one event as a caller writes it.
type Item struct {
	ID, PhoneNumber, Type, EffectiveAt, Network, Level, Reason, ChurnAt, Voids, Note string
}

// Receipt is what became of a call.
type Receipt struct {
	Results         []Result  // one for each event, in order
	SuppliedThrough time.Time // of the operator; zero when it is not known or nobody's
}

// Tell takes events in. Each stands or falls alone; those that stand are
// committed together. Through, if it is not zero, says that everything which
// took effect up to then has been supplied; with no events at all it is the
// return of somebody who has nothing to report.
func (d *Desk) Tell(ctx context.Context, s Speaker, list []Item, through time.Time) (r Receipt, err error) {
	now := d.now()
	var wrong fault.Form
	wrong.Check(len(list) <= MaxEvents, "events", fault.TooLong, "Send at most "+strconv.Itoa(MaxEvents)+" events at a time.")
	wrong.Check(!through.After(now.Add(skew)), "through", fault.NotAllowed, "Nobody can have supplied the future. Give a time that has passed.")
	operator := slices.Contains(s.Authorities, line.Operator)
	wrong.Check(through.IsZero() || operator, "through", fault.NotAllowed, "Only an operator's supply reaches through a time.")
	wrong.Check(len(list) > 0 || !through.IsZero(), "events", fault.Required, "Send events, or say in through up to when there is nothing to report.")
	if err := wrong.Err(); err != nil {
		return Receipt{}, err
	}
	err = d.inTx(ctx, func(tx pg.Tx) error {
		r, err = d.tellIn(ctx, tx, s, list, through, now)
		return err
	})
	if err != nil {
		return Receipt{}, err
	}
	return r, nil
}

func (d *Desk) tellIn(ctx context.Context, tx pg.Tx, s Speaker, list []Item, through, now time.Time) (Receipt, error) {
	r, err := d.rulesAt(ctx, tx, now)
	if err != nil {
		return Receipt{}, err
	}
	v, err := d.hear(ctx, tx, s, r)
	if err != nil {
		return Receipt{}, err
	}
	items := make([]item, len(list))
	for i := range list {
		d.read(&items[i], &list[i], v, r)
	}
	newest, _, err := d.apply(ctx, tx, v, r, items, nil)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{Results: make([]Result, len(items))}
	for i := range items {
		receipt.Results[i] = items[i].result
	}
	if v.network == 0 {
		return receipt, nil
	}
	// Events alone do not say that there were no others: only through does.
	if !through.IsZero() || newest != line.Never {
		if err := cover(ctx, tx, v.network, time.Time{}, through, now); err != nil {
			return Receipt{}, err
		}
	}
	var reaches *time.Time
	if err := tx.QueryRow(ctx, `SELECT supplied_through FROM supply_coverage WHERE network = $1`, v.network).Scan(&reaches); err == nil && reaches != nil {
		receipt.SuppliedThrough = reaches.UTC()
	}
	return receipt, nil
}

// read turns an item of a call into one that can be told.
func (d *Desk) read(i *item, from *Item, v *voice, r rules) {
	i.result.ID = from.ID
	var err error
	if i.number, err = d.Region.ParseMobile(from.PhoneNumber); err != nil {
		i.refuse("phoneNumber", "BAD_FORMAT", "Write a mobile number of this country.")
	}
	e := linefile.Event{
		ID: from.ID, Network: from.Network, Level: from.Level, Reason: from.Reason, Voids: from.Voids, Note: from.Note, ChurnAt: line.Never,
	}
	if !printable(from.ID, maxID) {
		i.refuse("id", "BAD_FORMAT", "Give each event an id of 1 to 64 printable characters.")
	}
	if from.Note != "" && !printable(from.Note, maxNote) {
		i.refuse("note", "BAD_FORMAT", "Write at most 200 printable characters.")
	}
	var ok bool
	if e.Kind, ok = line.ParseKind(from.Type); !ok {
		i.refuse("type", "BAD_VALUE", "Give one of the types that the documentation lists.")
	}
	if e.Effective, ok = line.ParseInstant(from.EffectiveAt); !ok {
		i.refuse("effectiveAt", "BAD_FORMAT", "Write a time like 2026-01-31T13:45:00Z, or a date.")
	}
	if from.ChurnAt != "" {
		if e.ChurnAt, ok = line.ParseInstant(from.ChurnAt); !ok {
			i.refuse("churnAt", "BAD_FORMAT", "Write a time like 2026-01-31T13:45:00Z, or a date.")
		}
	}
	if i.open() {
		v.judge(i, e, r)
	}
}

const (
	maxID   = 64
	maxNote = 200
)

// printable reports whether s has 1 to so many characters, none of them strange.
func printable(s string, longest int) bool {
	if s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > longest {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// apply tells the items that are still open, in their order, and writes what
// they change. The lines may have been laid out before. It returns the newest
// effective time of what was kept, and the sheet.
func (d *Desk) apply(ctx context.Context, tx pg.Tx, v *voice, r rules, items []item, laid *sheet) (newest line.Instant, s *sheet, err error) {
	newest = line.Never
	numbers := make([]phone.Number, 0, len(items))
	for i := range items {
		if items[i].open() {
			numbers = append(numbers, items[i].number)
		}
	}
	s = &sheet{rules: r, tally: newTally(r)}
	if len(numbers) > 0 {
		seqs, err := line.Reserve(ctx, tx, len(numbers))
		if err != nil {
			return newest, nil, err
		}
		if s = laid; s == nil {
			if s, err = d.lay(ctx, tx, r, numbers, true); err != nil {
				return newest, nil, err
			}
		}
		s.rules, s.tally, s.voice = r, newTally(r), v
		for i := range items {
			if !items[i].open() {
				continue
			}
			s.tell(&items[i], seqs[0])
			seqs = seqs[1:]
			if o := items[i].result.Outcome; o != Refused && items[i].event.By == line.Operator && items[i].event.Kind != line.Void {
				newest = max(newest, items[i].event.Effective)
			}
		}
		if err := s.save(ctx, tx); err != nil {
			return newest, nil, err
		}
	}
	var refused int64
	for i := range items {
		if items[i].result.Outcome == Refused {
			refused++
		}
	}
	s.tally.refused(v.network, refused)
	return newest, s, s.tally.save(ctx, tx)
}

func seqText(seq int64) string { return strconv.FormatInt(seq, 10) }
