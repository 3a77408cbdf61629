package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/jobs"
)

const (
	waitingInterval  = time.Minute
	selfTestInterval = 5 * time.Minute
)

// OpenDocuments creates the document store, for the server and for the commands
// that manage documents.
func OpenDocuments(cfg config.Config, pool *pgxpool.Pool, files blob.Store) (*document.Store, error) {
	queue, err := jobs.Scans(pool)
	if err != nil {
		return nil, err
	}
	spool := filepath.Join(cfg.Data, "spool")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, fmt.Errorf("server: create the directory for temporary files in LINEPROOF_DATA: %w", err)
	}
	s := &document.Store{
		Pool: pool, Files: files, Scanner: Scanner(cfg), Inspector: &inspect.Inspector{}, Spool: spool,
		MaxBytes: cfg.UploadMaxBytes, Strict: cfg.DocumentTypesStrict, Required: cfg.DocumentsRequired, Retention: cfg.DocumentRetention,
		Queue: queue, Now: time.Now,
	}
	return s, s.CheckPolicy()
}

// Scanner returns the configured virus scanner, or nil if there is none.
func Scanner(cfg config.Config) *clamd.Scanner {
	if cfg.ClamdAddr == "" {
		return nil
	}
	return &clamd.Scanner{Address: cfg.ClamdAddr, Timeout: cfg.ClamdTimeout}
}

// watchDocuments updates the metrics of waiting documents until ctx ends.
func (s *service) watchDocuments(ctx context.Context) error {
	return every(ctx, waitingInterval, func() {
		queryCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, oldest, count, err := s.documents.Waiting(queryCtx, 0)
		if err != nil {
			return // the outage is already in the log
		}
		var waited time.Duration
		if count > 0 {
			waited = max(0, time.Since(oldest))
		}
		s.metrics.DocumentsWaiting(count, waited)
	})
}

// watchScanner tests the scanner with a harmless file that it must report, until
// ctx ends. Every node does this, because each may use another scanner.
func (s *service) watchScanner(ctx context.Context, log *slog.Logger) error {
	scanner := s.documents.Scanner
	if scanner == nil {
		return nil
	}
	last := "ok"
	return every(ctx, selfTestInterval, func() {
		err := scanner.SelfTest(ctx)
		if ctx.Err() != nil {
			return
		}
		state := scannerState(err)
		s.metrics.ScannerTested(state)
		if state != last {
			last = state
			logScannerState(ctx, log, state, err)
		}
		if version, err := scanner.Version(ctx); err == nil {
			if made, ok := clamd.Signatures(version); ok {
				s.metrics.ScannerSignatures(made)
			}
		}
	})
}

func scannerState(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, clamd.ErrUnavailable):
		return "away"
	case errors.Is(err, clamd.ErrTestFileMissed):
		return "blind"
	default:
		return "failing"
	}
}

func logScannerState(ctx context.Context, log *slog.Logger, state string, err error) {
	switch state {
	case "ok":
		log.LogAttrs(ctx, slog.LevelInfo, "the virus scanner works again")
	case "blind":
		log.LogAttrs(ctx, slog.LevelError, "the virus scanner does not detect the test file; documents wait until it does")
	default:
		log.LogAttrs(ctx, slog.LevelWarn, "the virus scanner does not work; documents wait until it does", slog.String("state", state), slog.Any("error", err))
	}
}

// every calls do at once and then at each interval, until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
