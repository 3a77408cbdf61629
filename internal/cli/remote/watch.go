package remote

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

// watchCommand has the commands about watch-lists.
func (r *remote) watchCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "watch",
		Short: "Manage the numbers of whose changes you are told",
		Long: `Manages the watch-lists of your organisation: the numbers of whose changes the feed tells. The API key needs the right
watch. Every number that enters a live list counts as one of the different numbers that you may verify in a year.`,
		Example: "  lineproof api watch create customers\n  lineproof api watch replace 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 customers.csv",
	}, r.watchListsCommand(), r.watchCreateCommand(), r.watchReplaceCommand(), r.watchChangeCommand("add"), r.watchChangeCommand("remove"),
		r.watchMembersCommand(), r.watchDeleteCommand())
}

// withKey lets a command call the service with an API key.
func (r *remote) withKey(cmd *cobra.Command, fn func(ctx context.Context, c *client.Client, key client.Secret, args []string) error) *cobra.Command {
	cmd.Flags().StringVar(&r.keyFile, "key-file", "", "file whose first line is the API key; - is standard input")
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		key, err := r.credential(r.keyFile, "LINEPROOF_API_KEY", "key-file")
		if err != nil {
			return err
		}
		return fn(ctx, c, key, args)
	})
	return cmd
}

func (r *remote) printLists(asJSON bool, shown any, lists ...client.WatchList) error {
	return r.Print(asJSON, shown, console.Table(lists, "LIST ID, NAME, STATE, MEMBERS, CHANGED", func(l *client.WatchList) []any {
		return []any{l.ID, l.Name, l.State, l.Members, console.FormatTime(l.ChangedAt)}
	})...)
}

func (r *remote) watchListsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "lists", Short: "List the watch-lists", Args: cobra.NoArgs,
		Long:    "Lists the watch-lists of your organisation in the mode of the API key, without their members.",
		Example: "  lineproof api watch lists",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, _ []string) error {
		lists, err := c.WatchLists(ctx, key)
		if err != nil {
			return err
		}
		return r.printLists(*asJSON, lists, lists...)
	})
}

func (r *remote) watchCreateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create an empty watch-list", Args: cobra.ExactArgs(1),
		Long:    "Creates an empty watch-list and prints it. Put numbers into it with add or replace.",
		Example: "  lineproof api watch create customers",
	}
	var form client.NewWatchList
	cmd.Flags().StringVar(&form.IdempotencyKey, "idempotency-key", "", "identifies this list, so that a retry does not create it twice")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		form.Name = args[0]
		l, err := c.CreateWatchList(ctx, key, form)
		if err != nil {
			return err
		}
		return r.printLists(*asJSON, l, *l)
	})
}

func (r *remote) watchReplaceCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use: "replace LIST FILE|-", Short: "Make the numbers of a file the whole list", Args: cobra.ExactArgs(2),
		Long: `Makes the numbers of a file the whole list: one number a line, plain or compressed with gzip or zstd. With - the file is
standard input. Rows that are not mobile numbers are rejected and listed, and the others are applied; the exit code is
6 then.`,
		Example: "  lineproof api watch replace \"$LIST\" customers.csv.zst --dry-run",
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check the file and store nothing")
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		content, sent, err := r.OpenUpload(args[1])
		if err != nil {
			return err
		}
		defer sent()
		l, err := c.ReplaceWatchList(ctx, key, args[0], content, "application/octet-stream", dryRun)
		if err != nil {
			return err
		}
		sent()
		if err := r.printLists(*asJSON, l, l.WatchList); err != nil || l.Rejected == 0 {
			return err
		}
		for _, row := range l.RejectedRows {
			r.Note("line %d: %s", row.Line, row.Code)
		}
		r.Note("rows rejected: %d", l.Rejected)
		return console.ErrProblems
	})
}

func (r *remote) watchChangeCommand(verb string) *cobra.Command {
	cmd := &cobra.Command{
		Use: verb + " LIST NUMBER...|-", Short: map[string]string{"add": "Add numbers to a list", "remove": "Remove numbers from a list"}[verb], Args: cobra.MinimumNArgs(2),
		Long:    "Changes a list by up to 10,000 numbers, all or none. With - the numbers are read from standard input, one a line.",
		Example: "  lineproof api watch " + verb + " \"$LIST\" 08031234567",
	}
	asJSON := console.JSONFlag(cmd)
	return r.withKey(cmd, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		numbers := args[1:]
		if len(numbers) == 1 && numbers[0] == "-" {
			numbers = nil
			in := bufio.NewScanner(r.Env.Stdin)
			for in.Scan() {
				if text := strings.TrimSpace(in.Text()); text != "" {
					numbers = append(numbers, text)
				}
			}
			if err := in.Err(); err != nil {
				return fmt.Errorf("read the numbers: %w", err)
			}
		}
		add, remove := numbers, []string(nil)
		if verb == "remove" {
			add, remove = nil, numbers
		}
		l, err := c.ChangeWatchList(ctx, key, args[0], add, remove)
		if err != nil {
			return err
		}
		return r.printLists(*asJSON, l, *l)
	})
}

func (r *remote) watchMembersCommand() *cobra.Command {
	return r.withKey(&cobra.Command{
		Use: "members LIST", Short: "Print the numbers of a list", Args: cobra.ExactArgs(1),
		Long:    "Prints the numbers of your own list, one a line, ascending.",
		Example: "  lineproof api watch members \"$LIST\" > customers.csv",
	}, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		return c.WatchListMembers(ctx, key, args[0], r.Out)
	})
}

func (r *remote) watchDeleteCommand() *cobra.Command {
	return r.withKey(&cobra.Command{
		Use: "delete LIST", Short: "Delete a list and its members", Args: cobra.ExactArgs(1),
		Long:    "Deletes a list and its members at once. That gives back nothing of the yearly budget of numbers.",
		Example: "  lineproof api watch delete \"$LIST\"",
	}, func(ctx context.Context, c *client.Client, key client.Secret, args []string) error {
		if err := c.DeleteWatchList(ctx, key, args[0]); err != nil {
			return err
		}
		r.Note("The list is deleted.")
		return nil
	})
}
