package supply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// ErrNoHistory reports that the number is not with the network that requests it.
var ErrNoHistory = fault.New(fault.NotFound, "The number is not with this network. A network can see the history of its own numbers only.")

// HistoryQuery is a request for the history of a number.
type HistoryQuery struct {
	Number  phone.Number
	Network string    // code of the operator that requests it; empty for staff
	AsOf    time.Time // what was true at this time; zero means now. Staff only
	KnownAt time.Time // according to what had been reported at this time; zero means now. Staff only
}

// History is the history of a number.
type History struct {
	Status  line.Status
	Reason  line.Reason
	Network string            // code; empty if it is not known
	Tenures []Tenure          // the oldest first
	Events  []HistoryEvent    // by effective time
	Spans   []linechange.Span // what was true, for staff
}

func (q *HistoryQuery) check(wrong *fault.Form, now time.Time) {
	const passed, staff = "Give a time that has passed.", "Only staff can query the past. Leave the time out."
	wrong.Check(!q.AsOf.After(now), "asOf", fault.NotAllowed, passed)
	wrong.Check(q.AsOf.IsZero() || q.Network == "", "asOf", fault.NotAllowed, staff)
	wrong.Check(!q.KnownAt.After(now), "knownAt", fault.NotAllowed, passed)
	wrong.Check(q.KnownAt.IsZero() || q.Network == "", "knownAt", fault.NotAllowed, staff)
}

// History returns what was true of a number at AsOf, according to what had been
// reported at KnownAt. An operator sees only numbers that are with its network
// now, only as of now, and without ids and notes of other suppliers: why somebody
// else barred the line is for staff.
//
// The policy and the numbering plan are those that were active at AsOf. Earlier
// coverage is not stored: today's is used, cut off at the earlier of the two
// times, which is the best that it can have been. A baseline counts as known from
// the creation of its import.
func (s *Service) History(ctx context.Context, q HistoryQuery) (History, error) {
	now := s.now()
	var wrong fault.Form
	q.check(&wrong, now)
	if err := wrong.Err(); err != nil {
		return History{}, err
	}
	if q.Network != "" {
		current, err := s.Lines.Lookup(ctx, s.Pool, q.Number, now)
		if err != nil {
			return History{}, err
		}
		if current.Plan.Code(current.View(now).Network) != q.Network {
			return History{}, ErrNoHistory
		}
	}
	rows, err := linestore.Rows(ctx, s.Pool, []phone.Number{q.Number})
	if err != nil {
		return History{}, err
	}
	histories, err := linestore.Histories(ctx, s.Pool, []phone.Number{q.Number}, rows)
	if err != nil {
		return History{}, err
	}
	history := histories[q.Number]
	imports, err := s.importsOf(ctx, history)
	if err != nil {
		return History{}, err
	}
	until := line.Forever
	asOf, knownAt := now, now
	if !q.AsOf.IsZero() {
		asOf, until = q.AsOf, line.InstantOf(q.AsOf)
	}
	if !q.KnownAt.IsZero() {
		knownAt = q.KnownAt
		history = historyKnownAt(history, imports, knownAt)
	}
	r, err := s.rulesAt(ctx, s.Pool, asOf)
	if errors.Is(err, policy.ErrNoVersion) {
		err = fault.ErrInvalid.With(fault.Violation{Field: "asOf", Code: fault.NotAllowed, Message: "No policy was active at that time. Give a later time."})
	}
	if err != nil {
		return History{}, err
	}
	row, outcomes := line.Fold(history, r.terms, until)
	lookup := linestore.Lookup{Facts: line.Facts{Row: row}, Policy: r.policy, Plan: r.plan}
	lookup.ApplyPlan(q.Number, asOf)
	if lookup.Coverage, err = linestore.CoverageAt(ctx, s.Pool, earlier(asOf, knownAt)); err != nil {
		return History{}, err
	}
	view := lookup.View(asOf)
	result := History{Status: view.Status, Reason: view.Reason, Network: r.plan.Code(view.Network), Tenures: tenures(history, until, r)}
	if q.Network == "" {
		result.Spans = linechange.Spans(history, r.terms, r.policy.Flagged(), line.InstantOf(asOf))
	}
	result.Events = historyEvents(history.Events, outcomes, until, q.Network, r.plan, imports)
	return result, nil
}

// importRef is what a history shows of an import.
type importRef struct {
	uid       uuid.UUID
	createdAt time.Time
}

// importsOf returns the imports from which a history comes.
func (s *Service) importsOf(ctx context.Context, h *line.History) (map[int32]importRef, error) {
	var ids []int32
	if h.Base != nil {
		ids = append(ids, h.Base.Import)
	}
	for i := range h.Events {
		if id := h.Events[i].Import; id != 0 {
			ids = append(ids, id)
		}
	}
	found := make(map[int32]importRef, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := s.Pool.Query(ctx, `SELECT id, uid, created_at FROM supply_import WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("supply: read imports: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int32
		var im importRef
		if err := rows.Scan(&id, &im.uid, &im.createdAt); err != nil {
			return nil, fmt.Errorf("supply: read imports: %w", err)
		}
		found[id] = im
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("supply: read imports: %w", err)
	}
	return found, nil
}

// historyKnownAt returns the part of a history that was known at a time.
func historyKnownAt(h *line.History, imports map[int32]importRef, at time.Time) *line.History {
	then := &line.History{}
	if h.Base != nil && !imports[h.Base.Import].createdAt.After(at) {
		then.Base = h.Base
	}
	for i := range h.Events {
		if !h.Events[i].ReportedAt.After(at) {
			then.Events = append(then.Events, h.Events[i])
		}
	}
	return then
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// StaffLookup is [Service.History] for staff, who may look up every number. The
// lookup and its reason are counted and written to the audit trail before anything is
// returned; if that fails, nothing is returned.
//
// The entry has the number masked. Its subject is an id that is computed from the
// number and the pepper, so that [Service.StaffLookups] can find the entry, and
// nobody without the pepper can.
func (s *Service) StaffLookup(ctx context.Context, q HistoryQuery, r staffaccess.Access) (History, error) {
	q.Network = ""
	var wrong fault.Form
	q.check(&wrong, s.now())
	r.Check(&wrong)
	if err := wrong.Err(); err != nil {
		return History{}, err
	}
	history, err := s.History(ctx, q)
	if err != nil {
		return History{}, err
	}
	subjects, err := s.auditSubjects(q.Number)
	if err != nil {
		return History{}, err
	}
	details := map[string]any{"phoneNumber": q.Number.E164()}
	if !q.AsOf.IsZero() {
		details["asOf"] = q.AsOf
	}
	if !q.KnownAt.IsZero() {
		details["knownAt"] = q.KnownAt
	}
	if err := r.Record(ctx, staffaccess.LookUp{Action: audit.HistoryRead, Subject: subjects[0], Details: details}); err != nil {
		return History{}, err
	}
	return history, nil
}

// StaffLookups lists who of the staff looked up a number and why, the newest first.
// A lookup under a pepper that has been removed is not found.
func (s *Service) StaffLookups(ctx context.Context, n phone.Number, limit int) ([]audit.Record, error) {
	subjects, err := s.auditSubjects(n)
	if err != nil {
		return nil, err
	}
	var all []audit.Record
	for _, subject := range subjects {
		list, err := audit.List(ctx, s.Pool, audit.Filter{Subject: subject, Action: string(audit.HistoryRead), Limit: limit})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b audit.Record) int { return b.At.Compare(a.At) })
	return all[:min(limit, len(all))], nil
}

var errNoPepper = errors.New("supply: no peppers are set, so a lookup by staff cannot be recorded")

// auditSubjects returns the ids of a number in the audit trail: first the one under
// which new lookups are written, then those of older peppers.
func (s *Service) auditSubjects(n phone.Number) ([]uuid.UUID, error) {
	if s.Peppers == nil {
		return nil, errNoPepper
	}
	macs := s.Peppers.Candidates(secret.ForAuditedNumbers, n.E164())
	subjects := make([]uuid.UUID, len(macs))
	for i, mac := range macs {
		id := uuid.UUID(mac[:16])
		id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // UUID version 8: custom content
		subjects[i] = id
	}
	return subjects, nil
}
