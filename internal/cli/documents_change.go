package cli

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

func (a *app) documentsHoldCommand() *cobra.Command {
	return a.documentChangeCommand(&cobra.Command{
		Use:   "hold DOCUMENT",
		Short: "Put a document on legal hold, so that it is not deleted",
		Long: `Puts a document on legal hold: until it is released, nobody can delete it, and it is not deleted when its retention
period ends. If it is already on hold, the reason is replaced.`,
		Example: "  lineproof documents hold 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Suit FHC/ABJ/12/2026'",
	}, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Hold(ctx, id, true, reason, by)
	})
}

func (a *app) documentsReleaseCommand() *cobra.Command {
	return a.documentChangeCommand(&cobra.Command{
		Use:     "release DOCUMENT",
		Short:   "End the legal hold of a document",
		Long:    "Ends the legal hold of a document. If its retention period has ended, the next daily run deletes it.",
		Example: "  lineproof documents release 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'The suit is settled'",
	}, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Hold(ctx, id, false, reason, by)
	})
}

func (a *app) documentsDeleteCommand() *cobra.Command {
	return a.documentChangeCommand(&cobra.Command{
		Use:   "delete DOCUMENT",
		Short: "Delete the file of a document permanently; its record stays",
		Long: `Deletes the file of a document permanently. The record stays, with its history, who deleted it and why. A document that is
on hold, or that was not scanned yet, cannot be deleted. Copies in backups are not affected.`,
		Example: "  lineproof documents delete 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'Uploaded for another company'",
	}, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Delete(ctx, id, reason, by)
	})
}

func (a *app) documentsRescanCommand() *cobra.Command {
	return a.documentChangeCommand(&cobra.Command{
		Use:   "rescan DOCUMENT",
		Short: "Scan and inspect a document again",
		Long: `Requests another scan of a document: one that is waiting, or one that was refused or found infected by
mistake and was not replaced. The document becomes clean only if the scanner finds it clean. A running service does the
work.`,
		Example: "  lineproof documents rescan 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'A false alarm; signatures of 3 March'",
	}, func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error {
		return docs.Rescan(ctx, id, reason, by)
	})
}

// documentChangeCommand returns a command that changes one document, with a reason
// that is recorded, by the operator or by an administrator.
func (a *app) documentChangeCommand(cmd *cobra.Command,
	change func(ctx context.Context, docs *document.Store, id uuid.UUID, reason string, by audit.Actor) error,
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	reason := cmd.Flags().String("reason", "", "the reason, as free text; it is recorded")
	session := sessionFlag(cmd)
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(a.onDocument(func(cmd *cobra.Command, id uuid.UUID, b *backend.Backend, docs *document.Store) error {
		by, err := a.actor(cmd.Context(), b, *session, access.Administrator)
		if err != nil {
			return err
		}
		if err := change(cmd.Context(), docs, id, *reason, by); err != nil {
			return err
		}
		d, err := docs.Find(cmd.Context(), id)
		if err != nil {
			return err
		}
		s := newDocumentJSON(&d)
		return a.Print(*asJSON, s, []string{s.ID, s.State})
	}))
	return cmd
}
