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
	waitingEvery = time.Minute
	scannerEvery = 5 * time.Minute
)

// OpenDocuments wires what is about documents, for the service and for the
// commands that do the same by hand.
func OpenDocuments(cfg config.Config, pool *pgxpool.Pool, files blob.Store) (*document.Store, error) {
	queue, err := jobs.Scans(pool)
	if err != nil {
		return nil, err
	}
	spool := filepath.Join(cfg.Data, "spool")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, fmt.Errorf("server: keep temporary files in LINEPROOF_DATA: %w", err)
	}
	s := &document.Store{
		Pool: pool, Files: files, Scanner: Scanner(cfg), Inspector: &inspect.Inspector{}, Spool: spool,
		MaxBytes: cfg.UploadMaxBytes, Strict: cfg.DocumentTypesStrict, Required: cfg.DocumentsRequired, Retention: cfg.DocumentRetention,
		Queue: queue, Now: time.Now,
	}
	return s, s.CheckPolicy()
}

// Scanner returns the scanner that the settings name, or nil.
func Scanner(cfg config.Config) *clamd.Scanner {
	if cfg.ClamdAddr == "" {
		return nil
	}
	return &clamd.Scanner{Address: cfg.ClamdAddr, Timeout: cfg.ClamdTimeout}
}

// watchDocuments keeps the metrics of waiting documents true, until ctx ends.
func (s *service) watchDocuments(ctx context.Context) error {
	return every(ctx, waitingEvery, func() {
		look, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, oldest, count, err := s.documents.Waiting(look, 0)
		if err != nil {
			return // the log says already that the database is away
		}
		var waited time.Duration
		if count > 0 {
			waited = max(0, time.Since(oldest))
		}
		s.metrics.DocumentsWaiting(count, waited)
	})
}

// watchScanner tests the scanner with a harmless file that it must find, until
// ctx ends. Each node does, for each may have a scanner of its own.
func (s *service) watchScanner(ctx context.Context, log *slog.Logger) error {
	scanner := s.documents.Scanner
	if scanner == nil {
		return nil
	}
	was := "ok"
	return every(ctx, scannerEvery, func() {
		err := scanner.SelfTest(ctx)
		if ctx.Err() != nil {
			return
		}
		is := scannerState(err)
		s.metrics.ScannerTested(is)
		if is != was {
			was = is
			say(ctx, log, is, err)
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
	case errors.Is(err, clamd.ErrAway):
		return "away"
	case errors.Is(err, clamd.ErrBlind):
		return "blind"
	default:
		return "failing"
	}
}

func say(ctx context.Context, log *slog.Logger, state string, err error) {
	switch state {
	case "ok":
		log.LogAttrs(ctx, slog.LevelInfo, "the virus scanner works again")
	case "blind":
		log.LogAttrs(ctx, slog.LevelError, "the virus scanner passes the test file; documents wait until it does not")
	default:
		log.LogAttrs(ctx, slog.LevelWarn, "the virus scanner does not work; documents wait", slog.String("state", state), slog.Any("error", err))
	}
}

// every does something now and then again and again, until ctx ends.
func every(ctx context.Context, pause time.Duration, do func()) error {
	tick := time.NewTicker(pause)
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
