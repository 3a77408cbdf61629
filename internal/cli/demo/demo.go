// Package demo is the command that fills an empty database with demo data.
package demo

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var errNotEmpty = fault.New(fault.IncompatibleState, "the database is not empty; demo needs an empty one")

// Command returns the command "demo".
func Command(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Fill an empty database with demo data",
		Long: `Fills an empty database with a client, a relying party, a live API key, a few thousand lines and a portal account for every
role, and prints a curl command that verifies one of the lines. The passwords of the accounts are printed once; with
--accounts=false there are none. It refuses to run on a database that is not empty.

To see everything at work, with a million lines and traffic, run the program lineproof-nation.`,
		Example: `  lineproof migrate
  lineproof demo`,
		Args: cobra.NoArgs,
	}
	accounts := cmd.Flags().Bool("accounts", true, "create a portal account for every role")
	asJSON := cmd.Flags().Bool("json", false, "print one JSON document, for programs")
	cmd.RunE = backend.Run(con, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		if err := requireEmpty(cmd.Context(), b); err != nil {
			return err
		}
		created, err := createDemo(cmd.Context(), b, *accounts)
		if err != nil {
			return err
		}
		if *asJSON {
			return con.PrintJSON(created)
		}
		printDemo(con, created)
		return nil
	})
	return cmd
}

// requireEmpty fails unless the database has no entities, lines and clients.
func requireEmpty(ctx context.Context, b *backend.Backend) error {
	noEntities, err := b.Registry.Empty(ctx)
	if err != nil {
		return err
	}
	noLines, err := linestore.Empty(ctx, b.Pool)
	if err != nil {
		return err
	}
	clients, err := b.Access.Clients(ctx)
	if err != nil {
		return err
	}
	if !noEntities || !noLines || len(clients) > 0 {
		return errNotEmpty
	}
	return nil
}

// demo is the demo data as printed with --json.
type demo struct {
	ClientID     string            `json:"clientId"`
	ClientSecret string            `json:"clientSecret"`
	EntityUID    string            `json:"entityUid"`
	APIKey       string            `json:"apiKey"`
	Lines        int               `json:"lines"`
	Numbers      map[string]string `json:"numbers"` // status to number
	Accounts     []demoAccount     `json:"accounts,omitempty"`
	Portal       string            `json:"portal"`
	Curl         string            `json:"curl"`
}

func createDemo(ctx context.Context, b *backend.Backend, accounts bool) (demo, error) {
	lines, err := supplyDemo(ctx, b)
	if err != nil {
		return demo{}, err
	}
	c, err := b.Access.CreateClient(ctx, access.ClientForm{
		Name: "Demo Telecom", Scopes: []string{string(access.EntityOnboard), string(access.DocumentUpload)},
	}, access.Operator, uuid.Nil)
	if err != nil {
		return demo{}, err
	}
	bank, err := b.Registry.CreateRelyingParty(ctx, "Harbour Bank", "RC123456", access.Operator, uuid.Nil)
	if err != nil {
		return demo{}, err
	}
	key, err := b.Access.CreateKey(ctx, access.KeyForm{Entity: bank.ID, Name: "demo", Mode: "live", Purpose: "demonstration"}, access.Operator, uuid.Nil)
	if err != nil {
		return demo{}, err
	}
	created := demo{
		ClientID: c.ID.String(), ClientSecret: c.Secret.Reveal(), EntityUID: bank.ID.String(), APIKey: key.Text.Reveal(),
		Lines: lines, Numbers: map[string]string{}, Portal: baseURL(b.Config) + "/portal/",
	}
	if accounts {
		if created.Accounts, err = createDemoAccounts(ctx, b, bank.ID, c.ID); err != nil {
			return demo{}, err
		}
	}
	for _, l := range demoNumbers(time.Now()) {
		created.Numbers[string(l.status)] = l.number
	}
	created.Curl = fmt.Sprintf("curl -sS -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d '{\"phoneNumber\":\"%s\"}' %s/api/v1/phone/api/phone-numbers/verify",
		created.APIKey, demoNumber, baseURL(b.Config))
	return created, nil
}

func printDemo(con *console.Console, d demo) {
	con.PrintRows([][]string{
		{"client id", d.ClientID},
		{"client secret", d.ClientSecret},
		{"entityUid", d.EntityUID},
		{"API key", d.APIKey},
		{"lines", strconv.Itoa(d.Lines)},
	})
	fmt.Fprintln(con.Out, "\nA number for each status:")
	var rows [][]string
	for _, s := range line.Statuses {
		rows = append(rows, []string{"  " + string(s), d.Numbers[string(s)]})
	}
	con.PrintRows(rows)
	if len(d.Accounts) > 0 {
		rows = [][]string{{"  ROLE", "E-MAIL", "PASSWORD"}}
		for _, m := range d.Accounts {
			rows = append(rows, []string{"  " + m.Role, m.Email, m.Password})
		}
		fmt.Fprintln(con.Out, "\nPortal accounts, for "+d.Portal+":")
		con.PrintRows(rows)
	}
	fmt.Fprintln(con.Out, "\nStart the service with: lineproof serve\nThen verify a number:")
	fmt.Fprintln(con.Out, d.Curl)
}

// baseURL returns the URL of the service on this machine.
func baseURL(cfg config.Config) string {
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
