package limits

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/watchlist"
)

// heldList is a held watch-list as printed with --json. There is no command that shows its
// members.
type heldList struct {
	ListID    string `json:"listId"`
	EntityUID string `json:"entityUid"`
	Name      string `json:"name"`
	Members   int64  `json:"members"`
	Sampled   int64  `json:"sampled"`
	Missing   int64  `json:"missing"`
	Uncovered int64  `json:"uncovered"`
	ChangedAt string `json:"changedAt"`
}

func (c *commands) guardHeldCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "held", Short: "List watch-lists that wait for staff", Args: cobra.NoArgs,
		Long: `Lists the watch-lists that wait for staff, with counts and never with their members: how many numbers were sampled when they
entered, how many of these nobody has (missing), and how many lie where nobody supplies (uncovered).`,
		Example: "  lineproof guard held",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		held, err := (&watchlist.Service{Pool: b.Pool, Now: time.Now}).HeldLists(cmd.Context())
		if err != nil {
			return err
		}
		list, rows := []heldList{}, [][]string{{"LIST ID", "ENTITY UID", "NAME", "MEMBERS", "SAMPLED", "MISSING", "UNCOVERED", "CHANGED"}}
		for _, f := range held {
			one := heldList{f.ID.String(), f.Entity.String(), f.Name, f.Members, f.Sampled, f.Missing, f.Uncovered, console.FormatTime(f.ChangedAt)}
			list = append(list, one)
			count := func(n int64) string { return strconv.FormatInt(n, 10) }
			rows = append(rows, []string{one.ListID, one.EntityUID, one.Name, count(one.Members), count(one.Sampled), count(one.Missing), count(one.Uncovered), one.ChangedAt})
		}
		return c.Print(*asJSON, list, rows...)
	})
	return cmd
}

func (c *commands) guardReleaseListCommand() *cobra.Command {
	form := watchlist.ReleaseForm{By: access.Operator}
	cmd := &cobra.Command{
		Use: "release-list LIST", Short: "Let a held watch-list take effect", Args: cobra.ExactArgs(1),
		Long: `Lets a watch-list take effect that waits for staff: from then on its organisation is told what happens to its numbers.

It takes two people: it takes effect when a second person has confirmed it, and the exit code is 7. While there are neither
founders nor two administrators, it takes effect at once.`,
		Example: "  lineproof guard release-list 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason 'old customers, checked with the bank'",
	}
	cmd.Flags().StringVar(&form.Reason, "reason", "", "the reason; it is recorded")
	console.Require(cmd, "reason")
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) (err error) {
		if form.List, err = console.ParseID("LIST", args[0]); err != nil {
			return err
		}
		if err := watchlist.RequestRelease(cmd.Context(), b.Pool, time.Now(), form); err != nil {
			return err
		}
		c.Note("Released: its organisation is told what happens to its numbers from now on.")
		return nil
	})
	return cmd
}
