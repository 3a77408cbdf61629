package server

import (
	"context"
	"log/slog"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// Limits returns the default limits, for organisations that have none of their own.
func Limits(cfg config.Config) access.Limits {
	return access.Limits{
		KeyRate: float64(cfg.KeyRate), KeyBurst: cfg.KeyBurst, EntityRate: float64(cfg.EntityRate), EntityBurst: cfg.EntityBurst,
		DayQuota: cfg.DayQuota, MonthQuota: cfg.MonthQuota, DayNumbers: cfg.DayNumbers, SponsorNumbers: cfg.SponsorDayNumbers,
		YearNumbers: cfg.YearNumbers, SponsorYear: cfg.SponsorYearNumbers,
	}
}

// openLimiter opens the rate limiter: in Redis for all nodes together, or in
// memory for this one. Redis need not be reachable at the start.
func (s *service) openLimiter(ctx context.Context) error {
	if s.cfg.RedisURL == "" {
		s.metrics.RegisterLimits(func() uint64 { return 0 })
		s.limiter = limit.NewMemory()
		return nil
	}
	shared, err := limit.Open(s.cfg.RedisURL.Reveal(), func(down bool, cause error) {
		if down {
			s.log.LogAttrs(ctx, slog.LevelWarn, "Redis is unavailable; this node limits rates by itself, at half of each rate", slog.String("error", cause.Error()))
			return
		}
		s.log.LogAttrs(ctx, slog.LevelInfo, "Redis is available again")
	})
	if err != nil {
		return err
	}
	s.metrics.RegisterLimits(shared.Local)
	s.limiter, s.closers = shared, append(s.closers, func() { _ = shared.Close() })
	return nil
}

// callerLimits returns the limits of everybody who calls the API.
func (s *service) callerLimits() httpapi.Limits {
	cfg := &s.cfg
	return httpapi.Limits{
		By: s.limiter, Slowed: s.guard.Slowed, Known: s.access.HasCached, InProgress: &limit.InProgress{},
		Address:    limit.Rate{PerSecond: float64(cfg.AddressRate), Burst: cfg.AddressBurst},
		Files:      limit.Rate{PerSecond: float64(cfg.FileRate), Burst: cfg.FileBurst},
		Client:     limit.Rate{PerSecond: float64(cfg.ClientRate), Burst: cfg.ClientBurst},
		Session:    limit.Rate{PerSecond: float64(cfg.SessionRate), Burst: cfg.SessionBurst},
		Concurrent: httpapi.Concurrent{Key: cfg.KeyConcurrent, Client: cfg.ClientConcurrent, Session: cfg.SessionConcurrent},
	}
}
