package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// openDatabase connects to the database, checks the schema and the peppers, and creates the
// journal's partitions, before the node accepts requests.
func (s *service) openDatabase(ctx context.Context) (err error) {
	if s.lanes, err = openLanes(ctx, s.cfg, s.breaker, s.metrics); err != nil {
		return err
	}
	s.closers = append(s.closers, s.lanes.close, s.breaker.Close)
	l := s.lanes
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	if _, err := journal.MakePartitions(ctx, l.verify, s.cfg.JournalDaysAhead); err != nil {
		return err
	}
	ahead, err := journal.DaysAhead(ctx, l.verify, time.Now())
	if err != nil {
		return err
	}
	s.metrics.JournalDaysAhead(ahead)
	if s.peppers, err = rowmac.OpenPeppers(ctx, l.verify, s.cfg.HasPepper(), s.cfg.Peppers); err != nil {
		return err
	}
	return pg.UseRowKeys(ctx, s.rowKeys(ctx), l.verify, l.supply, l.imports, l.people, l.jobs)
}

func (s *service) checkSchema(ctx context.Context) error {
	if err := pg.CheckSchema(ctx, s.lanes.verify); err != nil {
		return err
	}
	have, want, err := pg.SchemaVersion(ctx, s.lanes.verify)
	if err != nil {
		return err
	}
	if have > want { // during an upgrade, and after going back to the release before
		s.log.LogAttrs(ctx, slog.LevelInfo, "the schema is that of a newer release, with which this one works", slog.Int64("schema", have), slog.Int64("known", want))
	}
	return nil
}

// rowKeys are the keys under which rows that decide access are signed and checked.
func (s *service) rowKeys(ctx context.Context) pg.RowKeys {
	ctx = context.WithoutCancel(ctx)
	s.metrics.RegisterRows(pg.SignedTables)
	return pg.RowKeys{Peppers: s.peppers, Refused: func(table string, id uuid.UUID) {
		s.metrics.RowRefused(table)
		s.log.LogAttrs(ctx, slog.LevelError, "refused a row that was not written by the service; run: lineproof doctor",
			slog.String("table", table), slog.String("id", id.String()))
	}}
}
