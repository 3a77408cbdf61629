package demo

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// demoAccount is a portal account of the demo data, with the password that is
// shown once.
type demoAccount struct {
	Role     string `json:"role"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

// createDemoAccounts creates a portal account for every role: of the regulator's
// staff (two founders, because some changes need a second person), of the
// bank, and of a telco that the client onboards.
func createDemoAccounts(ctx context.Context, b *backend.Backend, bank, client uuid.UUID) ([]demoAccount, error) {
	var list []demoAccount
	add := func(role, email string) secret.Text {
		password := rand.Text()
		list = append(list, demoAccount{Role: role, Email: email, Password: password})
		return secret.Text(password)
	}
	founder := func(name, email string) registry.StaffForm {
		return registry.StaffForm{Name: name, Email: email, Password: add("staff, "+string(access.Administrator), email)}
	}
	founders := []registry.StaffForm{founder("Ada Obi", "administrator@regulator.example"), founder("Bola Ade", "second-administrator@regulator.example")}
	ids, err := b.Registry.Found(ctx, founders, access.Operator, uuid.Nil)
	if err != nil {
		return nil, err
	}
	approvals := &approval.Service{Pool: b.Pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: b.Registry.Effects(), Now: time.Now}
	for _, s := range []struct {
		name, email string
		role        access.Role
	}{
		{"Chidi Eze", "reviewer@regulator.example", access.Reviewer},
		{"Dayo Bello", "auditor@regulator.example", access.Auditor},
	} {
		form := registry.StaffForm{Name: s.name, Email: s.email, Role: string(s.role), Password: add("staff, "+string(s.role), s.email)}
		created, err := b.Registry.CreateStaff(ctx, form, access.Operator, uuid.Nil)
		if err != nil {
			return nil, err
		}
		if created.Pending != uuid.Nil {
			if _, err := approvals.Confirm(ctx, created.Pending, audit.Actor{Kind: audit.Account, ID: ids[0]}, uuid.Nil); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range []struct {
		name, email, role string
		kind              registry.AccountKind
	}{
		{"Efua Mensah", "admin@harbourbank.example", "bank, admin", registry.AdminAccount},
		{"Femi Sule", "member@harbourbank.example", "bank, member", registry.MemberAccount},
	} {
		if err := createDemoMember(ctx, b, registry.Invitee{Kind: m.kind, Entity: bank, Email: m.email}, m.name, add(m.role, m.email)); err != nil {
			return nil, err
		}
	}
	const telco = "admin@demotelecom.example"
	application, err := b.Registry.Prepare(ctx, registry.ApplicationForm{
		Name: "Demo Telecom", CAC: "RC654321", AdminName: "Grace Musa", AdminEmail: telco, AdminPhone: "+2348030000001", AdminPassword: add("telco, admin", telco),
	})
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, b.Pool, func(tx pg.Tx) error {
		_, _, err := b.Registry.Onboard(ctx, tx, application, registry.Onboarder{Client: client, Vouches: true})
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// createDemoMember creates an account as an accepted invitation leaves it.
func createDemoMember(ctx context.Context, b *backend.Backend, i registry.Invitee, name string, password secret.Text) error {
	var account registry.Account
	err := pg.InTx(ctx, b.Pool, func(tx pg.Tx) (err error) {
		account, err = b.Registry.Invite(ctx, tx, i)
		return err
	})
	if err != nil {
		return err
	}
	hash, err := b.Registry.HashPassword(ctx, account.ID, "password", password) // slow, so outside of a transaction
	if err != nil {
		return err
	}
	return pg.InTx(ctx, b.Pool, func(tx pg.Tx) error {
		_, err := b.Registry.Accept(ctx, tx, account, name, hash)
		return err
	})
}
