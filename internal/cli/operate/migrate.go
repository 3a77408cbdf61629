// This part of the package has the commands that change and compare the schema of the database.

package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
)

// MigrateCommand returns the command migrate.
func MigrateCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create the database roles and update the schema to the newest version",
		Long: `Creates the three database roles if they are missing, applies every pending migration, and creates the journal's
partitions for the coming days. Running it again changes nothing, and several may run at the same time.

Nodes of this release and of the one before may serve meanwhile. A migration that needs a lock waits for it for a quarter of
a second at a time, so that requests are not held up behind it, and says which session of the database is in its way.

The login in LINEPROOF_DATABASE_URL needs CREATEROLE the first time; later it must be a member of lineproof_owner.`,
		Example: `  lineproof migrate --dry-run
  lineproof migrate
  LINEPROOF_DATABASE_URL=postgres://owner@db.example/lineproof?sslmode=verify-full lineproof migrate`,
		Args: cobra.NoArgs,
	}
	m := &migration{Console: con}
	cmd.Flags().BoolVar(&m.dryRun, "dry-run", false, "only list what would be applied, and the tables that would be locked for a moment")
	cmd.Flags().DurationVar(&m.lockWait, "lock-wait", 10*time.Minute, "how long one migration may try to get its locks")
	m.asJSON = console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context()) })
	cmd.AddCommand(migrateStatusCommand(con))
	return cmd
}

// migration is one run of the command.
type migration struct {
	*console.Console

	asJSON   *bool
	dryRun   bool
	lockWait time.Duration
}

func (m *migration) run(ctx context.Context) error {
	cfg, err := m.Settings(ctx)
	if err != nil {
		return err
	}
	if m.dryRun {
		return m.list(ctx, cfg)
	}
	applied := []string{}
	_, err = pg.MigrateWith(ctx, cfg.DatabaseURL.Reveal(), pg.MigrateOptions{
		Unverified: cfg.UnverifiedDatabase(),
		LockWait:   m.lockWait, Waiting: func(text string) { m.Note("%s", text) },
		Applied: func(name string, took time.Duration) {
			if applied = append(applied, name); !*m.asJSON {
				fmt.Fprintf(m.Out, "applied %s (%s)\n", name, took.Round(time.Millisecond))
			}
		},
	})
	if err != nil {
		return err
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
	if *m.asJSON {
		return m.PrintJSON(map[string]any{"applied": applied, "partitionsMade": created})
	}
	if created > 0 {
		fmt.Fprintf(m.Out, "created %d partitions of the journal, %d days ahead\n", created, cfg.JournalDaysAhead)
	}
	fmt.Fprintln(m.Out, "the schema is up to date")
	return nil
}

// list prints what a run would apply.
func (m *migration) list(ctx context.Context, cfg config.Config) error {
	pool, err := asLogin(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	steps, err := pg.Pending(ctx, pool)
	if err != nil {
		return err
	}
	if *m.asJSON {
		return m.PrintJSON(map[string]any{"pending": steps})
	}
	for _, s := range steps {
		fmt.Fprintf(m.Out, "would apply %s: %s\n", s.Name, effect(s))
	}
	if len(steps) == 0 {
		fmt.Fprintln(m.Out, "the schema is up to date")
	}
	return nil
}

// effect says what a migration means for a service that runs.
func effect(s pg.Step) string {
	switch {
	case s.Concurrent:
		return "takes longer on large tables, and blocks nobody"
	case len(s.Tables) == 0:
		return "locks no table that is in use"
	}
	return "locks for a moment: " + strings.Join(s.Tables, ", ")
}

// asLogin connects as the login itself: before the first migration no other role exists.
func asLogin(ctx context.Context, cfg config.Config) (*pgxpool.Pool, error) {
	return pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Conns: 1, Unverified: cfg.UnverifiedDatabase()})
}

func migrateStatusCommand(con *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Compare the version of the schema with the one that this program needs",
		Long:    "Prints the version of the schema and the one that this program needs. Exits with 6 when the schema is out of date.",
		Example: "  lineproof migrate status || lineproof migrate",
		Args:    cobra.NoArgs,
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = con.Run(func(cmd *cobra.Command, _ []string) error {
		cfg, err := con.Settings(cmd.Context())
		if err != nil {
			return err
		}
		pool, err := asLogin(cmd.Context(), cfg)
		if err != nil {
			return err
		}
		defer pool.Close()
		have, want, err := pg.SchemaVersion(cmd.Context(), pool)
		if err != nil {
			return err
		}
		err = con.Print(*asJSON, map[string]int64{"have": have, "want": want},
			[]string{"have", strconv.FormatInt(have, 10)}, []string{"want", strconv.FormatInt(want, 10)})
		if err == nil && have < want {
			return fmt.Errorf("the schema is out of date; run: lineproof migrate (%w)", console.ErrProblems)
		}
		return err
	})
	return cmd
}
