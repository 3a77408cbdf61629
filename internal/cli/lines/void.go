package lines

import (
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/supply"
)

func (c *commands) voidCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "void IMPORT", Short: "Void the newest snapshot of a network", Args: cobra.ExactArgs(1),
		Long: `Takes back what a snapshot changed, after it was applied by mistake. Only the newest snapshot of a network can be
voided. The events and restatements that it made are voided, lines that it ended run again, and lines that it added
are withdrawn unless an event has touched them. If it was the first snapshot, the network's supply is no longer
complete, and numbers without a line are UNKNOWN.

No other import of the network can start meanwhile. Continue an interrupted run with the same command.`,
		Example: "  lineproof lines void 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = c.Run(func(cmd *cobra.Command, args []string) error {
		id, err := parseImportID(args[0])
		if err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), c.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		return c.void(cmd, b, id, *asJSON)
	})
	return cmd
}

// void voids a snapshot, and prints the result.
func (c *commands) void(cmd *cobra.Command, b *backend.Backend, id uuid.UUID, asJSON bool) error {
	ctx := cmd.Context()
	display := c.NewCounter()
	im, err := b.Supply.RunVoid(ctx, id, access.Operator, func(im supply.Import) {
		changed := im.Counts.Added + im.Counts.Changed + im.Counts.Ended + im.Counts.Waiting // an estimate
		display.Items("voiding", int(im.Voided), int(max(changed, im.Voided)))
	})
	display.End()
	if err != nil {
		if im.State == supply.Voiding {
			c.Note("The snapshot is not voided completely. Continue with: lineproof lines void %s", id)
		}
		return err
	}
	plan, err := numbering.Current(ctx, b.Pool, time.Now())
	if err != nil {
		return err
	}
	s := newImportJSON(plan.Code(im.Network), &im)
	return c.Print(asJSON, s, []string{"import", s.ID}, []string{"state", s.State}, []string{"lines voided", strconv.FormatInt(s.Voided, 10)})
}
