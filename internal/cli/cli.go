// Package cli is the lineproof command: every task of an operator, and calls of
// the API for users who have no program of their own.
//
// Data goes to standard output and everything else to standard error; the exit
// code says what kind of failure occurred; a secret is printed once, when it is
// created.
package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/cli/demo"
	"github.com/lineproof/lineproof/internal/cli/evidence"
	"github.com/lineproof/lineproof/internal/cli/lines"
	"github.com/lineproof/lineproof/internal/cli/operate"
	"github.com/lineproof/lineproof/internal/cli/remote"
)

// Env is everything that the command reads from the machine it runs on.
type Env = console.Env

// app has the commands of this package.
type app struct{ *console.Console }

// Main runs the command line in env and returns the exit code.
func Main(ctx context.Context, env Env) int {
	a := &app{console.New(env)}
	cmd, err := a.Execute(ctx, a.root())
	if err == nil {
		return console.ExitOK
	}
	a.Report(ctx, cmd, err)
	return console.ExitCode(ctx, err)
}

// Root returns the tree of commands, to be described and not to be run.
func Root() *cobra.Command { return (&app{console.New(Env{})}).root() }

// root returns the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lineproof",
		Short: "Run and manage a Lineproof service",
		Long: `Lineproof tells banks, before they trust a phone number, what state its line is in.
One binary serves the API, manages its database and calls the API of a running service.

Settings are read from the environment (LINEPROOF_...). Print the current settings with: lineproof config`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddGroup(
		&cobra.Group{ID: "service", Title: "Service:"},
		&cobra.Group{ID: "data", Title: "Data of the service:"},
		&cobra.Group{ID: "remote", Title: "A running service, over its API:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("service", a.serveCommand(), operate.MigrateCommand(a.Console), operate.DoctorCommand(a.Console), a.configCommand(), demo.Command(a.Console))
	add("data",
		a.clientCommand(), a.entityCommand(), a.keyCommand(), a.staffCommand(), a.accountCommand(), a.inviteCommand(),
		a.documentsCommand(), lines.Command(a.Console), a.planCommand(), a.policyCommand(), a.journalCommand(),
		evidence.FeedCommand(a.Console), guardCommand(a.Console), limitsCommand(a.Console), a.approvalCommand(), a.auditCommand(), operate.RowsCommand(a.Console),
		evidence.LogCommand(a.Console), evidence.ReceiptCommand(a.Console), evidence.WitnessCommand(a.Console), evidence.MonitorCommand(a.Console))
	add("remote", remote.Command(a.Console))
	root.AddCommand(a.versionCommand(), a.completionCommand(), console.ExitCodesTopic())
	return root
}
