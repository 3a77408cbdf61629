package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) entityCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "entity",
		Short:   "Make an organisation that asks",
		Long:    "An organisation that asks, such as a bank, holds the API keys with which numbers are verified. Telcos come in over the API instead.",
		Example: "  lineproof entity create --name 'Harbour Bank' --cac RC123456",
	}
	cmd.AddCommand(a.entityCreateCommand())
	return cmd
}

func (a *app) entityCreateCommand() *cobra.Command {
	var name, cac string
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Make an organisation that asks and print its entityUid",
		Long:    "Makes an organisation that asks, such as a bank, and prints its entityUid. Give it a key with: lineproof key create",
		Example: "  lineproof entity create --name 'Harbour Bank' --cac RC123456",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&name, "name", "", "the organisation's name")
	cmd.Flags().StringVar(&cac, "cac", "", "its number in the companies register")
	required(cmd, "name", "cac")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		e, err := p.registry.CreateAsker(cmd.Context(), name, cac)
		if err != nil {
			return err
		}
		return a.print(*asJSON, map[string]string{"entityUid": e.ID.String()}, []string{e.ID.String()})
	})
	return cmd
}
