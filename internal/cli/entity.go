package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
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
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		e, err := p.registry.CreateAsker(cmd.Context(), name, cac)
		if err != nil {
			return err
		}
		return a.print(*asJSON, map[string]string{"entityUid": e.ID.String()}, []string{e.ID.String()})
	})
	return cmd
}

func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Make API keys",
		Long:    "An API key lets a program of an organisation verify phone numbers.",
		Example: "  lineproof key create --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --name 'account opening'",
	}
	cmd.AddCommand(a.keyCreateCommand())
	return cmd
}

func (a *app) keyCreateCommand() *cobra.Command {
	form := access.KeyForm{Mode: "live"}
	var entity string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make an API key and print it once",
		Long: `Makes an API key for an application of an organisation and prints it, alone, on standard output.
The key is stored as a hash only and cannot be shown again.`,
		Example: `  lineproof key create --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --name 'account opening'
  lineproof key create --entity "$ENTITY" --name trial --expires 720h > key.txt`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&entity, "entity", "", "entityUid of the organisation")
	flags.StringVar(&form.Name, "name", "", "the application that will use the key")
	flags.StringVar(&form.Purpose, "purpose", "", "what the organisation asks for, as it will stand in the journal")
	flags.DurationVar(&form.Expires, "expires", 0, "how long the key is valid, such as 8760h (default: until it is revoked)")
	required(cmd, "entity", "name")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		if form.Entity, err = parseID("--entity", entity); err != nil {
			return err
		}
		if cmd.Flags().Changed("expires") && form.Expires < time.Second {
			return usagef("--expires is not in the future")
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		key, err := p.keeper.CreateKey(cmd.Context(), form)
		if err != nil {
			return err
		}
		a.note("Keep the key now: it is not shown again. Its id is %s.", key.ID)
		if *asJSON {
			return a.printJSON(map[string]string{"keyId": key.ID.String(), "apiKey": key.Text.Reveal()})
		}
		fmt.Fprintln(a.out, key.Text.Reveal())
		return nil
	})
	return cmd
}
