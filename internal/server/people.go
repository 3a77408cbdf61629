package server

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/mail"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

// OpenPeople creates the service for accounts and logins, for the server and for
// the commands that manage accounts.
func OpenPeople(cfg config.Config, pool *pgxpool.Pool, peppers *secret.Peppers, accessService *access.Service, reg *registry.Registry, passwords *secret.Passwords) (*people.People, error) {
	queue, err := jobs.EmailQueue(pool)
	if err != nil {
		return nil, err
	}
	p := &people.People{
		Pool: pool, Access: accessService, Registry: reg, Peppers: peppers, Passwords: passwords, StaffFactor: cfg.StaffSecondFactor,
		Issuer: "Lineproof " + cfg.RegulatorCode, PublicURL: cfg.LinkBase(), Now: time.Now, QueueEmail: queue,
	}
	accessService.CheckKeyMaker = p.CheckKeyMaker
	if cfg.SMTPURL == "" {
		return p, nil // e-mails wait in the queue
	}
	p.Mail, err = mail.Open(cfg.SMTPURL, cfg.MailFrom)
	return p, err
}
