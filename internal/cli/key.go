package cli

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func (a *app) keyCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:     "key",
		Short:   "Create, list, roll and revoke API keys",
		Long:    "An application of an organisation verifies phone numbers with an API key.",
		Example: "  lineproof key create --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --name 'account opening'",
	}, a.keyCreateCommand(), a.keyListCommand(), a.keyRollCommand(), a.keyRevokeCommand())
}

func (a *app) keyCreateCommand() *cobra.Command {
	form := access.KeyForm{Mode: access.Live}
	var test bool
	var networks []string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create an API key and print it once",
		Long: `Creates an API key for an application of an organisation and prints only the key on standard output.
Only a hash of the key is stored, so it cannot be shown again.

With --test it is a test key: it works for test numbers only, has a test clock, and never reads real lines.`,
		Example: `  lineproof key create --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --name 'account opening'
  lineproof key create --entity "$ENTITY" --name trial --expires 720h > key.txt
  lineproof key create --entity "$ENTITY" --name payments --network 192.0.2.0/24 --rate 200 --burst 400 > key.txt
  lineproof key create --entity "$ENTITY" --name pipeline --test > test-key.txt`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	console.RequiredIDFlag(cmd, &form.Entity, "entity", "entityUid of the organisation")
	flags.StringVar(&form.Name, "name", "", "name of the application that uses the key")
	flags.StringVar(&form.Purpose, "purpose", "", "purpose of the verifications, as recorded in the journal: a code of the policy such as payment, or any words")
	flags.DurationVar(&form.Expires, "expires", 0, "lifetime of the key, such as 720h; 0 means until it is revoked (default: a year, or for a test key until it is revoked)")
	flags.StringSliceVar(&networks, "network", nil, "IP network from which the key may be used, such as 192.0.2.0/24; may be repeated (default: any)")
	flags.Float64Var(&form.Rate, "rate", 0, "requests per second (default: from the settings)")
	flags.IntVar(&form.Burst, "burst", 0, "burst of requests (default: from the settings)")
	flags.StringSliceVar(&form.Rights, "right", nil, "what the key may do beyond verifying: watch (change watch-lists), feed (read the feed of events, change webhook endpoints) or jobs (send files of numbers); may be repeated")
	flags.BoolVar(&test, "test", false, "create a test key (lp_test_...), which works for test numbers only")
	console.Require(cmd, "name")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
		if test {
			form.Mode = access.Test
		}
		if form.Networks, err = parseNetworks(networks); err != nil {
			return err
		}
		if cmd.Flags().Changed("expires") {
			switch {
			case form.Expires == 0:
				form.Expires = access.NoExpiry
			case form.Expires < time.Second:
				return console.Usagef("--expires must be at least 1s, or 0 for a key that is valid until it is revoked")
			}
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		key, err := b.Access.CreateKey(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.printNewKey(key, *asJSON)
	})
	return cmd
}

// printNewKey prints a key that was just created. It is never shown again.
func (a *app) printNewKey(key access.NewKey, asJSON bool) error {
	a.Note("Save the key now: it is not shown again. Its id is %s.", key.ID)
	if asJSON {
		return a.PrintJSON(map[string]string{"keyId": key.ID.String(), "apiKey": key.Text.Reveal()})
	}
	fmt.Fprintln(a.Out, key.Text.Reveal())
	return nil
}

// parseNetworks reads IP networks from the command line; a single address is a
// network of one.
func parseNetworks(list []string) ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, 0, len(list))
	for _, text := range list {
		network, err := access.ParseNetwork(text)
		if err != nil {
			return nil, console.Usagef("--network %q is not an IP network such as 192.0.2.0/24", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

func (a *app) keyRollCommand() *cobra.Command {
	var overlap time.Duration
	cmd := &cobra.Command{
		Use:   "roll ID",
		Short: "Replace an API key and print the new one once",
		Long: `Creates a key with the same rights and prints only the key on standard output. The old key expires after --overlap, so
that there is time to deploy the new one; without it, the old key expires now.`,
		Example: `  lineproof key roll 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --overlap 48h > key.txt`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().DurationVar(&overlap, "overlap", 0, "how long both keys are valid, at most 168h")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.On(a.Console, "ID", func(ctx context.Context, b *backend.Backend, id uuid.UUID) error {
		key, err := b.Access.RollKey(ctx, uuid.Nil, id, overlap, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.printNewKey(key, *asJSON)
	})
	return cmd
}

// keyJSON is an API key as printed with --json.
type keyJSON struct {
	ID           string         `json:"keyId"`
	EntityUID    string         `json:"entityUid"`
	Entity       string         `json:"entity"`
	Name         string         `json:"name"`
	Mode         string         `json:"mode"`
	Purpose      string         `json:"purpose"`
	PurposeCode  string         `json:"purposeCode"`
	Preview      string         `json:"preview"`
	Networks     []netip.Prefix `json:"networks,omitempty"`
	Rate         float64        `json:"rate,omitempty"`
	Burst        int            `json:"burst,omitempty"`
	Rights       []string       `json:"rights,omitempty"`
	CreatedAt    string         `json:"createdAt"`
	CreatedBy    string         `json:"createdBy,omitempty"`
	ExpiresAt    string         `json:"expiresAt,omitempty"`
	RevokedAt    string         `json:"revokedAt,omitempty"`
	RevokedBy    string         `json:"revokedBy,omitempty"`
	LastUsedAt   string         `json:"lastUsedAt,omitempty"`
	LastUsedFrom string         `json:"lastUsedFrom,omitempty"`
	Replaces     string         `json:"replaces,omitempty"`
	status       string
}

func newKeyJSON(k *access.KeyRow) keyJSON {
	return keyJSON{
		ID: k.ID.String(), EntityUID: k.EntityID.String(), Entity: k.Entity, Name: k.Name, Mode: k.Mode, Purpose: k.PurposeWords(), PurposeCode: k.Purpose, Preview: k.Preview,
		Networks: k.Networks, Rate: k.Rate, Burst: k.Burst, Rights: k.Rights, CreatedAt: console.FormatTime(k.CreatedAt), CreatedBy: console.FormatID(k.CreatedBy), ExpiresAt: console.FormatTime(k.ExpiresAt),
		RevokedAt: console.FormatTime(k.RevokedAt), RevokedBy: console.FormatID(k.RevokedBy), LastUsedAt: console.FormatTime(k.LastUsedAt), LastUsedFrom: k.LastUsedFrom, Replaces: console.FormatID(k.Replaces), status: keyStatus(k, time.Now()),
	}
}

func (a *app) keyListCommand() *cobra.Command {
	var entity uuid.UUID
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List API keys, oldest first",
		Long:    "Lists the API keys of one or all organisations, including revoked and expired ones. Only the beginning and the end of a key are shown.",
		Example: "  lineproof key list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.NoArgs,
	}
	console.IDFlag(cmd, &entity, "entity", "entityUid of the organisation (default: all)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		keys, err := b.Access.Keys(cmd.Context(), entity)
		if err != nil {
			return err
		}
		return console.List(a.Console, *asJSON, keys, newKeyJSON,
			"KEY ID, ORGANISATION, APPLICATION, KEY, STATUS, RIGHTS, PURPOSE, LAST USED", func(k *keyJSON) []any {
				return []any{k.ID, k.Entity, k.Name, k.Preview, k.status, strings.Join(k.Rights, " "), k.Purpose, k.LastUsedAt}
			})
	})
	return cmd
}

func keyStatus(k *access.KeyRow, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case k.ExpiresAt.IsZero():
		return "active"
	case k.ExpiresAt.Before(now):
		return "expired"
	}
	return "until " + console.FormatTime(k.ExpiresAt)
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID|-",
		Short: "Revoke an API key permanently",
		Long: `Revokes an API key: within five seconds every node refuses requests with it. This cannot be undone; create a new key
instead. With - the key itself is read from standard input, for a key that has leaked.`,
		Example: `  lineproof key revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40
  lineproof key revoke - < leaked.txt`,
		Args: cobra.ExactArgs(1),
		RunE: backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
			id, err := a.parseKey(cmd, b, args[0])
			if err != nil {
				return err
			}
			if err := b.Access.RevokeKey(cmd.Context(), uuid.Nil, id, access.Operator, uuid.Nil); err != nil {
				return err
			}
			a.Note("The key %s is revoked.", id)
			return nil
		}),
	}
}

// parseKey returns the id of the key given as argument or on standard input.
func (a *app) parseKey(cmd *cobra.Command, b *backend.Backend, arg string) (uuid.UUID, error) {
	if arg != "-" {
		return console.ParseID("ID", arg)
	}
	text, err := io.ReadAll(io.LimitReader(a.Env.Stdin, 1<<10))
	if err != nil {
		return uuid.Nil, err
	}
	return b.Access.FindKey(cmd.Context(), secret.Text(strings.TrimSpace(string(text))))
}
