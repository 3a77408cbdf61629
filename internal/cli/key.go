package cli

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/secret"
)

func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Make, list, roll and revoke API keys",
		Long:    "An API key lets a program of an organisation verify phone numbers.",
		Example: "  lineproof key create --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --name 'account opening'",
	}
	cmd.AddCommand(a.keyCreateCommand(), a.keyListCommand(), a.keyRollCommand(), a.keyRevokeCommand())
	return cmd
}

func (a *app) keyCreateCommand() *cobra.Command {
	form := access.KeyForm{Mode: access.Live}
	var entity string
	var test bool
	var networks []string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make an API key and print it once",
		Long: `Makes an API key for an application of an organisation and prints it, alone, on standard output.
The key is stored as a hash only and cannot be shown again.

With --test it is a key for tests: it is answered for test numbers only, has a test clock, and never sees a line.`,
		Example: `  lineproof key create --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --name 'account opening'
  lineproof key create --entity "$ENTITY" --name trial --expires 720h > key.txt
  lineproof key create --entity "$ENTITY" --name payments --network 192.0.2.0/24 --rate 200 --burst 400 > key.txt
  lineproof key create --entity "$ENTITY" --name pipeline --test > test-key.txt`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&entity, "entity", "", "entityUid of the organisation")
	flags.StringVar(&form.Name, "name", "", "the application that will use the key")
	flags.StringVar(&form.Purpose, "purpose", "", "what the organisation asks for, as it will stand in the journal")
	flags.DurationVar(&form.Expires, "expires", 0, "how long the key is valid, such as 8760h (default: until it is revoked)")
	flags.StringSliceVar(&networks, "network", nil, "a network from which the key may be used, such as 192.0.2.0/24; may be repeated (default: from anywhere)")
	flags.Float64Var(&form.Rate, "rate", 0, "requests a second (default: as the settings say)")
	flags.IntVar(&form.Burst, "burst", 0, "how many of them may come at once (default: as the settings say)")
	flags.BoolVar(&test, "test", false, "make a key for tests (lp_test_...), which is answered for test numbers only")
	required(cmd, "entity", "name")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		if test {
			form.Mode = access.Test
		}
		if form.Entity, err = parseID("--entity", entity); err != nil {
			return err
		}
		if form.Networks, err = parseNetworks(networks); err != nil {
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
		key, err := p.keeper.CreateKey(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.showKey(key, *asJSON)
	})
	return cmd
}

// showKey shows a key that was just made, this once.
func (a *app) showKey(key access.NewKey, asJSON bool) error {
	a.note("Keep the key now: it is not shown again. Its id is %s.", key.ID)
	if asJSON {
		return a.printJSON(map[string]string{"keyId": key.ID.String(), "apiKey": key.Text.Reveal()})
	}
	fmt.Fprintln(a.out, key.Text.Reveal())
	return nil
}

// parseNetworks reads networks from the command line; a lone address is a
// network of one.
func parseNetworks(list []string) ([]netip.Prefix, error) {
	networks := make([]netip.Prefix, 0, len(list))
	for _, text := range list {
		network, err := netip.ParsePrefix(text)
		if address, e := netip.ParseAddr(text); e == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, usagef("--network %q is not a network such as 192.0.2.0/24", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

func (a *app) keyRollCommand() *cobra.Command {
	var overlap time.Duration
	cmd := &cobra.Command{
		Use:   "roll ID",
		Short: "Make the successor of an API key and print it once",
		Long: `Makes a key with the same rights and prints it, alone, on standard output. The old key ends after --overlap, so that
the application can be given the new one meanwhile; without it, the old key ends now.`,
		Example: `  lineproof key roll 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40 --overlap 48h > key.txt`,
		Args:    exactIDs("ID"),
	}
	cmd.Flags().DurationVar(&overlap, "overlap", 0, "for how long both keys stand, at most 168h")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		id, err := parseID("ID", args[0])
		if err != nil {
			return err
		}
		key, err := p.keeper.RollKey(cmd.Context(), uuid.Nil, id, overlap, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		return a.showKey(key, *asJSON)
	})
	return cmd
}

// listedKey is a key as programs read it.
type listedKey struct {
	ID           string         `json:"keyId"`
	EntityUID    string         `json:"entityUid"`
	Entity       string         `json:"entity"`
	Name         string         `json:"name"`
	Mode         string         `json:"mode"`
	Purpose      string         `json:"purpose,omitempty"`
	Preview      string         `json:"preview"`
	Networks     []netip.Prefix `json:"networks,omitempty"`
	Rate         float64        `json:"rate,omitempty"`
	Burst        int            `json:"burst,omitempty"`
	CreatedAt    string         `json:"createdAt"`
	CreatedBy    string         `json:"createdBy,omitempty"`
	ExpiresAt    string         `json:"expiresAt,omitempty"`
	RevokedAt    string         `json:"revokedAt,omitempty"`
	RevokedBy    string         `json:"revokedBy,omitempty"`
	LastUsedAt   string         `json:"lastUsedAt,omitempty"`
	LastUsedFrom string         `json:"lastUsedFrom,omitempty"`
	Replaces     string         `json:"replaces,omitempty"`
}

func listed(k access.KeyRow) listedKey {
	return listedKey{
		ID: k.ID.String(), EntityUID: k.EntityID.String(), Entity: k.Entity, Name: k.Name, Mode: k.Mode, Purpose: k.Purpose, Preview: k.Preview,
		Networks: k.Networks, Rate: k.Rate, Burst: k.Burst, CreatedAt: moment(k.CreatedAt), CreatedBy: known(k.CreatedBy), ExpiresAt: moment(k.ExpiresAt),
		RevokedAt: moment(k.RevokedAt), RevokedBy: known(k.RevokedBy), LastUsedAt: moment(k.LastUsedAt), LastUsedFrom: k.LastUsedFrom, Replaces: known(k.Replaces),
	}
}

// known returns an id, or nothing for the zero id.
func known(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

func (a *app) keyListCommand() *cobra.Command {
	var entity string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List API keys, oldest first",
		Long:    "Lists the keys of an organisation, or of all, revoked and expired ones included. Of a key only its beginning and end are kept.",
		Example: "  lineproof key list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "entityUid of the organisation (default: all)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		id := uuid.Nil
		if entity != "" {
			if id, err = parseID("--entity", entity); err != nil {
				return err
			}
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		keys, err := p.keeper.Keys(cmd.Context(), id)
		if err != nil {
			return err
		}
		list := make([]listedKey, 0, len(keys))
		rows := [][]string{{"KEY ID", "ORGANISATION", "APPLICATION", "KEY", "STANDS", "LAST USED"}}
		for _, k := range keys {
			list = append(list, listed(k))
			rows = append(rows, []string{k.ID.String(), k.Entity, k.Name, k.Preview, standing(k, time.Now()), moment(k.LastUsedAt)})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

func standing(k access.KeyRow, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case k.ExpiresAt.IsZero():
		return "yes"
	case k.ExpiresAt.Before(now):
		return "expired"
	}
	return "until " + moment(k.ExpiresAt)
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID|-",
		Short: "End an API key, for good",
		Long: `Ends an API key: within five seconds every node refuses requests with it. It cannot be undone; make a new key instead.
With - the key itself is read from standard input, for a key that was found where it should not be.`,
		Example: `  lineproof key revoke 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40
  lineproof key revoke - < leaked.txt`,
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			p, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer p.close()
			id, err := a.keyMeant(cmd, p, args[0])
			if err != nil {
				return err
			}
			if err := p.keeper.RevokeKey(cmd.Context(), uuid.Nil, id, access.Operator, uuid.Nil); err != nil {
				return err
			}
			a.note("The key %s is revoked.", id)
			return nil
		}),
	}
}

// keyMeant returns the id of the key that the argument names.
func (a *app) keyMeant(cmd *cobra.Command, p *parts, arg string) (uuid.UUID, error) {
	if arg != "-" {
		return parseID("ID", arg)
	}
	text, err := io.ReadAll(io.LimitReader(a.env.Stdin, 1<<10))
	if err != nil {
		return uuid.Nil, err
	}
	return p.keeper.FindKey(cmd.Context(), secret.Text(strings.TrimSpace(string(text))))
}
