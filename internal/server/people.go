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

// OpenPeople wires what is about people, for the service and for the commands
// that do the same by hand.
func OpenPeople(cfg config.Config, pool *pgxpool.Pool, peppers *secret.Peppers, keeper *access.Keeper, reg *registry.Registry, passwords *secret.Passwords) (*people.People, error) {
	post, err := jobs.Poster(pool)
	if err != nil {
		return nil, err
	}
	p := &people.People{
		Pool: pool, Keeper: keeper, Registry: reg, Peppers: peppers, Passwords: passwords, StaffFactor: cfg.StaffSecondFactor,
		Issuer: "Lineproof " + cfg.RegulatorCode, PublicURL: cfg.LinkBase(), Now: time.Now, Post: post,
	}
	if cfg.SMTPURL == "" {
		return p, nil // letters wait
	}
	p.Mail, err = mail.Open(cfg.SMTPURL, cfg.MailFrom)
	return p, err
}
