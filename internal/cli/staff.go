package cli

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

func (a *app) staffCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:     "staff",
		Short:   "Create accounts of the regulator's staff",
		Long:    "Accounts of the regulator's staff. Enrol the founders here; others can be invited. To manage existing accounts: lineproof account",
		Example: "  lineproof staff found --founder 'Ada Obi <ada@regulator.example>' --founder 'Bola Ade <bola@regulator.example>'",
	}, a.staffFoundCommand(), a.staffCreateCommand(), a.staffRoleCommand())
}

func (a *app) staffCreateCommand() *cobra.Command {
	var form registry.StaffForm
	var passwordFile string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create an account of the regulator's staff and print its id",
		Long: `Creates an account of the regulator's staff and prints its id. Enrol the first people with "lineproof staff found" instead:
the operator and a person whom the operator alone created do not count as two people. An administrator or a reviewer has the role
auditor until an administrator confirms the role, and with it who the person is.

The password is read from --password-file. Without that flag the command prompts for it twice on a terminal, or else
reads the first line of standard input. It is never an argument, where other users of the machine could read it.`,
		Example: `  lineproof staff create --name 'Ada Obi' --email ada@regulator.example --role administrator
  lineproof staff create --name 'Ada Obi' --email ada@regulator.example --role auditor --password-file ./password`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Name, "name", "", "name of the person")
	flags.StringVar(&form.Email, "email", "", "e-mail address of the person, used to log in")
	flags.StringVar(&form.Role, "role", "", "administrator, reviewer or auditor")
	flags.StringVar(&passwordFile, "password-file", "", "file whose first line is the password; - is standard input")
	console.Require(cmd, "name", "email", "role")
	console.Complete(cmd, "role", "administrator", "reviewer", "auditor")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) (err error) {
		if form.Password, err = a.ReadNewPassword(cmd.Context(), passwordFile); err != nil {
			return err
		}
		created, err := b.Registry.CreateStaff(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		if created.Pending != uuid.Nil {
			a.Note("The account has the role auditor until an administrator confirms approval %s. See: lineproof approval list", created.Pending)
		}
		return a.Print(*asJSON, map[string]string{"accountId": created.ID.String()}, []string{created.ID.String()})
	})
	return cmd
}
