package filejob

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
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
		pause.For(ctx, 25*time.Millisecond)
	}
	stop()
	<-done
	return nil
}

// RunListed runs a job that was listed as open, as a worker does.
func (s *Service) RunListed(ctx context.Context, log *slog.Logger, id uuid.UUID) {
	j, err := s.run(ctx, id, pause.NewTurns(chunkPause), &pg.SessionLocks{Pool: s.Pool})
	s.stopped(ctx, log, id, j, err)
}
