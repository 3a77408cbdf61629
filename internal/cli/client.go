package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

func (a *app) clientCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:     "client",
		Short:   "Create, list, suspend and revoke clients, and rotate their secrets",
		Long:    "A client is a program of a telco that the regulator has pre-approved. It gets access tokens with its id and secret.",
		Example: "  lineproof client create --name 'Example Telecom' --scope entity:onboard --scope document:upload",
	}, a.clientCreateCommand(), a.clientListCommand(), a.clientSecretCommand(), a.clientSuspendCommand(), a.clientResumeCommand(), a.clientRevokeCommand())
}

// newClientJSON is a client that was just created, as printed with --json.
type newClientJSON struct {
	ID     string   `json:"clientId"`
	Secret string   `json:"clientSecret"`
	Scopes []string `json:"scopes"`
	// Approval must be confirmed before the client gets the scopes that it lacks.
	Approval string `json:"approvalId,omitempty"`
}

func (a *app) clientCreateCommand() *cobra.Command {
	var form access.ClientForm
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a client and print its secret once",
		Long: `Creates a client and prints its id and secret. Only a hash of the secret is stored, so it cannot be shown again.

It takes two people to give a client line:supply, line:port, line:flag or line:order: it is created without these scopes and
gets them when a second person has confirmed it. The exit code is 7 then. While there are neither founders nor two
administrators, the client has all its scopes at once.`,
		Example: "  lineproof client create --name 'Example Telecom' --scope entity:onboard --scope document:upload",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Name, "name", "", "name of the client's owner")
	flags.StringSliceVar(&form.Scopes, "scope", nil, "scope of the client: "+strings.Join(scopes(), ", ")+"; may be repeated")
	flags.StringVar(&form.Network, "network", "", "network for which the client may supply lines")
	flags.BoolVar(&form.Vouches, "vouches", false, "admins that this client onboards are verified from the start")
	flags.BoolVar(&form.Sole, "sole", false, "the client onboards its own organisation and no other; that organisation's admins change its secrets")
	reason := console.ReasonFlag(cmd)
	console.Require(cmd, "name", "scope")
	console.Complete(cmd, "scope", scopes()...)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		form.Reason = *reason
		c, err := b.Access.CreateClient(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		created := newClientJSON{c.ID.String(), c.Secret.Reveal(), c.Scopes, console.FormatID(c.Pending)}
		a.Note("Save the secret now: it is not shown again.")
		err = a.Print(*asJSON, created, []string{"client id", created.ID}, []string{"client secret", created.Secret})
		return errors.Join(err, approval.Waits(c.Pending))
	})
	return cmd
}

func scopes() []string {
	words := make([]string, len(access.Scopes))
	for i, s := range access.Scopes {
		words[i] = string(s)
	}
	return words
}

// clientJSON is a client as printed with --json.
type clientJSON struct {
	ID          string   `json:"clientId"`
	Name        string   `json:"name"`
	Scopes      []string `json:"scopes"`
	Network     string   `json:"network,omitempty"`
	Vouches     bool     `json:"vouches"`
	Sole        bool     `json:"sole"`
	Suspended   bool     `json:"suspended"`
	Revoked     bool     `json:"revoked"`
	CreatedAt   string   `json:"createdAt"`
	LastTokenAt string   `json:"lastTokenAt,omitempty"`
}

func (a *app) clientListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List all clients, oldest first",
		Long:    "Lists all clients, including revoked ones, with the time of each client's last token request.",
		Example: "  lineproof client list --json",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		clients, err := b.Access.Clients(cmd.Context())
		if err != nil {
			return err
		}
		return console.List(a.Console, *asJSON, clients, newClientRow,
			"CLIENT ID, NAME, SCOPES, NETWORK, VOUCHES, STATUS, LAST TOKEN", func(c *clientJSON) []any {
				return []any{c.ID, c.Name, strings.Join(c.Scopes, ","), c.Network, c.Vouches, c.status(), c.LastTokenAt}
			})
	})
	return cmd
}

func newClientRow(c *access.ClientRow) clientJSON {
	return clientJSON{
		c.ID.String(), c.Name, c.Scopes, c.Network, c.Vouches, c.Sole, c.Suspended, c.Revoked, console.FormatTime(c.CreatedAt), console.FormatTime(c.LastTokenAt),
	}
}

func (c *clientJSON) status() string {
	switch {
	case c.Revoked:
		return "revoked"
	case c.Suspended:
		return "suspended"
	}
	return "active"
}

func (a *app) clientSuspendCommand() *cobra.Command {
	return a.clientChange(&cobra.Command{
		Use:     "suspend ID",
		Short:   "Suspend a client and its tokens until it is resumed",
		Long:    "Suspends a client: within five seconds every node refuses its tokens, and it gets no new ones. Its entities are not affected.",
		Example: "  lineproof client suspend 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, "The client %s is suspended.", (*access.Service).SuspendClient)
}

func (a *app) clientResumeCommand() *cobra.Command {
	return a.clientChange(&cobra.Command{
		Use:     "resume ID",
		Short:   "Resume a suspended client",
		Long:    "Resumes a suspended client. Its secrets, and its tokens that have not expired, work again.",
		Example: "  lineproof client resume 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, "The client %s is resumed.", (*access.Service).ResumeClient)
}

func (a *app) clientRevokeCommand() *cobra.Command {
	return a.clientChange(&cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a client and all its tokens permanently",
		Long:    "Revokes a client and all its access tokens. This cannot be undone; create a new client instead.",
		Example: "  lineproof client revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, "The client %s and its tokens are revoked.", (*access.Service).RevokeClient)
}

// clientChange is a command that changes one client; done is the message.
func (a *app) clientChange(cmd *cobra.Command, done string, change func(*access.Service, context.Context, uuid.UUID, audit.Actor, uuid.UUID) error) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = backend.On(a.Console, "ID", func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		if err := change(b.Access, ctx, id, access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.Note(done, id)
		return nil
	})
	return cmd
}

// exactIDs requires a UUID for each name. Cobra checks it before the command
// opens the database.
func exactIDs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(len(names))(cmd, args); err != nil {
			return err
		}
		for i, name := range names {
			if _, err := console.ParseID(name, args[i]); err != nil {
				return err
			}
		}
		return nil
	}
}
