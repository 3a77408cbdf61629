package cli

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
)

func (a *app) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Make the database's roles and bring its schema to the newest version",
		Long: `Makes the three database roles if they are missing, applies every migration that is missing, and makes the
journal's partitions for the coming days. It does nothing the second time, and several may run at once.

The login in LINEPROOF_DATABASE_URL needs CREATEROLE the first time; later it must be a member of lineproof_owner.`,
		Example: `  lineproof migrate
  LINEPROOF_DATABASE_URL=postgres://owner@db.example/lineproof lineproof migrate`,
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error { return a.migrate(cmd.Context(), *asJSON) })
	cmd.AddCommand(a.migrateStatusCommand())
	return cmd
}

func (a *app) migrate(ctx context.Context, asJSON bool) error {
	cfg, err := a.settings(ctx)
	if err != nil {
		return err
	}
	versions, err := pg.Migrate(ctx, cfg.DatabaseURL.Reveal())
	if err != nil {
		return err
	}
	applied := namesOf(versions)
	if !asJSON {
		for _, name := range applied {
			fmt.Fprintln(a.out, "applied "+name)
		}
	}
	pool, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	made, err := journal.MakePartitions(ctx, pool, cfg.JournalDaysAhead)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(map[string]any{"applied": applied, "partitionsMade": made})
	}
	if made > 0 {
		fmt.Fprintf(a.out, "made %d partitions of the journal, %d days ahead\n", made, cfg.JournalDaysAhead)
	}
	fmt.Fprintln(a.out, "the schema is up to date")
	return nil
}

func (a *app) migrateStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Compare the schema's version with the one that this program needs",
		Long:    "Prints the version that the schema has and the one that this program needs. Exits with 6 when the schema is behind.",
		Example: "  lineproof migrate status || lineproof migrate",
		Args:    cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		cfg, err := a.settings(cmd.Context())
		if err != nil {
			return err
		}
		// As the login itself: before the first migration there is no other role.
		pool, err := pg.Open(cmd.Context(), cfg.DatabaseURL.Reveal(), pg.Options{Conns: 1})
		if err != nil {
			return err
		}
		defer pool.Close()
		have, want, err := pg.SchemaVersion(cmd.Context(), pool)
		if err != nil {
			return err
		}
		err = a.print(*asJSON, map[string]int64{"have": have, "want": want},
			[]string{"have", strconv.FormatInt(have, 10)}, []string{"want", strconv.FormatInt(want, 10)})
		if err == nil && have < want {
			return fmt.Errorf("the schema is behind; run: lineproof migrate (%w)", errTrouble)
		}
		return err
	})
	return cmd
}

// namesOf returns the names of migrations without their ending.
func namesOf(versions []int64) []string {
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

// newestMigration returns the version of the newest migration that this program
// carries.
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
