package cli

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/registry"
)

func (a *app) staffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "staff",
		Short:   "Make accounts of the regulator's staff",
		Long:    "Accounts of the regulator's staff. The first one is made here; others can be invited. What is done with them later: lineproof account",
		Example: "  lineproof staff create --name 'Ada Obi' --email ada@regulator.example --role administrator",
	}
	cmd.AddCommand(a.staffCreateCommand(), a.staffRoleCommand())
	return cmd
}

func (a *app) staffCreateCommand() *cobra.Command {
	var form registry.StaffForm
	var passwordFile string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make an account of the regulator's staff and print its id",
		Long: `Makes an account of the regulator's staff and prints its id.

The password is read from --password-file; without that it is asked for twice on a terminal, and else it is the
first line of standard input. It is never an argument, where other users of the machine could read it.`,
		Example: `  lineproof staff create --name 'Ada Obi' --email ada@regulator.example --role administrator
  lineproof staff create --name 'Ada Obi' --email ada@regulator.example --role auditor --password-file ./password`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Name, "name", "", "the person's name")
	flags.StringVar(&form.Email, "email", "", "the person's e-mail address, with which they log in")
	flags.StringVar(&form.Role, "role", "", "administrator, reviewer or auditor")
	flags.StringVar(&passwordFile, "password-file", "", "file whose first line is the password; - is standard input")
	required(cmd, "name", "email", "role")
	completes(cmd, "role", "administrator", "reviewer", "auditor")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) (err error) {
		if form.Password, err = a.newPassword(cmd.Context(), passwordFile); err != nil {
			return err
		}
		made, err := p.registry.CreateStaff(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		if made.Waits != uuid.Nil {
			a.note("The account is an auditor's until an administrator has confirmed %s. See: lineproof approval list", made.Waits)
		}
		return a.print(*asJSON, map[string]string{"accountId": made.ID.String()}, []string{made.ID.String()})
	})
	return cmd
}
