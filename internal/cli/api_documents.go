package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
)

func (r *remote) documentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "documents",
		Short: "See what became of the documents, and what is still missing",
		Long: `Shows what an entity has to hand in, how far each of its documents is, and why one was refused or rejected. They need an
admin's session, an access token with the scope document:upload, or a client's id and secret; a file is shown to a
session only.`,
		Example: "  lineproof api documents list",
	}
	cmd.AddCommand(r.documentsListCommand(), r.documentsShowCommand(), r.documentsContentCommand())
	return cmd
}

func (r *remote) documentsListCommand() *cobra.Command {
	var q client.DocumentsQuery
	cmd := &cobra.Command{
		Use: "list", Short: "List what is required and what was uploaded, newest first", Args: cobra.NoArgs,
		Long: `Lists what the entity has to hand in, and its documents, newest first. With a session of the regulator's staff and
without --entity it lists those of all entities that wait for a decision, or those in the states that --state names.`,
		Example: `  lineproof api documents list
  lineproof api documents list --state refused --state rejected --json`,
	}
	cmd.Flags().StringVar(&q.EntityUID, "entity", "", "entityUid (default: the admin's own, or the one that the token onboarded last)")
	cmd.Flags().StringSliceVar(&q.States, "state", nil, "only in this state; may be repeated")
	cmd.Flags().StringVar(&q.Type, "type", "", "only of this type")
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "how many at most on one page (default: as many as the service likes)")
	cmd.Flags().StringVar(&q.Cursor, "cursor", "", "go on after an earlier page, with what it gave as next")
	completes(cmd, "state", stateNames()...)
	asJSON := jsonFlag(cmd)
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, _ []string) error {
		list, err := c.Documents(ctx, token, q)
		if err != nil {
			return err
		}
		rows := [][]string{{"DOCUMENT", "TYPE", "STATE", "SINCE", "REASON"}}
		for _, d := range list.Documents {
			rows = append(rows, []string{d.ID, d.Label, d.State, moment(d.MovedAt), d.Reason})
		}
		for _, q := range list.Requirements {
			r.app.note("%s is required: %s", q.Type, q.State)
		}
		if list.Next != "" {
			r.app.note("There are more. Go on with: --cursor %s", list.Next)
		}
		return r.app.print(*asJSON, list, rows...)
	})
	return cmd
}

func (r *remote) documentsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show DOCUMENT", Short: "Show how far a document is, and what was said about it", Args: cobra.ExactArgs(1),
		Long:    "Shows the state of a document, what it means, and every step of its way.",
		Example: "  lineproof api documents show 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	asJSON := jsonFlag(cmd)
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
			rows = append(rows, []string{moment(m.At), m.To + ", by the " + m.By})
		}
		return r.app.print(*asJSON, d, rows...)
	})
	return cmd
}

func (r *remote) documentsContentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "content DOCUMENT", Short: "Write the file of a document to standard output", Args: cobra.ExactArgs(1),
		Long: `Writes the file of a document that is clean, accepted or rejected to standard output, byte for byte as it was uploaded.
It needs a session. If the command fails, what it has written is not the file.`,
		Example: "  lineproof api documents content 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 >certificate.pdf",
	}
	r.withToken(cmd, func(ctx context.Context, c *client.Client, token client.Secret, args []string) error {
		if _, person := terminal(r.app.env.Stdout); person {
			return usagef("a file of unknown origin is no text for a terminal: send it to a file with >")
		}
		return c.DocumentContent(ctx, token, args[0], r.app.out)
	})
	return cmd
}
