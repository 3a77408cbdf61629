package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/pg"
)

func (a *app) linesCompactCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "compact", Short: "Build the index of all lines anew, without gaps", Args: cobra.NoArgs,
		Long: `Builds the key of the table of lines anew while the service runs. After the first load of several networks,
whose ranges lie between each other, its pages are half empty; afterwards they are full, and more of them fit into
memory. It needs the rights of the owner, as migrate does, and room on disk for a second index.`,
		Example: "  lineproof lines compact",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		cfg, err := a.settings(ctx)
		if err != nil {
			return err
		}
		pool, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Conns: 2})
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
		go a.watchIndex(watched, pool)
		_, err = pool.Exec(ctx, `REINDEX INDEX CONCURRENTLY line_now_pkey`)
		stop()
		if err != nil {
			return fmt.Errorf("build the index: %w", err)
		}
		after, err := indexSize(ctx, pool)
		if err != nil {
			return err
		}
		return a.print(*asJSON, map[string]int64{"bytesBefore": before, "bytesAfter": after},
			[]string{"before", fmt.Sprintf("%d MiB", before>>20)}, []string{"after", fmt.Sprintf("%d MiB", after>>20)})
	})
	return cmd
}

func indexSize(ctx context.Context, pool *pgxpool.Pool) (size int64, err error) {
	if err := pool.QueryRow(ctx, `SELECT pg_relation_size('line_now_pkey')`).Scan(&size); err != nil {
		return 0, fmt.Errorf("measure the index: %w", err)
	}
	return size, nil
}

// watchIndex says from time to time how far the new index is.
func (a *app) watchIndex(ctx context.Context, pool *pgxpool.Pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(step):
		}
		var phase string
		var done, total int64
		err := pool.QueryRow(ctx, `SELECT phase, greatest(blocks_done, tuples_done), greatest(blocks_total, tuples_total) FROM pg_stat_progress_create_index
			WHERE relid = 'line_now'::regclass`).Scan(&phase, &done, &total)
		if err == nil && total > 0 {
			a.note("%s: %d %%", phase, 100*done/total)
		}
	}
}
