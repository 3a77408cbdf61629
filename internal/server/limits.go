package server

import (
	"context"
	"log/slog"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/limit"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// Limits returns the default limits, for organisations that have none of their own.
func Limits(cfg config.Config) access.Limits {
	return access.Limits{
		KeyRate: float64(cfg.KeyRate), KeyBurst: cfg.KeyBurst, EntityRate: float64(cfg.EntityRate), EntityBurst: cfg.EntityBurst,
		DayQuota: cfg.DayQuota, MonthQuota: cfg.MonthQuota, DayNumbers: cfg.DayNumbers, SponsorNumbers: cfg.SponsorDayNumbers,
		YearNumbers: cfg.YearNumbers, SponsorYear: cfg.SponsorYearNumbers,
	}
}

// openLimiter returns the rate limiter: in Redis for all nodes together, or in
// memory for this one. Redis need not be reachable at the start.
func openLimiter(ctx context.Context, cfg config.Config, metrics *telemetry.Metrics, log *slog.Logger) (by limit.Limiter, closeLimiter func() error, err error) {
	if cfg.RedisURL == "" {
		metrics.RegisterLimits(func() uint64 { return 0 })
		return limit.NewMemory(), func() error { return nil }, nil
	}
	shared, err := limit.Open(cfg.RedisURL.Reveal(), func(down bool, cause error) {
		if down {
			log.LogAttrs(ctx, slog.LevelWarn, "Redis is unavailable; this node limits rates by itself, at half of each rate", slog.String("error", cause.Error()))
			return
		}
		log.LogAttrs(ctx, slog.LevelInfo, "Redis is available again")
	})
	if err != nil {
		return nil, nil, err
	}
	metrics.RegisterLimits(shared.Local)
	return shared, shared.Close, nil
}

// callerLimits returns the limits of everybody who calls the API.
func callerLimits(cfg config.Config, by limit.Limiter, credentials *access.Service, scans *guard.Guard) httpapi.Limits {
	return httpapi.Limits{
		By: by, Address: addressRate(cfg), Slowed: scans.Slowed, Known: credentials.HasCached, InProgress: &limit.InProgress{},
		Files:      limit.Rate{PerSecond: float64(cfg.FileRate), Burst: cfg.FileBurst},
		Client:     limit.Rate{PerSecond: float64(cfg.ClientRate), Burst: cfg.ClientBurst},
		Session:    limit.Rate{PerSecond: float64(cfg.SessionRate), Burst: cfg.SessionBurst},
		Concurrent: httpapi.Concurrent{Key: cfg.KeyConcurrent, Client: cfg.ClientConcurrent, Session: cfg.SessionConcurrent},
	}
}

func addressRate(cfg config.Config) limit.Rate {
	return limit.Rate{PerSecond: float64(cfg.AddressRate), Burst: cfg.AddressBurst}
}
