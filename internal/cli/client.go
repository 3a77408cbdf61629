package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
)

func (a *app) clientCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "client",
		Short:   "Make, list, suspend and revoke clients, and rotate their secrets",
		Long:    "A client is a program of a telco that the regulator has approved beforehand: it gets access tokens for its id and secret.",
		Example: "  lineproof client create --name 'Example Telecom' --scope entity:onboard --scope document:upload",
	}
	cmd.AddCommand(a.clientCreateCommand(), a.clientListCommand(), a.clientSecretCommand(), a.clientSuspendCommand(), a.clientResumeCommand(), a.clientRevokeCommand())
	return cmd
}

// newClient is what programs read after a client was made.
type newClient struct {
	ID     string   `json:"clientId"`
	Secret string   `json:"clientSecret"`
	Scopes []string `json:"scopes"`
}

func (a *app) clientCreateCommand() *cobra.Command {
	var form access.ClientForm
	cmd := &cobra.Command{
		Use:     "create",
		Short:   "Make a client and print its secret once",
		Long:    "Makes a client and prints its id and its secret. The secret is stored as a hash only and cannot be shown again.",
		Example: "  lineproof client create --name 'Example Telecom' --scope entity:onboard --scope document:upload",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Name, "name", "", "whose client it is")
	flags.StringSliceVar(&form.Scopes, "scope", nil, "what it may do: "+strings.Join(scopes(), ", ")+"; may be repeated")
	flags.StringVar(&form.Network, "network", "", "the network for which it may supply lines")
	flags.BoolVar(&form.Vouches, "vouches", false, "admins whom it brings in count as verified from the start")
	required(cmd, "name", "scope")
	completes(cmd, "scope", scopes()...)
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		c, err := p.keeper.CreateClient(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		made := newClient{c.ID.String(), c.Secret.Reveal(), c.Scopes}
		a.note("Keep the secret now: it is not shown again.")
		return a.print(*asJSON, made, []string{"client id", made.ID}, []string{"client secret", made.Secret})
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

// listedClient is a client as programs read it.
type listedClient struct {
	ID          string   `json:"clientId"`
	Name        string   `json:"name"`
	Scopes      []string `json:"scopes"`
	Network     string   `json:"network,omitempty"`
	Vouches     bool     `json:"vouches"`
	Suspended   bool     `json:"suspended"`
	Revoked     bool     `json:"revoked"`
	CreatedAt   string   `json:"createdAt"`
	LastTokenAt string   `json:"lastTokenAt,omitempty"`
}

func (a *app) clientListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List all clients, oldest first",
		Long:    "Lists all clients, revoked ones included, with the time at which each last asked for a token.",
		Example: "  lineproof client list --json",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		clients, err := p.keeper.Clients(cmd.Context())
		if err != nil {
			return err
		}
		list := make([]listedClient, 0, len(clients))
		rows := [][]string{{"CLIENT ID", "NAME", "SCOPES", "NETWORK", "VOUCHES", "STANDS", "LAST TOKEN"}}
		for _, c := range clients {
			list = append(list, listedClient{
				c.ID.String(), c.Name, c.Scopes, c.Network, c.Vouches, c.Suspended, c.Revoked, moment(c.CreatedAt), moment(c.LastTokenAt),
			})
			stands := "yes"
			switch {
			case c.Revoked:
				stands = "revoked"
			case c.Suspended:
				stands = "suspended"
			}
			rows = append(rows, []string{
				c.ID.String(), c.Name, strings.Join(c.Scopes, ","), c.Network, strconv.FormatBool(c.Vouches), stands, moment(c.LastTokenAt),
			})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

func (a *app) clientSuspendCommand() *cobra.Command {
	return a.clientChange(&cobra.Command{
		Use:     "suspend ID",
		Short:   "Stop a client and its tokens until it is resumed",
		Long:    "Stops a client: within five seconds every node refuses its tokens, and it gets no new ones. Its entities are not touched.",
		Example: "  lineproof client suspend 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, "The client %s is suspended.", (*access.Keeper).SuspendClient)
}

func (a *app) clientResumeCommand() *cobra.Command {
	return a.clientChange(&cobra.Command{
		Use:     "resume ID",
		Short:   "Let a suspended client go on",
		Long:    "Lets a suspended client go on, with its secrets and those of its tokens that have not expired.",
		Example: "  lineproof client resume 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, "The client %s goes on.", (*access.Keeper).ResumeClient)
}

func (a *app) clientRevokeCommand() *cobra.Command {
	return a.clientChange(&cobra.Command{
		Use:     "revoke ID",
		Short:   "End a client and every token that it holds, for good",
		Long:    "Ends a client and every access token that it holds. It cannot be undone; make a new client instead.",
		Example: "  lineproof client revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, "The client %s and its tokens are revoked.", (*access.Keeper).RevokeClient)
}

// clientChange is a command that does one thing to one client, and says so.
func (a *app) clientChange(cmd *cobra.Command, done string, change func(*access.Keeper, context.Context, uuid.UUID, audit.Actor, uuid.UUID) error) *cobra.Command {
	cmd.Args = exactIDs("ID")
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		id, err := parseID("ID", args[0])
		if err != nil {
			return err
		}
		if err := change(p.keeper, cmd.Context(), id, access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.note(done, id)
		return nil
	})
	return cmd
}

// exactIDs wants an id for each name, before anything is opened.
func exactIDs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(len(names))(cmd, args); err != nil {
			return err
		}
		for i, name := range names {
			if _, err := parseID(name, args[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// parseID reads an id from the command line.
func parseID(what, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, usagef("%s is not a UUID", what)
	}
	return id, nil
}
