package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// State is the state of a document. The values are stored; never change them.
type State string

// The states.
const (
	Received State = "received" // waits for the scan
	Scanning State = "scanning" // is being scanned, or waits until the scanner is available
	Clean    State = "clean"    // passed the scan and can be drawn; waits for a reviewer
	Refused  State = "refused"  // cannot be drawn; never shown
	Infected State = "infected" // the scanner found a virus; never shown
	Accepted State = "accepted" // by a reviewer
	Rejected State = "rejected" // by a reviewer, for a reason
	Deleted  State = "deleted"  // the content was deleted; the record stays
)

// States are all states, in the order in which a document passes them.
var States = []State{Received, Scanning, Clean, Refused, Infected, Accepted, Rejected, Deleted}

// transitions are the allowed changes of state. The database has the same list and
// rejects every other.
var transitions = map[State][]State{
	Received: {Scanning},
	Scanning: {Clean, Refused, Infected},
	Clean:    {Accepted, Rejected, Deleted},
	Refused:  {Received, Deleted}, // to received by an operator, after a false alarm
	Infected: {Received, Deleted},
	Accepted: {Deleted},
	Rejected: {Deleted},
	Deleted:  {},
}

// Next returns the states into which a document can move from s.
func (s State) Next() []State { return slices.Clone(transitions[s]) }

// Settled reports whether the scan is finished.
func (s State) Settled() bool { return s != Received && s != Scanning }

// Open reports whether the content may be shown.
func (s State) Open() bool { return s == Clean || s == Accepted || s == Rejected }

// Move is one change of state of a document. The first is the upload, with an
// empty From.
type Move struct {
	At           time.Time
	From, To     State
	Actor        audit.Actor
	Reason, Note string
}

// actions are the audit actions of a change to a state. The start of a scan is
// only in the document's own history.
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

// transition is a requested change of state.
type transition struct {
	to           State
	by           audit.Actor
	reason, note string
	request      uuid.UUID
}

var errTransition = errors.New("document: the change of state is not allowed")

// move changes the state of a locked document, and writes its history and the
// audit trail.
func (s *Store) move(ctx context.Context, tx pg.Tx, d *locked, m transition) error {
	from := d.State
	if !slices.Contains(transitions[from], m.to) {
		return fmt.Errorf("%w: from %s to %s", errTransition, from, m.to)
	}
	now := s.now()
	tag, err := tx.Exec(ctx, `UPDATE document SET state = $3, reason = $4, note = $5, moved_at = $6 WHERE id = $1 AND state = $2`, d.ID, from, m.to, m.reason, m.note, now)
	if err == nil && tag.RowsAffected() != 1 {
		err = errTransition // the row is locked, so this cannot happen
	}
	if err != nil {
		return fmt.Errorf("document: move: %w", err)
	}
	// The lock of the document's row keeps the next seq free.
	_, err = tx.Exec(ctx, `INSERT INTO document_move (document_id, seq, at, from_state, to_state, actor_kind, actor_id, reason, note)
		SELECT $1, coalesce(max(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM document_move WHERE document_id = $1`,
		d.ID, now, from, m.to, m.by.Kind, pg.ID(m.by.ID), m.reason, m.note)
	if err != nil {
		return fmt.Errorf("document: write the history: %w", err)
	}
	d.State = m.to
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
		At: now, Actor: m.by, Action: action, Subject: d.ID, Entity: d.Entity, Request: m.request,
		Before: map[string]any{"state": from}, After: after,
	})
}

// locked is a document whose row is locked.
type locked struct {
	ID, Entity uuid.UUID
	State      State
	Held       bool
	HeldFor    string
	Replaced   bool
}

// lock returns a document and locks its row, or returns [ErrNoDocument].
func lock(ctx context.Context, tx pg.Tx, id uuid.UUID) (*locked, error) {
	d, err := pg.CollectOne(ctx, tx, pgx.RowToAddrOfStructByPos[locked],
		`SELECT id, entity_id, state, held_at IS NOT NULL, held_for, replaced_by IS NOT NULL FROM document WHERE id = $1 FOR UPDATE`, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNoDocument
	}
	if err != nil {
		return nil, fmt.Errorf("document: lock: %w", err)
	}
	return d, nil
}
