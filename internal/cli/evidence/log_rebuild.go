package evidence

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/server"
)

func logRebuildCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild DIRECTORY",
		Short: "Compute the published files of the log anew, and compare them with those in the store",
		Long: `Computes all tiles of the public log from its entries in the database and in the archives of the journal, writes them and the newest checkpoint to DIRECTORY, which
must not exist, and compares each with the published one. DIRECTORY can be served by any web server as a copy of the log.
The service may be running. The exit code is 6 when a published file is missing or another one.`,
		Example: "  lineproof log rebuild /tmp/log",
		Args:    cobra.ExactArgs(1),
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, args []string) error {
		return withReader(cmd.Context(), con, func(b *backend.Backend, reader *pgxpool.Pool) (err error) {
			tiles, err := server.OpenStore(b.Config, server.LogStore)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, tiles.Close()) }()
			archive, err := server.OpenStore(b.Config, server.JournalStore)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, archive.Close()) }()
			r, err := rebuild(cmd.Context(), con, reader, archive, tiles, args[0])
			if err != nil {
				return err
			}
			return printRebuilt(con, *asJSON, &r)
		})
	})
	return cmd
}

// rebuild writes the log into a directory.
func rebuild(ctx context.Context, con *console.Console, from *pgxpool.Pool, archive, tiles blob.Store, dir string) (r publiclog.Rebuilt, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // what is in it is public
		return r, fmt.Errorf("trail: create the directory: %w", err)
	}
	progress := con.NewCounter()
	r, err = publiclog.Rebuild(ctx, from, archive, tiles, writeInto(dir), func(done, all int64) { progress.Items("entries", int(done), int(all)) })
	progress.End()
	if err != nil || r.Note == "" {
		return r, err
	}
	return r, writeInto(dir)("checkpoint", []byte(r.Note))
}

// writeInto returns a function that writes files below a directory.
func writeInto(dir string) func(path string, content []byte) error {
	return func(path string, content []byte) error {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as above
			return fmt.Errorf("trail: create a directory: %w", err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("trail: write a file: %w", err)
		}
		return nil
	}
}

func printRebuilt(con *console.Console, asJSON bool, r *publiclog.Rebuilt) error {
	root := hex.EncodeToString(r.Root[:])
	rows := [][]string{
		{"entries", strconv.FormatInt(r.Size, 10)},
		{"files", strconv.FormatInt(r.Tiles, 10)},
		{"root", root},
		{"findings", strconv.Itoa(len(r.Found))},
	}
	for _, what := range r.Found {
		rows = append(rows, []string{"", what})
	}
	err := con.Print(asJSON, map[string]any{"entries": r.Size, "files": r.Tiles, "root": root, "findings": len(r.Found), "found": r.Found}, rows...)
	if err == nil && len(r.Found) > 0 {
		return console.ErrProblems
	}
	return err
}
