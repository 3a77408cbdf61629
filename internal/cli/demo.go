package cli

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
)

var errNotEmpty = fault.New(fault.IncompatibleState, "this database is not empty; demo fills only an empty one")

func (a *app) demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Fill an empty database with something to try",
		Long: `Fills an empty database with a client, an organisation that asks, a live key and a few thousand lines, and
prints a curl command that asks about one of them. It is refused on a database that holds anything.`,
		Example: `  lineproof migrate
  lineproof demo`,
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		if err := p.refuseUnlessEmpty(cmd.Context()); err != nil {
			return err
		}
		made, err := p.fill(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return a.printJSON(made)
		}
		a.printDemo(made)
		return nil
	})
	return cmd
}

func (p *parts) refuseUnlessEmpty(ctx context.Context) error {
	nobody, err := p.registry.Empty(ctx)
	if err != nil {
		return err
	}
	nothing, err := line.Empty(ctx, p.pool)
	if err != nil {
		return err
	}
	clients, err := p.keeper.Clients(ctx)
	if err != nil {
		return err
	}
	if !nobody || !nothing || len(clients) > 0 {
		return errNotEmpty
	}
	return nil
}

// demo is what was made, as it is printed.
type demo struct {
	ClientID     string            `json:"clientId"`
	ClientSecret string            `json:"clientSecret"`
	EntityUID    string            `json:"entityUid"`
	APIKey       string            `json:"apiKey"`
	Lines        int               `json:"lines"`
	Numbers      map[string]string `json:"numbers"` // one for each status
	Curl         string            `json:"curl"`
}

func (p *parts) fill(ctx context.Context) (demo, error) {
	lines, err := p.supplyDemo(ctx)
	if err != nil {
		return demo{}, err
	}
	c, err := p.keeper.CreateClient(ctx, access.ClientForm{
		Name: "Demo Telecom", Scopes: []string{string(access.EntityOnboard), string(access.DocumentUpload)},
	}, access.Operator, uuid.Nil)
	if err != nil {
		return demo{}, err
	}
	bank, err := p.registry.CreateAsker(ctx, "Harbour Bank", "RC123456", access.Operator, uuid.Nil)
	if err != nil {
		return demo{}, err
	}
	key, err := p.keeper.CreateKey(ctx, access.KeyForm{Entity: bank.ID, Name: "demo", Mode: "live", Purpose: "demonstration"}, access.Operator, uuid.Nil)
	if err != nil {
		return demo{}, err
	}
	made := demo{
		ClientID: c.ID.String(), ClientSecret: c.Secret.Reveal(), EntityUID: bank.ID.String(), APIKey: key.Text.Reveal(),
		Lines: lines, Numbers: map[string]string{},
	}
	for _, l := range demoLives(time.Now()) {
		made.Numbers[string(l.status)] = l.number
	}
	made.Curl = fmt.Sprintf("curl -sS -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '{\"phoneNumber\":\"%s\"}' %s/api/v1/phone/api/phone-numbers/verify",
		made.APIKey, demoNumber, address(p.cfg))
	return made, nil
}

func (a *app) printDemo(d demo) {
	a.printRows([][]string{
		{"client id", d.ClientID},
		{"client secret", d.ClientSecret},
		{"entityUid", d.EntityUID},
		{"API key", d.APIKey},
		{"lines", strconv.Itoa(d.Lines)},
	})
	fmt.Fprintln(a.out, "\nA number for each status:")
	var rows [][]string
	for _, s := range line.Statuses {
		rows = append(rows, []string{"  " + string(s), d.Numbers[string(s)]})
	}
	a.printRows(rows)
	fmt.Fprintln(a.out, "\nStart the service with: lineproof serve\nThen ask:")
	fmt.Fprintln(a.out, d.Curl)
}

// address returns where the service will answer, as a URL for this machine.
func address(cfg config.Config) string {
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil || host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
