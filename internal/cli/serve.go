package cli

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/server"
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
			if err := confined.Hide(); err != nil {
				return err
			}
			if missing := confined.Missing(); len(missing) > 0 {
				log.LogAttrs(cmd.Context(), slog.LevelWarn, "this kernel cannot confine the processes that draw documents",
					slog.Any("missing", missing), slog.Bool("documents_are_drawn", cfg.DrawUnconfined))
			}
			return server.Run(cmd.Context(), cfg, log)
		}),
	}
}
