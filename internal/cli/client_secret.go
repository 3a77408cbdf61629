package cli

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
)

func (a *app) clientSecretCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "secret",
		Short:   "Rotate the secrets of a client",
		Long:    "A client has one secret, and two while one takes the place of the other.",
		Example: "  lineproof client secret add 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}
	cmd.AddCommand(a.secretAddCommand(), a.secretListCommand(), a.secretRevokeCommand())
	return cmd
}

func (a *app) secretAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "add CLIENT",
		Short:   "Give a client a second secret and print it once",
		Long:    "Gives a client a second secret and prints it. The first one stands until it is revoked.",
		Example: "  lineproof client secret add 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    exactIDs("CLIENT"),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		client, err := parseID("CLIENT", args[0])
		if err != nil {
			return err
		}
		s, err := p.keeper.AddSecret(cmd.Context(), client, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		a.note("Keep the secret now: it is not shown again. When the client uses it, revoke the other one.")
		made := map[string]string{"secretId": s.ID.String(), "clientSecret": s.Text.Reveal()}
		return a.print(*asJSON, made, []string{"secret id", s.ID.String()}, []string{"client secret", s.Text.Reveal()})
	})
	return cmd
}

// listedSecret is a client's secret as programs read it.
type listedSecret struct {
	ID         string `json:"secretId"`
	Preview    string `json:"preview"`
	CreatedAt  string `json:"createdAt"`
	LastUsedAt string `json:"lastUsedAt,omitempty"`
}

func (a *app) secretListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list CLIENT",
		Short:   "List the secrets of a client, oldest first",
		Long:    "Lists the secrets of a client that stand, and when each was last used: the old one may go when only the new one is.",
		Example: "  lineproof client secret list 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    exactIDs("CLIENT"),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		client, err := parseID("CLIENT", args[0])
		if err != nil {
			return err
		}
		secrets, err := p.keeper.Secrets(cmd.Context(), client)
		if err != nil {
			return err
		}
		list := make([]listedSecret, 0, len(secrets))
		rows := [][]string{{"SECRET ID", "SECRET", "MADE", "LAST USED"}}
		for _, s := range secrets {
			list = append(list, listedSecret{s.ID.String(), s.Preview, moment(s.CreatedAt), moment(s.LastUsedAt)})
			rows = append(rows, []string{s.ID.String(), s.Preview, moment(s.CreatedAt), moment(s.LastUsedAt)})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

func (a *app) secretRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "revoke CLIENT SECRET",
		Short:   "End one secret of a client, for good",
		Long:    "Ends one secret of a client. Tokens that it bought stand until they expire; to end those too, suspend or revoke the client.",
		Example: "  lineproof client secret revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 0199d2f4-7b10-7d2f-8c55-0e1f2a3b4c5d",
		Args:    exactIDs("CLIENT", "SECRET"),
	}
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		client, err := parseID("CLIENT", args[0])
		if err != nil {
			return err
		}
		id, err := parseID("SECRET", args[1])
		if err != nil {
			return err
		}
		if err := p.keeper.RevokeSecret(cmd.Context(), client, id, access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.note("The secret %s is revoked.", id)
		return nil
	})
	return cmd
}
