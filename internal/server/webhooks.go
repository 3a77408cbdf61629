package server

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// openWebhooks opens the service of webhook endpoints for people and the API, and what
// sends to them, each with its own connections.
func (s *service) openWebhooks(context.Context) error {
	notices := map[webhook.Notice]people.EmailKind{
		webhook.NoticeFailing: people.WebhookFailing, webhook.NoticeDisabled: people.WebhookDisabled, webhook.NoticeRefused: people.WebhookRefused,
	}
	client := egress.New(egress.Options{Blocked: s.cfg.WebhookBlocked})
	of := func(pool *pgxpool.Pool) *webhook.Service {
		return &webhook.Service{
			Pool: pool, Feed: s.feed, Egress: client, Peppers: s.peppers, CheckPerson: s.people.CheckLive, Now: time.Now,
			Loopback: s.cfg.WebhookLoopback, LoopbackLive: s.cfg.WebhookLoopbackLive,
			Notify: func(ctx context.Context, tx pg.Tx, entity uuid.UUID, n webhook.Notice) error {
				return s.people.NotifyAdmins(ctx, tx, people.Notice{Kind: notices[n], Content: message.Content{Path: "/portal/webhooks"}}, entity)
			},
			NotifyCreated: func(ctx context.Context, tx pg.Tx, e *webhook.Endpoint, by audit.Actor) error {
				about := message.Content{About: "the webhook endpoint “" + e.Name + "” for live events", Path: "/portal/webhooks/" + e.ID.String()}
				return s.people.NotifyOf(ctx, tx, people.CredentialAdded, about, e.Owner().Entity, by)
			},
			NotifyDeleted: func(ctx context.Context, tx pg.Tx, e *webhook.Endpoint, by audit.Actor) error {
				about := message.Content{About: "the webhook endpoint “" + e.Name + "” for live events", Path: "/portal/webhooks"}
				return s.people.NotifyOf(ctx, tx, people.CredentialEnded, about, e.Owner().Entity, by)
			},
		}
	}
	s.webhooks = of(s.lanes.people)
	s.sender = &webhook.Sender{Service: of(s.lanes.jobs), Node: s.cfg.Node, Log: s.log, Observe: s.metrics.WebhookSent}
	return nil
}
