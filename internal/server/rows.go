package server

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// rowKeys are the keys under which rows that decide access are signed and checked.
func rowKeys(ctx context.Context, peppers *secret.Peppers, metrics *telemetry.Metrics, log *slog.Logger) pg.RowKeys {
	ctx = context.WithoutCancel(ctx)
	metrics.RegisterRows(pg.SignedTables)
	return pg.RowKeys{Peppers: peppers, Refused: func(table string, id uuid.UUID) {
		metrics.RowRefused(table)
		log.LogAttrs(ctx, slog.LevelError, "refused a row that was not written by the service; run: lineproof doctor",
			slog.String("table", table), slog.String("id", id.String()))
	}}
}
