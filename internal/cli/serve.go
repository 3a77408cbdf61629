package cli

import (
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/telemetry"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the API until stopped",
		Long: `Serves the API on LINEPROOF_LISTEN, and metrics, health and profiles on LINEPROOF_PRIVATE_LISTEN.

The log goes to standard output. SIGTERM or Ctrl-C shuts the service down gracefully: it stops accepting requests,
answers those in flight, and exits with 0. A second signal ends it immediately.`,
		Example: `  lineproof serve
  LINEPROOF_LISTEN=127.0.0.1:9000 LINEPROOF_LOG_FORMAT=text lineproof serve`,
		Args: cobra.NoArgs,
		RunE: a.Run(func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.Settings(cmd.Context())
			if err != nil {
				return err
			}
			log := telemetry.NewLogger(a.Env.Stdout, cfg.LogLevel, cfg.LogFormat, cfg.Node)
			return server.Run(cmd.Context(), cfg, log)
		}),
	}
}
