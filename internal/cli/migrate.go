package cli

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
)

func (a *app) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create the database roles and update the schema to the newest version",
		Long: `Creates the three database roles if they are missing, applies every pending migration, and creates the journal's
partitions for the coming days. Running it again changes nothing, and several may run at the same time.

The login in LINEPROOF_DATABASE_URL needs CREATEROLE the first time; later it must be a member of lineproof_owner.`,
		Example: `  lineproof migrate
  LINEPROOF_DATABASE_URL=postgres://owner@db.example/lineproof lineproof migrate`,
		Args: cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error { return a.migrate(cmd.Context(), *asJSON) })
	cmd.AddCommand(a.migrateStatusCommand())
	return cmd
}

func (a *app) migrate(ctx context.Context, asJSON bool) error {
	cfg, err := a.Settings(ctx)
	if err != nil {
		return err
	}
	versions, err := pg.Migrate(ctx, cfg.DatabaseURL.Reveal())
	if err != nil {
		return err
	}
	applied := migrationNames(versions)
	if !asJSON {
		for _, name := range applied {
			fmt.Fprintln(a.Out, "applied "+name)
		}
	}
	pool, err := backend.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	created, err := journal.MakePartitions(ctx, pool, cfg.JournalDaysAhead)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(map[string]any{"applied": applied, "partitionsMade": created})
	}
	if created > 0 {
		fmt.Fprintf(a.Out, "created %d partitions of the journal, %d days ahead\n", created, cfg.JournalDaysAhead)
	}
	fmt.Fprintln(a.Out, "the schema is up to date")
	return nil
}

func (a *app) migrateStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Compare the version of the schema with the one that this program needs",
		Long:    "Prints the version of the schema and the one that this program needs. Exits with 6 when the schema is out of date.",
		Example: "  lineproof migrate status || lineproof migrate",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) error {
		cfg, err := a.Settings(cmd.Context())
		if err != nil {
			return err
		}
		// As the login itself: before the first migration no other role exists.
		pool, err := pg.Open(cmd.Context(), cfg.DatabaseURL.Reveal(), pg.Options{Conns: 1})
		if err != nil {
			return err
		}
		defer pool.Close()
		have, want, err := pg.SchemaVersion(cmd.Context(), pool)
		if err != nil {
			return err
		}
		err = a.Print(*asJSON, map[string]int64{"have": have, "want": want},
			[]string{"have", strconv.FormatInt(have, 10)}, []string{"want", strconv.FormatInt(want, 10)})
		if err == nil && have < want {
			return fmt.Errorf("the schema is out of date; run: lineproof migrate (%w)", console.ErrProblems)
		}
		return err
	})
	return cmd
}

// migrationNames returns the names of migrations without their extension.
func migrationNames(versions []int64) []string {
	names := make([]string, len(versions))
	for i, version := range versions {
		names[i] = fmt.Sprintf("%05d", version)
		found, _ := fs.Glob(pg.Migrations(), names[i]+"_*.sql") // the pattern is well formed
		if len(found) > 0 {
			names[i] = strings.TrimSuffix(path.Base(found[0]), ".sql")
		}
	}
	return names
}

// newestMigration returns the version of the newest migration in this program.
func newestMigration() int64 {
	var newest int64
	names, _ := fs.Glob(pg.Migrations(), "*.sql") // the pattern is well formed
	for _, name := range names {
		var version int64
		if _, err := fmt.Sscanf(name, "%d_", &version); err == nil {
			newest = max(newest, version)
		}
	}
	return newest
}
