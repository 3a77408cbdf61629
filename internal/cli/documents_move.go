package cli

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document"
)

// papers are the documents without their files, for commands that need none of
// them.
func (p *parts) papers() *document.Store {
	return &document.Store{Pool: p.pool, Required: p.cfg.DocumentsRequired, Now: time.Now}
}

func (a *app) documentsAcceptCommand() *cobra.Command {
	return a.documentMoveCommand(&cobra.Command{
		Use:     "accept DOCUMENT",
		Short:   "Accept a document that waits for a decision",
		Long:    "Accepts a document that is clean. A reason is not needed; where one is given, the entity is told.",
		Example: "  lineproof documents accept 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --session-file ./session",
	}, false, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		_, err := docs.Review(ctx, document.Review{Document: id, Accept: true, Reason: reason, Actor: by})
		return err
	}, access.Administrator, access.Reviewer)
}

func (a *app) documentsRejectCommand() *cobra.Command {
	return a.documentMoveCommand(&cobra.Command{
		Use:   "reject DOCUMENT",
		Short: "Reject a document that waits for a decision",
		Long: `Rejects a document that is clean. The entity is told the reason word for word; the next document of the same type that
it uploads takes the place of this one, whose history stays.`,
		Example: "  lineproof documents reject 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'The stamp on page 2 cannot be read. Scan it again.'",
	}, true, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		_, err := docs.Review(ctx, document.Review{Document: id, Reason: reason, Actor: by})
		return err
	}, access.Administrator, access.Reviewer)
}

func (a *app) documentsHoldCommand() *cobra.Command {
	return a.documentMoveCommand(&cobra.Command{
		Use:   "hold DOCUMENT",
		Short: "Keep a document from being deleted, by anybody and by retention",
		Long: `Puts a document on legal hold: until it is released, it is deleted neither by hand nor when its time is over. Holding one
that is held gives it the new reason.`,
		Example: "  lineproof documents hold 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Suit FHC/ABJ/12/2026'",
	}, true, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Hold(ctx, id, true, reason, by)
	}, access.Administrator)
}

func (a *app) documentsReleaseCommand() *cobra.Command {
	return a.documentMoveCommand(&cobra.Command{
		Use:     "release DOCUMENT",
		Short:   "End the legal hold of a document",
		Long:    "Ends the legal hold of a document. If its time was over meanwhile, the next daily run deletes it.",
		Example: "  lineproof documents release 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'The suit is settled'",
	}, true, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Hold(ctx, id, false, reason, by)
	}, access.Administrator)
}

func (a *app) documentsDeleteCommand() *cobra.Command {
	return a.documentMoveCommand(&cobra.Command{
		Use:   "delete DOCUMENT",
		Short: "Delete the file of a document for good; its record stays",
		Long: `Deletes the file of a document for good. The record stays, with its history, who deleted it and why. A document that is
held, or that was not scanned yet, is not deleted. Copies in backups are not touched.`,
		Example: "  lineproof documents delete 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Uploaded for another company'",
	}, true, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Delete(ctx, id, reason, by)
	}, access.Administrator)
}

func (a *app) documentsRescanCommand() *cobra.Command {
	return a.documentMoveCommand(&cobra.Command{
		Use:   "rescan DOCUMENT",
		Short: "Have a document scanned and inspected again",
		Long: `Has a document scanned and inspected again: one that waits, or one that was refused or found infected by mistake and was
not replaced. It makes nothing clean by itself; the scanner has to find it so. A running service does the work.`,
		Example: "  lineproof documents rescan 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'A false alarm; signatures of 3 March'",
	}, true, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Rescan(ctx, id, reason, by)
	}, access.Administrator)
}

// documentMoveCommand makes a command that does something to one document, with
// a reason that is kept, by the operator or by staff in one of the roles.
func (a *app) documentMoveCommand(cmd *cobra.Command, needsReason bool,
	move func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error, roles ...access.Role,
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	reason := cmd.Flags().String("reason", "", "why, in words; it is kept")
	session := sessionFlag(cmd)
	if needsReason {
		required(cmd, "reason")
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(a.onDocument(func(cmd *cobra.Command, id uuid.UUID, p *parts, docs *document.Store) error {
		by, err := a.actor(cmd.Context(), p, *session, roles...)
		if err != nil {
			return err
		}
		if err := move(cmd.Context(), docs, id, *reason, by); err != nil {
			return err
		}
		d, err := docs.Find(cmd.Context(), id)
		if err != nil {
			return err
		}
		s := shownOf(&d)
		return a.print(*asJSON, s, []string{s.ID, s.State})
	}))
	return cmd
}
