package cli

import (
	"net/mail"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func (a *app) staffFoundCommand() *cobra.Command {
	var founders, passwordFiles []string
	cmd := &cobra.Command{
		Use:   "found",
		Short: "Enrol the founders: the first two to five administrators, together",
		Long: `Enrols the founders and prints their ids: two to five administrators, while there is no staff yet. Do it once, with all of
them at this machine: each chooses a password in front of the others, so that nobody gave another access alone, and they
count as independent people from the first day. From then on the operator does nothing alone that takes two people.

Each founder's password is prompted for twice on a terminal, in the order of the founders. Without a terminal, give one
--password-file for each. It is never an argument, where other users of the machine could read it.`,
		Example: `  lineproof staff found --founder 'Ada Obi <ada@regulator.example>' --founder 'Bola Ade <bola@regulator.example>'`,
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringArrayVar(&founders, "founder", nil, "a founder, as: Name <e-mail address>; once for each")
	cmd.Flags().StringArrayVar(&passwordFiles, "password-file", nil, "file whose first line is the password of a founder; once for each, in their order")
	console.Require(cmd, "founder")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		_, interactive := console.Terminal(a.Env.Stdin)
		if len(passwordFiles) != len(founders) && (len(passwordFiles) > 0 || !interactive) {
			return console.Usagef("give one --password-file for each --founder")
		}
		forms := make([]registry.StaffForm, len(founders))
		for i, text := range founders {
			who, err := mail.ParseAddress(text)
			if err != nil || who.Name == "" {
				return console.Usagef("--founder must be like: Ada Obi <ada@regulator.example>")
			}
			file := ""
			if len(passwordFiles) > 0 {
				file = passwordFiles[i]
			} else {
				a.Note("Password of founder %d, %s:", i+1, who.Name)
			}
			forms[i] = registry.StaffForm{Name: who.Name, Email: who.Address}
			if forms[i].Password, err = a.ReadNewPassword(cmd.Context(), file); err != nil {
				return err
			}
		}
		ids, err := b.Registry.Found(cmd.Context(), forms, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		rows, list := make([][]string, len(ids)), make([]string, len(ids))
		for i, id := range ids {
			rows[i], list[i] = []string{id.String()}, id.String()
		}
		return a.Print(*asJSON, map[string]any{"accountIds": list}, rows...)
	})
	return cmd
}
