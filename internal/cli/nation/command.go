package nation

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
)

// Main runs the command line of lineproof-nation in env and returns the exit code.
func Main(ctx context.Context, env console.Env) int {
	con := console.New(env)
	cmd, err := con.Execute(ctx, Command(con))
	if err == nil {
		return console.ExitOK
	}
	con.Report(ctx, cmd, err)
	return console.ExitCode(ctx, err)
}

// Command returns the command "lineproof-nation".
func Command(con *console.Console) *cobra.Command {
	var o Options
	cmd := &cobra.Command{
		Use:   "lineproof-nation",
		Short: "Run a small nation on this machine until stopped",
		Long: `Runs a small nation on this machine until it is stopped: it creates the tables, starts the service with a public log, two
witnesses and a monitor, lets four operators supply a million lines over the API, and then banks verify numbers, operators
and the clearing house report events, and a bank receives webhooks. It prints where to look, and the accounts with their
passwords. It needs nothing but the program lineproof, beside it or in the PATH, and an empty PostgreSQL database
(LINEPROOF_DATABASE_URL); its files are in LINEPROOF_DATA, or in lineproof-demo. Run again, it goes on with what is there. All
people and lines are invented, and two-factor authentication is off: never put it where others can reach it.`,
		Example: `  lineproof-nation --lines 100000 --for 10m --json
  LINEPROOF_DATABASE_URL=postgres:///nation?host=/var/run/postgresql lineproof-nation`,
		Args: cobra.NoArgs,
		RunE: con.Run(func(cmd *cobra.Command, _ []string) error {
			return Run(cmd.Context(), con, o)
		}),
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	flags := cmd.Flags()
	flags.Int64Var(&o.Lines, "lines", 1_000_000, "number of lines, of all operators together")
	flags.IntVar(&o.Rate, "rate", 20, "verifications per second")
	flags.DurationVar(&o.For, "for", 0, "stop after this time, counted from when everything runs (default: run until stopped)")
	flags.StringVar(&o.Listen, "listen", "", "the address of the service on this machine; port 0 chooses a free port (default LINEPROOF_LISTEN)")
	flags.BoolVar(&o.JSON, "json", false, "print a line of JSON for each step and each second, for programs")
	return cmd
}
