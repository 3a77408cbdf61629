package filejob

import (
	"context"
	"log/slog"

	"github.com/lineproof/lineproof/internal/pause"
)

// SetChunk sets how many rows are recorded in one transaction.
func (s *Service) SetChunk(rows int) { s.chunk = rows }

// CleanUp does what Run does between two jobs.
func (s *Service) CleanUp(ctx context.Context) error { return s.cleanUp(ctx) }

// RunUntilIdle runs jobs until none is open.
func (s *Service) RunUntilIdle(ctx context.Context, log *slog.Logger) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx, log) }()
	for ctx.Err() == nil {
		open, err := query(ctx, s.Pool, `WHERE state IN ('checking', 'running', 'writing')`)
		if err == nil && len(open) == 0 {
			break
		}
		pause.For(ctx, pollInterval/20)
	}
	stop()
	<-done
	return nil
}
