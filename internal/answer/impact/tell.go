package impact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// step looks at the changes after the mark of a pass (the recent or the whole one), up to
// a place in the outbox, tells what they make different, and moves the mark.
func (t *Teller) step(ctx context.Context, p pass, upTo int64) (more bool, err error) {
	mark, err := outbox.Mark(ctx, t.Pool, p.reader)
	if err != nil || upTo <= mark {
		return false, err
	}
	changes, next, err := outbox.Read(ctx, t.Pool, mark, p.limit)
	if err != nil {
		return false, err
	}
	changes = slices.DeleteFunc(changes, func(c outbox.Change) bool { return c.N > upTo })
	next = min(next, upTo)
	found, err := t.find(ctx, p, changes)
	if err != nil {
		return false, err
	}
	notices, err := t.tell(ctx, p.reader, mark, next, changes, found)
	if err == nil && notices > 0 && t.Told != nil {
		t.Told(notices, t.Now().Sub(changes[0].ReportedAt))
	}
	return next < upTo, err
}

// find recomputes the answers that changes may concern. An answer that is right again is among
// them, too: its reader may have been told that it is not.
func (t *Teller) find(ctx context.Context, p pass, changes []outbox.Change) (verify.ImpactResult, error) {
	c := verify.Correction{}
	for i := range changes {
		if changes[i].IsClass() {
			continue
		}
		c.Numbers = append(c.Numbers, changes[i].Number.Int())
		if at := changes[i].ReportedAt; c.From.IsZero() || at.Before(c.From) {
			c.From = at
		}
	}
	if len(c.Numbers) == 0 {
		return verify.ImpactResult{}, nil
	}
	if p.lookback > 0 {
		c.NotBefore = t.Now().Add(-p.lookback)
	}
	slices.Sort(c.Numbers)
	c.Numbers = slices.Compact(c.Numbers)
	finder := verify.ImpactFinder{Pool: t.Pool, Files: t.Files, Lines: t.Lines, KeepSame: true, Workers: 1}
	return finder.Find(ctx, c)
}

// errMoved rolls a pass back that another node has done.
var errMoved = errors.New("impact: another node has moved the mark")

// tell writes the notices and their events, and moves the mark, in one transaction. It
// returns how many notices that were.
func (t *Teller) tell(ctx context.Context, reader string, mark, next int64, changes []outbox.Change, found verify.ImpactResult) (n int, err error) {
	err = pg.InTx(ctx, t.Pool, func(tx pg.Tx) error {
		// The two passes find the same answers. A notice of one must be visible to the other.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof impact notices', 0))`); err != nil {
			return fmt.Errorf("impact: lock the notices: %w", err)
		}
		notSealed, err := outbox.SetAsideForNotices(ctx, tx, changes)
		if err != nil {
			return err
		}
		rules, _, err := t.Lines.Current(ctx, tx, t.Now())
		if err != nil {
			return err
		}
		fresh, err := unreported(ctx, tx, found, rules)
		if err != nil {
			return err
		}
		fresh = without(fresh, sealed(changes, notSealed))
		n = len(fresh)
		published, places := events(fresh, changes)
		if err := feed.AppendAll(ctx, tx, published); err != nil {
			return err
		}
		ids := make([]string, n)
		for i, d := range fresh {
			ids[i] = published[ownerOf(&d)][places[i]].ID
		}
		if err := save(ctx, tx, fresh, ids, t.Now()); err != nil {
			return err
		}
		moved, err := outbox.AdvanceMark(ctx, tx, reader, mark, next)
		if err == nil && !moved {
			return errMoved
		}
		return err
	})
	if errors.Is(err, errMoved) {
		return 0, nil
	}
	return n, err
}

// sealed returns the numbers of the changes that were set aside: a seal keeps what happens to a
// number from being told until a time, at which the outbox has its changes once more.
func sealed(changes, notSealed []outbox.Change) map[int64]bool {
	numbers := make(map[int64]bool)
	if len(notSealed) == len(changes) {
		return numbers
	}
	for i := range changes {
		numbers[changes[i].Number.Int()] = true
	}
	for i := range notSealed {
		delete(numbers, notSealed[i].Number.Int())
	}
	return numbers
}

// without returns the answers that are not about some numbers.
func without(answers []verify.Difference, numbers map[int64]bool) []verify.Difference {
	return slices.DeleteFunc(answers, func(d verify.Difference) bool { return numbers[d.Number] })
}

// digest identifies what an answer would say; nil if that is what it said.
func digest(d *verify.Difference) []byte {
	if len(d.Parts) == 0 {
		return nil
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{d.Recomputed.Status, d.Recomputed.Network, d.Recomputed.Extra}, "\x00")))
	return sum[:]
}

// lastNotice is the last notice about an answer. Version is the number of events that the line
// had then.
type lastNotice struct {
	version int64
	digest  []byte
}

// unreported returns the answers that would say something else than the last notice about them
// does, those that differ first.
func unreported(ctx context.Context, tx pg.Tx, found verify.ImpactResult, rules *policy.Policy) (fresh []verify.Difference, err error) {
	compared := slices.Concat(found.Differences, found.Same)
	ids := make([]uuid.UUID, len(compared))
	for i := range compared {
		ids[i] = compared[i].RequestID
	}
	last := make(map[uuid.UUID]lastNotice)
	var id uuid.UUID
	var version int64
	var sum []byte
	err = pg.ForEach(ctx, tx, []any{&id, &version, &sum}, func() error {
		last[id] = lastNotice{version, sum}
		return nil
	}, `SELECT DISTINCT ON (request_id) request_id, events, digest FROM impact_notice WHERE request_id = ANY($1) ORDER BY request_id, events DESC`, ids)
	if err != nil {
		return nil, fmt.Errorf("impact: read notices: %w", err)
	}
	for _, d := range compared {
		// Without a notice the answer stands as it was given: version 0, no digest.
		if before := last[d.RequestID]; d.Version > before.version && !slices.Equal(digest(&d), before.digest) && rules.NoticesFor(d.Purpose) {
			fresh = append(fresh, d)
		}
	}
	return fresh, nil
}

func save(ctx context.Context, tx pg.Tx, notices []verify.Difference, events []string, at time.Time) error {
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"impact_notice"}, []string{"request_id", "events", "entity_id", "event_id", "told_at", "digest"},
		pgx.CopyFromSlice(len(notices), func(i int) ([]any, error) {
			d := &notices[i]
			return []any{d.RequestID, d.Version, d.Entity, events[i], at, digest(d)}, nil
		}))
	return fault.Wrap(err, "impact: write notices")
}

// EventType is the type of the events, without its prefix.
const EventType = "answer.v1.changed"

// said has the members that every answer has.
type said struct {
	MobileNetwork string `json:"mobileNetwork"`
	Status        string `json:"status"`
}

// data is the data of an event about an answer.
type data struct {
	AskedAt     string   `json:"askedAt"`
	Differs     []string `json:"differs"`     // the members of the answer that would be different; none if it stands again
	EffectiveAt *string  `json:"effectiveAt"` // of what was reported since; null if it is not known
	PhoneNumber string   `json:"phoneNumber"`
	RequestID   string   `json:"requestId"`
	Said        said     `json:"said"`
	ToldAt      string   `json:"toldAt"` // when that was reported
	WouldSay    said     `json:"wouldSay"`
}

func ownerOf(d *verify.Difference) feed.Owner { return feed.Owner{Entity: d.Entity, Mode: "live"} }

// events returns the events about notices, and the place of each among those of its feed.
// Times are those of the last change of the number.
func events(notices []verify.Difference, changes []outbox.Change) (all map[feed.Owner][]feed.Event, places []int) {
	last := make(map[int64]*outbox.Change)
	for i := range changes {
		last[changes[i].Number.Int()] = &changes[i]
	}
	all = make(map[feed.Owner][]feed.Event)
	for i := range notices {
		d := &notices[i]
		n, _ := phone.FromInt(d.Number)
		c := last[d.Number]
		about := data{
			AskedAt: millis(d.At), Differs: append([]string{}, d.Parts...), PhoneNumber: n.E164(), RequestID: d.RequestID.String(), ToldAt: millis(c.ReportedAt),
			Said: said{d.Answered.Network, d.Answered.Status}, WouldSay: said{d.Recomputed.Network, d.Recomputed.Status},
		}
		if c.Effective != line.Never {
			at := c.Effective.Time().Format(time.RFC3339)
			about.EffectiveAt = &at
		}
		o := ownerOf(d)
		places = append(places, len(all[o]))
		all[o] = append(all[o], feed.Event{Type: EventType, Number: n, Time: c.ReportedAt, Data: &about})
	}
	return all, places
}

func millis(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
