package server

import (
	"context"
	"log/slog"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/limit"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// Limits returns what may be asked by whoever has no limits of its own.
func Limits(cfg config.Config) access.Limits {
	return access.Limits{
		KeyRate: float64(cfg.KeyRate), KeyBurst: cfg.KeyBurst, EntityRate: float64(cfg.EntityRate), EntityBurst: cfg.EntityBurst,
		DayQuota: cfg.DayQuota, MonthQuota: cfg.MonthQuota, DayNumbers: cfg.DayNumbers,
	}
}

// openLimiter returns what counts the rates: in Redis for all nodes, or in
// memory for this one. Redis need not be there.
func openLimiter(ctx context.Context, cfg config.Config, metrics *telemetry.Metrics, log *slog.Logger) (by limit.Limiter, end func() error, err error) {
	if cfg.RedisURL == "" {
		metrics.RegisterLimits(func() uint64 { return 0 })
		return limit.NewMemory(), func() error { return nil }, nil
	}
	shared, err := limit.Open(cfg.RedisURL.Reveal(), func(away bool, cause error) {
		if away {
			log.LogAttrs(ctx, slog.LevelWarn, "Redis is away; this node limits rates by itself, at half", slog.String("error", cause.Error()))
			return
		}
		log.LogAttrs(ctx, slog.LevelInfo, "Redis is back")
	})
	if err != nil {
		return nil, nil, err
	}
	metrics.RegisterLimits(shared.Local)
	return shared, shared.Close, nil
}

func addressRate(cfg config.Config) limit.Rate {
	return limit.Rate{PerSecond: float64(cfg.AddressRate), Burst: cfg.AddressBurst}
}
