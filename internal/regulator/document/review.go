package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const maxReason = 500

// The errors of decisions about a document.
var (
	ErrNotWaiting = fault.New(fault.IncompatibleState, "The document is not waiting for a decision: only documents in state clean are. Read it again to see its state.")
	ErrHeld       = fault.New(fault.IncompatibleState, "The document is under a legal hold. Release the hold first.")
	ErrNotHeld    = fault.New(fault.IncompatibleState, "The document is not under a legal hold.")
	ErrUnsettled  = fault.New(fault.IncompatibleState, "The document has not been scanned yet. Delete it after the scan.")
	ErrDeleted    = fault.New(fault.IncompatibleState, "The content of this document was deleted. Only its record remains.")
)

// Review is a decision of staff about a document.
type Review struct {
	Document uuid.UUID
	Accept   bool
	Reason   string // why it is rejected, for the uploader; not needed to accept
	Actor    audit.Actor
	Request  uuid.UUID
}

// Review accepts or rejects a clean document and returns the result. Of two
// reviewers at the same time, the second gets ErrNotWaiting.
func (s *Store) Review(ctx context.Context, r Review) (d Document, err error) {
	if !r.Accept || r.Reason != "" {
		if err := checkReason(r.Reason); err != nil {
			return Document{}, err
		}
	}
	m := transition{to: Rejected, by: r.Actor, note: r.Reason, request: r.Request}
	if r.Accept {
		m.to = Accepted
	}
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		row, err := lock(ctx, tx, r.Document)
		if err != nil {
			return err
		}
		if row.State != Clean {
			return ErrNotWaiting
		}
		if err := s.move(ctx, tx, row, m); err != nil {
			return err
		}
		d, err = find(ctx, tx, r.Document)
		return err
	})
	if err != nil {
		return Document{}, err
	}
	return d, nil
}

func checkReason(reason string) error {
	const field = "reason"
	var form fault.Form
	form.Check(strings.TrimSpace(reason) != "", field, fault.Required, "Enter a reason. It is stored with the document.")
	form.Check(utf8.RuneCountInString(reason) <= maxReason, field, fault.TooLong, "Use at most 500 characters.")
	printable := utf8.ValidString(reason) && !strings.ContainsFunc(reason, func(r rune) bool { return !unicode.IsPrint(r) })
	form.Check(printable, field, fault.BadFormat, "Use printable characters only.")
	return form.Err()
}

// Hold puts a document under a legal hold, which prevents its deletion, or releases
// it. Holding a held document replaces the reason.
func (s *Store) Hold(ctx context.Context, id uuid.UUID, held bool, reason string, by audit.Actor) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	now := s.now()
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		var at *time.Time
		action, heldFor := audit.DocumentReleased, ""
		switch {
		case d.State == Deleted:
			return ErrDeleted
		case held:
			at, action, heldFor = &now, audit.DocumentHeld, reason
		case !d.Held:
			return ErrNotHeld
		}
		if _, err := tx.Exec(ctx, `UPDATE document SET held_at = $2, held_for = $3 WHERE id = $1`, id, at, heldFor); err != nil {
			return fmt.Errorf("document: hold: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: action, Subject: id, Entity: d.Entity,
			Before: map[string]any{"held": d.Held, "heldFor": d.HeldFor}, After: map[string]any{"held": held, "reason": reason},
		})
	})
}

// Delete permanently removes the content of a document. The record stays, with who
// deleted it and why. Repeating it removes content that could not be removed the
// first time.
func (s *Store) Delete(ctx context.Context, id uuid.UUID, reason string, by audit.Actor) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return s.remove(ctx, id, transition{to: Deleted, by: by, note: reason})
}

// remove records the deletion first and removes the content after: if that fails,
// the content is not shown any more, and the sweep removes it.
func (s *Store) remove(ctx context.Context, id uuid.UUID, m transition) error {
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		d, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		switch state := d.State; {
		case state == Deleted:
			return nil
		case d.Held:
			return ErrHeld
		case !state.Settled():
			return ErrUnsettled
		}
		return s.move(ctx, tx, d, m)
	})
	if err != nil {
		return err
	}
	if err := s.Files.Delete(ctx, id.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("document: the deletion is recorded, but the content could not be removed yet; the daily sweep does it: %w", err)
	}
	return nil
}
