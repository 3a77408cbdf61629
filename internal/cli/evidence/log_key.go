package evidence

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/logkey"
)

func logKeyCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key FILE",
		Short: "Create the key that signs the public log, or show its public part",
		Long: `Creates an Ed25519 key in FILE, which only its owner can read, unless FILE exists, and prints what others need to verify its
signatures: the name of the log (LINEPROOF_LOG_ORIGIN), the id of the key and the key. Give that text to the people who
will verify, in a way that they trust; it is not secret. Set LINEPROOF_LOG_KEY to FILE on the nodes that publish the log.

With --post-quantum it is an ML-DSA-44 key, for LINEPROOF_LOG_POST_QUANTUM_KEY, which signs beside the other one.

Keep a copy of FILE in a safe place. A log whose key is lost can't go on, and a new one begins.`,
		Example: `  lineproof log key /etc/lineproof/log.pem
  lineproof log key --post-quantum /etc/lineproof/log-mldsa.pem`,
		Args: cobra.ExactArgs(1),
	}
	postQuantum := cmd.Flags().Bool("post-quantum", false, "an ML-DSA-44 key instead of an Ed25519 key")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, args []string) error {
		cfg, err := con.Settings(cmd.Context())
		if err != nil {
			return err
		}
		if cfg.LogOrigin == "" {
			return console.Usagef("set LINEPROOF_LOG_ORIGIN first: the name of the log is part of its key")
		}
		verifier, created, err := openKey(cmd.Context(), args[0], cfg.LogOrigin, *postQuantum)
		if err != nil {
			return err
		}
		return con.Print(*asJSON, map[string]any{"key": verifier, "created": created}, []string{"key", verifier})
	})
	return cmd
}

// openKey returns the public part of a key, and creates its file unless it is there.
func openKey(ctx context.Context, file, origin string, postQuantum bool) (verifier string, created bool, err error) {
	if postQuantum {
		if created, err = logkey.UnlessThere(file, logkey.CreatePostQuantum); err != nil {
			return "", false, err
		}
		key, err := logkey.OpenPostQuantum(file, origin)
		if err != nil {
			return "", false, err
		}
		return key.Verifier(), created, nil
	}
	if created, err = logkey.UnlessThere(file, logkey.Create); err != nil {
		return "", false, err
	}
	key, err := logkey.Open(ctx, file, origin)
	if err != nil {
		return "", false, err
	}
	return key.Verifier(), created, nil
}
