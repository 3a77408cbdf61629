package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// State is where a document is on its way. The words are stored; they are never
// changed.
type State string

// The states.
const (
	Received State = "received" // is here, waits to be scanned
	Scanning State = "scanning" // is being scanned, or waits for a scanner that is away
	Clean    State = "clean"    // was scanned and opened whole; waits for a reviewer
	Refused  State = "refused"  // cannot be opened without risk; shown to nobody
	Infected State = "infected" // the scanner found something; shown to nobody
	Accepted State = "accepted" // by a reviewer
	Rejected State = "rejected" // by a reviewer, for a reason
	Deleted  State = "deleted"  // the content is gone; the record stays
)

// States are all states, in the order of the way.
var States = []State{Received, Scanning, Clean, Refused, Infected, Accepted, Rejected, Deleted}

// ways are the moves that there are. The database holds the same list and
// refuses every other move.
var ways = map[State][]State{
	Received: {Scanning},
	Scanning: {Clean, Refused, Infected},
	Clean:    {Accepted, Rejected, Deleted},
	Refused:  {Received, Deleted}, // received again: by an operator, after a false alarm
	Infected: {Received, Deleted},
	Accepted: {Deleted},
	Rejected: {Deleted},
	Deleted:  {},
}

// Next returns the states into which a document can move from s.
func (s State) Next() []State { return slices.Clone(ways[s]) }

// Settled reports whether the scan is over.
func (s State) Settled() bool { return s != Received && s != Scanning }

// Open reports whether the content may be shown.
func (s State) Open() bool { return s == Clean || s == Accepted || s == Rejected }

// Move is one step of a document. The first of its history is the upload, which
// comes from no state.
type Move struct {
	At           time.Time
	From, To     State
	Actor        audit.Actor
	Reason, Note string
}

// actions are what the audit trail says of a move into a state. That a scan
// begins is in the document's own history only.
var actions = map[State]audit.Action{
	Received: audit.DocumentRescanned,
	Scanning: "",
	Clean:    audit.DocumentScanned,
	Refused:  audit.DocumentRefused,
	Infected: audit.DocumentInfected,
	Accepted: audit.DocumentAccepted,
	Rejected: audit.DocumentRejected,
	Deleted:  audit.DocumentDeleted,
}

// step is a move that somebody asks for.
type step struct {
	to           State
	by           audit.Actor
	reason, note string
	request      uuid.UUID
}

var errWay = errors.New("document: there is no such move")

// move takes a locked document on, writes its history and the audit trail.
func (s *Store) move(ctx context.Context, tx pg.Tx, d *db.LockRow, m step) error {
	from := State(d.State)
	if !slices.Contains(ways[from], m.to) {
		return fmt.Errorf("%w: from %s to %s", errWay, from, m.to)
	}
	q, now := db.New(tx), s.now()
	n, err := q.SetState(ctx, db.SetStateParams{ID: d.ID, FromState: string(from), ToState: string(m.to), Reason: m.reason, Note: m.note, At: &now})
	if err == nil && n != 1 {
		err = errWay // the row is locked, so this cannot happen
	}
	if err != nil {
		return fmt.Errorf("document: move: %w", err)
	}
	err = q.AddMove(ctx, db.AddMoveParams{
		DocumentID: d.ID, At: now, FromState: string(from), ToState: string(m.to),
		ActorKind: string(m.by.Kind), ActorID: pg.ID(m.by.ID), Reason: m.reason, Note: m.note,
	})
	if err != nil {
		return fmt.Errorf("document: write the history: %w", err)
	}
	d.State = string(m.to)
	action := actions[m.to]
	if action == "" {
		return nil
	}
	after := map[string]any{"state": m.to}
	for name, value := range map[string]string{"reason": m.reason, "note": m.note} {
		if value != "" {
			after[name] = value
		}
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: m.by, Action: action, Subject: d.ID, Entity: d.EntityID, Request: m.request,
		Before: map[string]any{"state": from}, After: after,
	})
}

// lock returns a document for whoever means to move it, or [ErrNoDocument].
func lock(ctx context.Context, tx pg.Tx, id uuid.UUID) (*db.LockRow, error) {
	row, err := db.New(tx).Lock(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoDocument
	}
	if err != nil {
		return nil, fmt.Errorf("document: lock: %w", err)
	}
	return &row, nil
}
