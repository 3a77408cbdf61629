package cli

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (a *app) journalHoldCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "hold",
		Short: "Keep records from being erased",
		Long: `A legal hold keeps the records about a number, or those of an organisation, from being erased: because a court or an
investigation needs them. It lasts until it is ended.`,
		Example: "  lineproof journal hold list",
	}, a.holdPlaceCommand(), a.holdListCommand(), a.holdEndCommand())
}

func (a *app) holdPlaceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "place",
		Short: "Place a hold on a number or an organisation",
		Long:  "Places a hold. The number is read from a file or from standard input, so that it is in no list of processes and no history of a shell.",
		Example: `  lineproof journal hold place --number-file - --reason "order of the Federal High Court, FHC/L/CS/114/2026"
  lineproof journal hold place --entity 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11 --reason "investigation 2026-17"`,
		Args: cobra.NoArgs,
	}
	numberFile := cmd.Flags().String("number-file", "", "file whose first line is the number; - is standard input")
	var of uuid.UUID
	console.IDFlag(cmd, &of, "entity", "id of the organisation")
	reason := cmd.Flags().String("reason", "", "the reason, without the number; it is recorded")
	console.Require(cmd, "reason")
	session := sessionFlag(cmd)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		number, err := a.readMobile(b, *numberFile, *session)
		if err != nil {
			return err
		}
		by, err := a.actor(cmd.Context(), b, *session)
		if err != nil {
			return err
		}
		id, err := erasures(b).PlaceHold(cmd.Context(), number, of, *reason, by)
		if err != nil {
			return err
		}
		return a.Print(*asJSON, map[string]string{"holdId": id.String()}, []string{"hold", id.String()})
	})
	return cmd
}

// holdJSON is a hold, as printed with --json. It does not show the number.
type holdJSON struct {
	ID       string `json:"holdId"`
	On       string `json:"on"` // number, or the id of an organisation
	Reason   string `json:"reason"`
	PlacedAt string `json:"placedAt"`
	EndedAt  string `json:"endedAt,omitempty"`
}

func (a *app) holdListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List holds, newest first", Args: cobra.NoArgs, Example: "  lineproof journal hold list",
		Long: "Lists holds. It does not show the numbers.",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		all, err := erasure.Holds(cmd.Context(), b.Pool)
		if err != nil {
			return err
		}
		return console.List(a.Console, *asJSON, all, newHoldJSON, "HOLD, ON, PLACED, ENDED, REASON", func(h *holdJSON) []any {
			return []any{h.ID, h.On, h.PlacedAt, h.EndedAt, h.Reason}
		})
	})
	return cmd
}

func newHoldJSON(h *erasure.Hold) holdJSON {
	s := holdJSON{ID: h.ID.String(), On: "number", Reason: h.Reason, PlacedAt: console.FormatTime(h.Placed), EndedAt: console.FormatTime(h.Ended)}
	if h.Entity != uuid.Nil {
		s.On = "organisation " + h.Entity.String()
	}
	return s
}

func (a *app) holdEndCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "end HOLD", Short: "End a hold", Args: cobra.ExactArgs(1), Example: "  lineproof journal hold end 0198c5f0-5d3c-7a51-9f0e-2b8e6a3f4c11",
		Long: "Ends a hold. What it kept can then be erased: request it again, or wait for the policy.",
	}
	session := sessionFlag(cmd)
	cmd.RunE = a.runAsActor("HOLD", session, func(ctx context.Context, b *backend.Backend, id uuid.UUID, by audit.Actor) error {
		return erasures(b).EndHold(ctx, id, by)
	})
	return cmd
}
