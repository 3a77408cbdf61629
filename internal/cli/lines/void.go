package lines

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/supply"
)

func (c *commands) voidCommand() *cobra.Command {
	return c.decideCommand(&cobra.Command{
		Use: "void IMPORT", Short: "Void the newest snapshot of a network",
		Long: `Takes back what a snapshot changed, after it was applied by mistake. Only the newest snapshot of a network can be
voided. The events and restatements that it made are voided, lines that it ended run again, and lines that it added
are withdrawn unless an event has touched them. If it was the first snapshot, the network's supply is no longer
complete, and numbers without a line are UNKNOWN.

No other import of the network can start meanwhile. Continue an interrupted run with the same command.`,
		Example: "  lineproof lines void 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11",
	}, func(s *supply.Service, ctx context.Context, id uuid.UUID, by audit.Actor) (supply.Import, error) {
		return c.void(ctx, s, id, by)
	})
}

// void voids a snapshot, and shows how far it is.
func (c *commands) void(ctx context.Context, s *supply.Service, id uuid.UUID, by audit.Actor) (supply.Import, error) {
	display := c.NewCounter()
	im, err := s.VoidSnapshot(ctx, id, by, func(im supply.Import) {
		changed := im.Counts.Added + im.Counts.Changed + im.Counts.Ended + im.Counts.Waiting // an estimate
		display.Items("voiding", int(im.Voided), int(max(changed, im.Voided)))
	})
	display.End()
	if err != nil && im.State == supply.Voiding {
		c.Note("The snapshot is not voided completely. Continue with: lineproof lines void %s", id)
	}
	return im, err
}
