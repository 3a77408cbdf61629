package remote

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (r *remote) documentsCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "documents",
		Short: "Show an entity's documents and which ones are missing",
		Long: `Shows which documents an entity has to submit, the state of each, and why one was refused or rejected. The commands need
an admin's session, an access token with the scope document:upload, or a client id and secret; the content of a file
needs a session.`,
		Example: "  lineproof api documents list",
	}, r.documentsListCommand(), r.documentsShowCommand(), r.documentsContentCommand())
}

func (r *remote) documentsListCommand() *cobra.Command {
	var q client.DocumentsQuery
	cmd := &cobra.Command{
		Use: "list", Short: "List required and uploaded documents, newest first", Args: cobra.NoArgs,
		Long: `Lists the documents that the entity has to submit, and those it has uploaded, newest first. With a session of the
regulator's staff and without --entity it lists the documents of all entities that wait for a decision, or those in the
states given with --state.`,
		Example: `  lineproof api documents list
  lineproof api documents list --state refused --state rejected --json`,
	}
	cmd.Flags().StringVar(&q.EntityUID, "entity", "", "entityUid (default: the admin's own entity, or the one that this client onboarded last)")
	cmd.Flags().StringSliceVar(&q.States, "state", nil, "only in this state; may be repeated")
	cmd.Flags().StringVar(&q.Type, "type", "", "only of this type")
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "page size (default: the service's default)")
	cmd.Flags().StringVar(&q.Cursor, "cursor", "", "continue after an earlier page: its value of next")
	console.Complete(cmd, "state", client.DocumentReceived, client.DocumentScanning, client.DocumentClean, client.DocumentRefused, client.DocumentInfected,
		client.DocumentAccepted, client.DocumentRejected, client.DocumentDeleted)
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		list, err := c.Documents(ctx, token, q)
		if err != nil {
			return err
		}
		for _, q := range list.Requirements {
			r.Note("%s is required: %s", q.Type, q.State)
		}
		if list.Next != "" {
			r.Note("There are more. Continue with: --cursor %s", list.Next)
		}
		return r.Print(*asJSON, list, console.Table(list.Documents,
			"DOCUMENT, TYPE, STATE, SINCE, REASON", func(d *client.DocumentRecord) []any {
				return []any{d.ID, d.Label, d.State, console.FormatTime(d.MovedAt), d.Reason}
			})...)
	})
	return cmd
}

func (r *remote) documentsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show DOCUMENT", Short: "Show the state and history of a document", Args: cobra.ExactArgs(1),
		Long:    "Shows the state of a document, what it means, and its history.",
		Example: "  lineproof api documents show 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := console.JSONFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		d, err := c.Document(ctx, token, args[0])
		if err != nil {
			return err
		}
		rows := [][]string{
			{"document", d.ID},
			{"type", d.Label},
			{"file", strconv.Quote(d.FileName)},
			{"state", d.State},
			{"reason", d.Reason},
			{"message", d.Message},
			{"replaces", d.Replaces},
			{"replaced by", d.ReplacedBy},
		}
		for _, m := range d.History {
			rows = append(rows, []string{console.FormatTime(m.At), m.To + ", by the " + m.By})
		}
		return r.Print(*asJSON, d, rows...)
	})
	return cmd
}

func (r *remote) documentsContentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "content DOCUMENT", Short: "Write the pages of a document to standard output", Args: cobra.ExactArgs(1),
		Long: `Writes a PDF with pictures of the pages of a document that is clean, accepted or rejected to standard output. It needs a
session. If the command fails, discard what it has written: the PDF is incomplete.`,
		Example: "  lineproof api documents content 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 >certificate.pdf",
	}
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		if _, interactive := console.Terminal(r.Env.Stdout); interactive {
			return console.Usagef("an uploaded file is not printed on a terminal: redirect it to a file with >")
		}
		return c.DocumentContent(ctx, token, args[0], r.Out)
	})
	return cmd
}
