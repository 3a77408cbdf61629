package lines

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (c *commands) voidCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "void IMPORT", Short: "Void the newest snapshot of a network",
		Long: `Takes back what a snapshot changed, after it was applied by mistake. Only the newest snapshot of a network can be
voided. The events and restatements that it made are voided, lines that it ended run again, and lines that it added
are withdrawn unless an event has touched them. If it was the first snapshot, the network's supply is no longer
complete, and numbers without a line are UNKNOWN.

It takes two people: the first call requests it. Once a second person has confirmed it, the same command carries it out;
while there are neither founders nor two administrators, the first call does. No other import of the network can start
meanwhile. Continue an interrupted run with the same command.`,
		Example: "  lineproof lines void 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 --reason 'An old file with a new date'",
	}
	reason := reasonFlag(cmd)
	return c.decideCommand(cmd, func(s *supply.Service, ctx context.Context, id uuid.UUID, by audit.Actor) (supply.Import, error) {
		im, err := s.Import(ctx, id)
		if err != nil {
			return supply.Import{}, err
		}
		if im.State != supply.Voiding {
			pending, err := (&order.Service{Supply: s}).VoidSnapshot(ctx, order.ImportDecision{Import: id, Reason: *reason, By: by})
			if err == nil {
				err = approval.Waits(pending)
			}
			if err != nil {
				return im, err
			}
		}
		return c.void(ctx, s, id)
	})
}

// void voids a snapshot, and shows how far it is.
func (c *commands) void(ctx context.Context, s *supply.Service, id uuid.UUID) (supply.Import, error) {
	display := c.NewCounter()
	im, err := s.VoidSnapshot(ctx, id, func(im supply.Import) {
		changed := im.Counts.Added + im.Counts.Changed + im.Counts.Ended + im.Counts.Waiting // an estimate
		display.Items("voiding", int(im.Voided), int(max(changed, im.Voided)))
	})
	display.End()
	if err != nil && im.State == supply.Voiding {
		c.Note("The snapshot is not voided completely. Continue with: lineproof lines void %s", id)
	}
	return im, err
}
