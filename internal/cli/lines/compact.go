package lines

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

func (c *commands) compactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "compact", Short: "Rebuild the index of all lines without gaps", Args: cobra.NoArgs,
		Long: `Rebuilds the primary key index of the table of lines while the service runs. After the first import of several
networks, whose ranges interleave, its pages are half empty; after the rebuild they are full, and more of the index
fits into memory. It needs the rights of the owner, as migrate does, and disk space for a second index.`,
		Example: "  lineproof lines compact",
	}
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = c.Run(func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		cfg, err := c.Settings(ctx)
		if err != nil {
			return err
		}
		pool, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Conns: 2, Unverified: cfg.UnverifiedDatabase()})
		if err != nil {
			return err
		}
		defer pool.Close()
		if err := pg.CheckSchema(ctx, pool); err != nil {
			return err
		}
		before, err := indexSize(ctx, pool)
		if err != nil {
			return err
		}
		watched, stop := context.WithCancel(ctx)
		go c.watchIndex(watched, pool)
		_, err = pool.Exec(ctx, `REINDEX INDEX CONCURRENTLY line_now_pkey`)
		stop()
		if err != nil {
			return fmt.Errorf("rebuild the index: %w", err)
		}
		after, err := indexSize(ctx, pool)
		if err != nil {
			return err
		}
		return c.Print(*asJSON, map[string]int64{"bytesBefore": before, "bytesAfter": after},
			[]string{"before", fmt.Sprintf("%d MiB", before>>20)}, []string{"after", fmt.Sprintf("%d MiB", after>>20)})
	})
	return cmd
}

func indexSize(ctx context.Context, pool *pgxpool.Pool) (size int64, err error) {
	err = pool.QueryRow(ctx, `SELECT pg_relation_size('line_now_pkey')`).Scan(&size)
	return size, fault.Wrap(err, "measure the index")
}

// watchIndex regularly reports the progress of the rebuild.
func (c *commands) watchIndex(ctx context.Context, pool *pgxpool.Pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(console.ReportInterval):
		}
		var phase string
		var done, total int64
		err := pool.QueryRow(ctx, `SELECT phase, greatest(blocks_done, tuples_done), greatest(blocks_total, tuples_total) FROM pg_stat_progress_create_index
			WHERE relid = 'line_now'::regclass`).Scan(&phase, &done, &total)
		if err == nil && total > 0 {
			c.Note("%s: %d %%", phase, 100*done/total)
		}
	}
}
