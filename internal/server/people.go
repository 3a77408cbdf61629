package server

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// openAccess opens what knows organisations, people and their credentials, with the documents
// that they send.
func (s *service) openAccess(ctx context.Context) (err error) {
	if s.region, err = phone.NewRegion(s.cfg.Region); err != nil {
		return err
	}
	hasher := hashing.Start(ctx, s.log)
	s.closers = append(s.closers, hasher.Close)
	// Two queues: anyone can flood the login, and onboarding must not wait behind that.
	cost := secret.Cost{MemoryKiB: s.cfg.Argon2MemoryKiB, Time: s.cfg.Argon2Time, Threads: 1}
	logins := secret.NewPasswords(s.peppers, cost, s.cfg.Argon2Parallel, s.cfg.Argon2Queue)
	onboardings := secret.NewPasswords(s.peppers, cost, s.cfg.Argon2Parallel, s.cfg.Argon2Queue)
	logins.Derive, onboardings.Derive = hasher.Derive, hasher.Derive
	s.metrics.RegisterPasswords(func() int { return logins.InFlight() + onboardings.InFlight() })

	s.access = &access.Service{
		Pool: s.lanes.people, Gate: s.lanes.verify, Breaker: s.breaker, Peppers: s.peppers, TokenLifetime: s.cfg.TokenLifetime,
		SessionLifetime: s.cfg.SessionLifetime, SessionIdle: s.cfg.SessionIdle, Grace: s.cfg.AccessGrace, Limits: Limits(s.cfg),
		Now: time.Now, OnGrace: s.metrics.GraceUsed,
	}
	s.metrics.RegisterListening(s.access.Listening)
	if s.documents, err = OpenDocuments(s.cfg, s.lanes.people, s.stores.Documents); err != nil {
		return err
	}
	if s.cfg.DocumentsRestrict {
		s.access.CheckNewKey = s.documents.CheckNewKey
	}
	s.entities = &registry.Registry{
		Pool: s.lanes.people, Region: s.region, Passwords: onboardings, PasswordMin: s.cfg.PasswordMin, CACUnique: s.cfg.CACUnique,
		Onboardings: s.cfg.ClientOnboardings, Now: time.Now,
	}
	s.responses = &idempotency.Store{Pool: s.lanes.people, Peppers: s.peppers, Now: time.Now}
	s.refused = requestlog.New(s.lanes.jobs, s.peppers, time.Now, s.log, s.metrics.RequestLogDropped)
	s.people, err = OpenPeople(s.cfg, s.lanes.people, s.peppers, s.access, s.entities, logins)
	return err
}

// OpenPeople creates the service for accounts and logins, for the server and for
// the commands that manage accounts.
func OpenPeople(cfg config.Config, pool *pgxpool.Pool, peppers *secret.Peppers, accessService *access.Service, reg *registry.Registry, passwords *secret.Passwords) (*people.People, error) {
	queue, err := jobs.EmailQueue(pool)
	if err != nil {
		return nil, err
	}
	p := &people.People{
		Pool: pool, Access: accessService, Registry: reg, Peppers: peppers, Passwords: passwords, StaffFactor: cfg.StaffSecondFactor, EntityFactor: cfg.SecondFactor, Clashes: cfg.ClientClashes,
		StaffLookups: cfg.StaffLookups,
		Issuer:       "Lineproof " + cfg.RegulatorCode, PublicURL: cfg.LinkBase(), Now: time.Now, QueueEmail: queue,
	}
	accessService.CheckKeyMaker, accessService.MakesKeys, accessService.Notify = p.CheckKeyMaker, p.MakesKeys, p.NotifyOfCredential
	accessService.KeyRevoked = func(ctx context.Context, tx pg.Tx, entity, key uuid.UUID, by audit.Actor, request uuid.UUID) error {
		paused, err := webhook.PauseMadeBy(ctx, tx, key, webhook.By{Actor: by, Request: request}, p.Now())
		if err != nil || len(paused) == 0 {
			return err
		}
		return p.NotifyOf(ctx, tx, people.WebhookPaused, message.Content{About: "“" + strings.Join(paused, "”, “") + "”", Path: "/portal/webhooks"}, entity, by)
	}
	if cfg.SMTPURL == "" {
		return p, nil // e-mails wait in the queue
	}
	p.Mail, err = mail.Open(cfg.SMTPURL, cfg.MailFrom)
	return p, err
}
