package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
)

func (a *app) accountCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "account",
		Short: "List accounts, end them, and help people back in",
		Long: `Accounts of people: the regulator's staff, and the admins and members of organisations. An account is named by its id or
by its e-mail address.`,
		Example: "  lineproof account list",
	}
	cmd.AddCommand(a.accountListCommand(), a.accountDisableCommand(), a.accountFactorCommand(), a.accountPasswordCommand())
	return cmd
}

// listedAccount is an account as programs read it.
type listedAccount struct {
	ID        string `json:"accountId"`
	Kind      string `json:"kind"`
	Role      string `json:"role,omitempty"`
	EntityUID string `json:"entityUid,omitempty"`
	Name      string `json:"name"`
	Email     string `json:"email"`
	State     string `json:"state"`
	Verified  bool   `json:"isVerified"`
	CreatedAt string `json:"createdAt"`
}

func (a *app) accountListCommand() *cobra.Command {
	var entity string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the accounts of staff, or of an organisation, oldest first",
		Long:    "Lists the accounts of the regulator's staff or, with --entity, those of an organisation: those who were invited and those who were removed, too.",
		Example: "  lineproof account list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "entityUid of the organisation (default: the regulator's staff)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		id := uuid.Nil
		if entity != "" {
			if id, err = parseID("--entity", entity); err != nil {
				return err
			}
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		accounts, err := p.registry.Accounts(cmd.Context(), id)
		if err != nil {
			return err
		}
		list := make([]listedAccount, 0, len(accounts))
		rows := [][]string{{"ACCOUNT ID", "KIND", "NAME", "E-MAIL", "STATE"}}
		for _, x := range accounts {
			shown := listedAccount{
				ID: x.ID.String(), Kind: string(x.Kind), Role: x.Role, EntityUID: orNothing(x.Entity), Name: x.Name, Email: x.Email,
				State: stateOf(x), Verified: x.Verified, CreatedAt: moment(x.CreatedAt),
			}
			list = append(list, shown)
			rows = append(rows, []string{shown.ID, strings.TrimSpace(shown.Kind + " " + shown.Role), shown.Name, shown.Email, shown.State})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

func stateOf(x registry.Account) string {
	switch {
	case x.Disabled:
		return "removed"
	case !x.Accepted:
		return "invited"
	}
	return "active"
}

func (a *app) accountDisableCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "disable ID|EMAIL",
		Short: "End an account",
		Long: `Ends an account: within 5 seconds its sessions open nothing, and nobody can log in with it. Its second factor is gone. The
person can be invited again to the same place, and begins anew.`,
		Example: "  lineproof account disable ada@regulator.example",
		Args:    cobra.ExactArgs(1),
		RunE: a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
			x, err := accountMeant(cmd.Context(), p, args[0])
			if err != nil {
				return err
			}
			if err := p.people.Dismiss(cmd.Context(), x, access.Operator, uuid.Nil); err != nil {
				return err
			}
			a.note("The account %s is ended.", x.ID)
			return nil
		}),
	}
}

func (a *app) accountFactorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reset-factor ID|EMAIL",
		Short: "Take away a second factor that was lost",
		Long: `Takes away the second factor of somebody who has lost the authenticator and the recovery codes. All sessions of the account
end. Make sure that it is the person who asks: from here on the password alone opens the account, or, for staff, lets them
set up a new factor. They get a letter about it.`,
		Example: "  lineproof account reset-factor ada@regulator.example",
		Args:    cobra.ExactArgs(1),
		RunE: a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
			x, err := accountMeant(cmd.Context(), p, args[0])
			if err != nil {
				return err
			}
			if err := p.people.ResetFactor(cmd.Context(), x.ID, access.Operator, uuid.Nil); err != nil {
				return err
			}
			a.note("The account %s has no second factor any more.", x.ID)
			return nil
		}),
	}
}

func (a *app) accountPasswordCommand() *cobra.Command {
	var link bool
	cmd := &cobra.Command{
		Use:   "reset-password ID|EMAIL",
		Short: "Send a link by which a new password can be set",
		Long: `Sends a letter with a link by which the person sets a new password. It works once, for 30 minutes. With --link nothing is
sent: the link is printed, for you to hand over on a way that you would trust with a password.`,
		Example: `  lineproof account reset-password ada@regulator.example
  lineproof account reset-password ada@regulator.example --link`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&link, "link", false, "print the link instead of sending it")
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, args []string, p *parts) error {
		x, err := accountMeant(cmd.Context(), p, args[0])
		if err != nil {
			return err
		}
		if link {
			return a.printLink(cmd.Context(), p, people.Reset, x.ID)
		}
		err = pg.InTx(cmd.Context(), p.pool, func(tx pg.Tx) error {
			return p.people.Post(cmd.Context(), tx, people.Letter{Kind: people.Reset, Account: x.ID})
		})
		if err == nil {
			a.note("The letter is queued.")
		}
		return err
	})
	return cmd
}

// accountMeant returns the account that an argument names.
func accountMeant(ctx context.Context, p *parts, arg string) (registry.Account, error) {
	if id, err := uuid.Parse(arg); err == nil {
		return p.registry.Account(ctx, p.pool, id)
	}
	return p.registry.AccountByEmail(ctx, p.pool, arg)
}

func (a *app) printLink(ctx context.Context, p *parts, kind people.LetterKind, account uuid.UUID) error {
	link, until, err := p.people.Link(ctx, kind, account)
	if err != nil {
		return err
	}
	a.note("The link works once, until %s.", moment(until))
	fmt.Fprintln(a.out, link.Reveal())
	return nil
}

func (a *app) inviteCommand() *cobra.Command {
	var g people.Guest
	var kind, entity string
	var link bool
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Invite somebody to an account",
		Long: `Makes an account for somebody and sends a letter with a link, by which they give their name and choose a password. It works
once, for 72 hours; inviting again sends another. An organisation's first admin is invited here, and then invites colleagues.
An administrator of the staff begins as an auditor until somebody else has confirmed the role.

With --link nothing is sent: the link is printed, for you to hand over on a way that you would trust with a password.`,
		Example: `  lineproof invite --email ngozi@bank.example --kind admin --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40
  lineproof invite --email ada@regulator.example --kind staff --role reviewer`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&g.Email, "email", "", "the person's e-mail address, with which they will log in")
	flags.StringVar(&kind, "kind", "", "admin or member of an organisation, or staff of the regulator")
	flags.StringVar(&entity, "entity", "", "entityUid of the organisation")
	flags.StringVar(&g.Role, "role", "", "of staff: administrator, reviewer or auditor")
	flags.BoolVar(&link, "link", false, "print the link instead of sending it")
	required(cmd, "email", "kind")
	completes(cmd, "kind", "admin", "member", "staff")
	completes(cmd, "role", "administrator", "reviewer", "auditor")
	cmd.RunE = a.run(func(cmd *cobra.Command, _ []string) (err error) {
		if g.Kind, err = kindMeant(kind, entity); err != nil {
			return err
		}
		if entity != "" {
			if g.Entity, err = parseID("--entity", entity); err != nil {
				return err
			}
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		if link {
			p.people.Post = func(context.Context, pg.Tx, people.Letter) error { return nil }
		}
		i, err := p.people.Welcome(cmd.Context(), g, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		if i.Waits != uuid.Nil {
			a.note("The account is an auditor's until an administrator has confirmed %s. See: lineproof approval list", i.Waits)
		}
		if link {
			return a.printLink(cmd.Context(), p, people.Invitation, i.ID)
		}
		a.note("The letter is queued.")
		fmt.Fprintln(a.out, i.ID)
		return nil
	})
	return cmd
}

func kindMeant(kind, entity string) (registry.AccountKind, error) {
	k := registry.AccountKind(kind)
	switch k {
	case registry.StaffAccount:
		if entity != "" {
			return "", usagef("--entity goes with admin and member; staff work for none")
		}
		return k, nil
	case registry.AdminAccount, registry.MemberAccount:
		if entity == "" {
			return "", usagef("--entity is missing: say for which organisation the person will work")
		}
		return k, nil
	}
	return "", usagef("--kind is admin, member or staff")
}
