package evidence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/witness"
)

// WitnessCommand returns the command "witness".
func WitnessCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "witness",
		Short: "Watch public logs, and sign that they only grow",
		Long: `Runs a witness of public logs (c2sp.org/tlog-witness). A log sends its checkpoints to POST /add-checkpoint; the witness signs one
only if it continues the last one that it has signed. Monitors read that at GET /HASH/checkpoint, where HASH is SHA-256 of the
name of the log. A witness is worth as much as its independence: run it on a machine of your own, and not on one of the log.

--key-file is a file that is created if it does not exist. Never lose or copy back the directory --state: a witness that forgets what
it has signed could sign another history. It prints its public key, for the policies of those who verify, and serves plain
HTTP; put TLS in front of it. It stops on SIGTERM.`,
		Example: "  lineproof witness --name witness.university.example --key-file witness.pem --state witness --log 'lineproof.example/log/0/2027+1a2b3c4d+AZ...'",
		Args:    cobra.NoArgs,
	}
	flags := cmd.Flags()
	name := flags.String("name", "", "the name of the witness, a host name (required)")
	key := flags.String("key-file", "", "the file of its key, or ssh-agent: and the path of a socket (required)")
	dir := flags.String("state", "", "the directory of its state (required)")
	logs := flags.StringArray("log", nil, "the public key of a log that it watches; may be repeated, also with the next key of the same log (required)")
	listen := flags.String("listen", "127.0.0.1:7380", "the address on which it listens")
	for _, required := range []string{"name", "key-file", "state", "log"} {
		_ = cmd.MarkFlagRequired(required) // the flag exists
	}
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		if _, err := logkey.UnlessThere(*key, logkey.Create); err != nil {
			return err
		}
		opened, err := logkey.Open(cmd.Context(), *key, *name)
		if err != nil {
			return err
		}
		k := witness.NewKey(opened)
		w, err := witness.Open(k, *logs, *dir)
		if err != nil {
			return err
		}
		ln, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", *listen)
		if err != nil {
			return fmt.Errorf("receipts: listen: %w", err)
		}
		if err := con.Print(false, nil, []string{"key", k.Verifier()}, []string{"listening", ln.Addr().String()}); err != nil {
			return errors.Join(err, ln.Close())
		}
		log := slog.New(slog.NewJSONHandler(con.Env.Stderr, nil))
		return serve(cmd.Context(), ln, w.Handler(log))
	})
	return cmd
}

// serve serves until ctx ends.
func serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("receipts: serve: %w", err)
	case <-ctx.Done():
		final, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return s.Shutdown(final)
	}
}
