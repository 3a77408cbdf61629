package cli

import (
	"errors"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/approval"
)

func (a *app) clientSecretCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:     "secret",
		Short:   "Rotate the secrets of a client",
		Long:    "A client has one secret, or two during a rotation.",
		Example: "  lineproof client secret add 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, a.secretAddCommand(), a.secretListCommand(), a.secretRevokeCommand())
}

func (a *app) secretAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add CLIENT",
		Short: "Add a second secret to a client and print it once",
		Long: `Adds a second secret to a client and prints it. The first one stays valid until it is revoked.

If the client has line:supply, line:port, line:flag or line:order, it takes two people: the secret works when a second
person has confirmed it. The exit code is 7 then.`,
		Example: "  lineproof client secret add 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    exactIDs("CLIENT"),
	}
	reason, asJSON := console.ReasonFlag(cmd), console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		client, err := console.ParseID("CLIENT", args[0])
		if err != nil {
			return err
		}
		s, err := b.Access.AddSecret(cmd.Context(), client, *reason, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		a.Note("Save the secret now: it is not shown again. When the client uses it, revoke the other one.")
		created := map[string]string{"secretId": s.ID.String(), "clientSecret": s.Text.Reveal()}
		err = a.Print(*asJSON, created, []string{"secret id", s.ID.String()}, []string{"client secret", s.Text.Reveal()})
		return errors.Join(err, approval.Waits(s.Pending))
	})
	return cmd
}

// secretJSON is a client's secret as printed with --json.
type secretJSON struct {
	ID         string `json:"secretId"`
	Preview    string `json:"preview"`
	CreatedAt  string `json:"createdAt"`
	LastUsedAt string `json:"lastUsedAt,omitempty"`
}

func (a *app) secretListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list CLIENT",
		Short:   "List the secrets of a client, oldest first",
		Long:    "Lists the active secrets of a client, with the time of last use. Revoke the old secret when only the new one is used.",
		Example: "  lineproof client secret list 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    exactIDs("CLIENT"),
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		client, err := console.ParseID("CLIENT", args[0])
		if err != nil {
			return err
		}
		secrets, err := b.Access.Secrets(cmd.Context(), client)
		if err != nil {
			return err
		}
		list := make([]secretJSON, 0, len(secrets))
		rows := [][]string{{"SECRET ID", "SECRET", "CREATED", "LAST USED"}}
		for _, s := range secrets {
			list = append(list, secretJSON{s.ID.String(), s.Preview, console.FormatTime(s.CreatedAt), console.FormatTime(s.LastUsedAt)})
			rows = append(rows, []string{s.ID.String(), s.Preview, console.FormatTime(s.CreatedAt), console.FormatTime(s.LastUsedAt)})
		}
		return a.Print(*asJSON, list, rows...)
	})
	return cmd
}

func (a *app) secretRevokeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke CLIENT SECRET",
		Short: "Revoke one secret of a client permanently",
		Long: `Revokes one secret of a client. Tokens that were issued for it end within five seconds. If no other secret of the client was ever
used, the client would be locked out: that is done only with --in-use.`,
		Example: "  lineproof client secret revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 0199d2f4-7b10-7d2f-8c55-0e1f2a3b4c5d",
		Args:    exactIDs("CLIENT", "SECRET"),
	}
	inUse := cmd.Flags().Bool("in-use", false, "also if the client uses no other secret")
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		client, err := console.ParseID("CLIENT", args[0])
		if err != nil {
			return err
		}
		id, err := console.ParseID("SECRET", args[1])
		if err != nil {
			return err
		}
		secrets, err := b.Access.Secrets(cmd.Context(), client)
		if err != nil {
			return err
		}
		if !*inUse && locksOut(secrets, id) {
			return console.Usagef("the client uses this secret, and none of its others was ever used: it would be locked out. If that is meant, because the secret has leaked, add --in-use")
		}
		if err := b.Access.RevokeSecret(cmd.Context(), client, id, access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.Note("The secret %s is revoked.", id)
		return nil
	})
	return cmd
}

// locksOut reports whether a secret is the only one of its client that was ever used.
func locksOut(secrets []access.SecretRow, id uuid.UUID) bool {
	used := false
	for _, s := range secrets {
		switch {
		case s.LastUsedAt.IsZero():
		case s.ID != id:
			return false
		default:
			used = true
		}
	}
	return used
}
