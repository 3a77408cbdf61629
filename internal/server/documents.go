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

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/jobs"
)

const (
	// queryTime is how long the queries for metrics may take.
	queryTime        = 5 * time.Second
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
		Pool: pool, Files: files, Scanner: Scanner(cfg), Pictures: pageimage.Drawer{Unconfined: cfg.DrawUnconfined}, Spool: spool,
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
func (s *service) watchDocuments(ctx context.Context) {
	pause.Loop{Interval: waitingInterval, Limit: queryTime}.Run(ctx, func(ctx context.Context) error {
		_, oldest, count, err := s.documents.Waiting(ctx, 0)
		if err != nil {
			return err // the outage is already in the log
		}
		var waited time.Duration
		if count > 0 {
			waited = max(0, time.Since(oldest))
		}
		s.metrics.DocumentsWaiting(count, waited)
		return nil
	})
}

// watchScanner tests the scanner with a harmless file that it must report, until
// ctx ends. Every node does this, because each may use another scanner.
func (s *service) watchScanner(ctx context.Context) {
	scanner := s.documents.Scanner
	if scanner == nil {
		return
	}
	last := "ok"
	pause.Loop{Interval: selfTestInterval}.Run(ctx, func(ctx context.Context) error {
		err := scanner.SelfTest(ctx)
		if ctx.Err() != nil {
			return err
		}
		state := scannerState(err)
		s.metrics.ScannerTested(state)
		if state != last {
			last = state
			logScannerState(ctx, s.log, state, err)
		}
		if version, err := scanner.Version(ctx); err == nil {
			if made, ok := clamd.Signatures(version); ok {
				s.metrics.ScannerSignatures(made)
			}
		}
		return nil
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
