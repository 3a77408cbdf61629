package trail

import (
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/logkey"
)

func logKeyCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key FILE",
		Short: "Create the key that signs the public log, or show its public part",
		Long: `Creates an Ed25519 key in FILE, which only its owner can read, unless FILE exists, and prints what others need to verify its
signatures: the name of the log (LINEPROOF_LOG_ORIGIN), the id of the key and the key. Give that text to the people who
will verify, in a way that they trust; it is not secret. Set LINEPROOF_LOG_KEY to FILE on the nodes that publish the log.

Keep a copy of FILE in a safe place. A log whose key is lost can't go on, and a new one begins.`,
		Example: "  lineproof log key /etc/lineproof/log.pem",
		Args:    cobra.ExactArgs(1),
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, args []string) error {
		cfg, err := con.Settings(cmd.Context())
		if err != nil {
			return err
		}
		if cfg.LogOrigin == "" {
			return console.Usagef("set LINEPROOF_LOG_ORIGIN first: the name of the log is part of its key")
		}
		created, err := logkey.CreateUnlessThere(args[0])
		if err != nil {
			return err
		}
		key, err := logkey.Open(cmd.Context(), args[0], cfg.LogOrigin)
		if err != nil {
			return err
		}
		return con.Print(*asJSON, map[string]any{"key": key.Verifier(), "created": created}, []string{"key", key.Verifier()})
	})
	return cmd
}
