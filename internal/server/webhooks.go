package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/egress"
	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/message"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/webhook"
)

// openWebhooks returns the service of webhook endpoints for people and the API, and what
// sends to them, each with its own connections.
func openWebhooks(cfg config.Config, l *lanes, feeds *feed.Service, persons *people.People, peppers *secret.Peppers, metrics *telemetry.Metrics, log *slog.Logger) (*webhook.Service, *webhook.Sender) {
	notices := map[webhook.Notice]people.EmailKind{webhook.NoticeFailing: people.WebhookFailing, webhook.NoticeDisabled: people.WebhookDisabled, webhook.NoticeRefused: people.WebhookRefused}
	client := egress.New(egress.Options{Blocked: cfg.WebhookBlocked})
	of := func(pool *pgxpool.Pool) *webhook.Service {
		return &webhook.Service{
			Pool: pool, Feed: feeds, Egress: client, Peppers: peppers, Loopback: cfg.WebhookLoopback, LoopbackLive: cfg.WebhookLoopbackLive, Now: time.Now,
			Notify: func(ctx context.Context, tx pg.Tx, entity uuid.UUID, n webhook.Notice) error {
				return persons.NotifyAdmins(ctx, tx, people.Notice{Kind: notices[n], Content: message.Content{Path: "/portal/webhooks"}}, entity)
			},
		}
	}
	return of(l.people), &webhook.Sender{Service: of(l.jobs), Node: cfg.Node, Log: log, Observe: metrics.WebhookSent}
}
