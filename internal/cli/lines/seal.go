package lines

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/regulator/approval"
)

func (c *commands) sealCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "seal", Short: "Seal a number, so that nothing about it is sent before a date",
		Long: `While a number is sealed, no organisation is told what happens to it: not by its feed, by a webhook or by a notice about a
past answer. When the seal ends, everything is told, each change once and in its order. Verifications are answered as
without the seal. It takes two people, and so does lifting a seal before its date.`,
		Example: `  lineproof lines seal request --number-file number.txt --until 2026-12-31 --reason "Order of the Federal High Court, case 12"`,
	}, c.sealRequestCommand(), c.sealListCommand(), c.sealLiftCommand())
}

func (c *commands) sealRequestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "request", Short: "Seal a number until a date", Args: cobra.NoArgs,
		Long: `Requests a seal, which takes effect when a second person has confirmed it; while there are neither founders nor two
administrators, at once. Changes from before that are told. Seal a number before you give the order that is to be kept
quiet. To prolong a seal, request another one with a later date: the number is sealed until the last of them ends.

The number is read from a file or from standard input, so that it is not in the list of processes. The reason is kept
for years: name the order, and not the number or the person.`,
		Example: `  lineproof lines seal request --number-file number.txt --until 2026-12-31 --reason "Order of the Federal High Court, case 12"`,
	}
	file := cmd.Flags().String("number-file", "", "file whose first line is the number, in any usual spelling; - is standard input")
	var end time.Time
	console.TimeFlag(cmd, &end, "until", "end of the seal, a year ahead at most: a time or a date")
	reason := reasonFlag(cmd)
	console.Require(cmd, "number-file", "until", "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		text, err := c.ReadSecret(*file)
		if err != nil {
			return err
		}
		number, err := b.Registry.Region.ParseMobile(text.Reveal())
		if err != nil {
			return console.Usagef("the first line of --number-file is not a mobile number of the region")
		}
		id, pending, err := outbox.RequestSeal(cmd.Context(), b.Pool, time.Now(), outbox.SealForm{Number: number, Until: end, Reason: *reason, By: access.Operator})
		if err == nil {
			err = approval.Waits(pending)
		}
		if err != nil {
			return err
		}
		return c.Print(*asJSON, map[string]string{"sealId": id.String(), "state": "sealed"}, []string{"seal", id.String()}, []string{"state", "sealed"})
	})
	return cmd
}

// sealJSON is a seal, as printed with --json.
type sealJSON struct {
	ID         string `json:"sealId"`
	LastDigits string `json:"lastDigits"`
	State      string `json:"state"`
	Until      string `json:"until"`
	Waiting    int64  `json:"waiting"`
}

func (c *commands) sealListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the seals, by the date on which they end", Args: cobra.NoArgs,
		Long:    "Lists the seals that are active or wait for a second person, with the last digits of the number and how many of its changes wait.",
		Example: "  lineproof lines seal list",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(c.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		list, err := outbox.Seals(cmd.Context(), b.Pool)
		if err != nil {
			return err
		}
		if len(list) == 0 && !*asJSON {
			c.Note("No number is sealed.")
			return nil
		}
		return console.List(c.Console, *asJSON, list, newSealJSON,
			"SEAL, NUMBER ENDS IN, STATE, UNTIL, WAITING CHANGES", func(s *sealJSON) []any {
				return []any{s.ID, s.LastDigits, s.State, s.Until, s.Waiting}
			})
	})
	return cmd
}

func newSealJSON(s *outbox.Seal) sealJSON {
	row := sealJSON{ID: s.ID.String(), LastDigits: s.Number.LastDigits(), State: "waits for a second person", Until: console.FormatTime(s.Until), Waiting: s.Waiting}
	switch {
	case s.Active:
		row.State = "active"
	case time.Now().After(s.Expires):
		row.State = "not confirmed in time"
	}
	return row
}

func (c *commands) sealLiftCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "lift SEAL_ID", Short: "Lift a seal before its date", Args: cobra.ExactArgs(1),
		Long: `Requests that a seal end now. It ends when a second person has confirmed it; while there are neither founders nor two
administrators, at once. What waited is told within seconds, unless the number has another seal.`,
		Example: `  lineproof lines seal lift 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --reason "The court has lifted its order, case 12"`,
	}
	reason := reasonFlag(cmd)
	console.Require(cmd, "reason")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.On(c.Console, "SEAL_ID", func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		pending, err := outbox.LiftSeal(ctx, b.Pool, time.Now(), id, *reason, access.Operator)
		if err == nil {
			err = approval.Waits(pending)
		}
		if err != nil {
			return err
		}
		return c.Print(*asJSON, map[string]string{"sealId": id.String(), "state": "lifted"}, []string{"seal", id.String()}, []string{"state", "lifted"})
	})
	return cmd
}
