package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
)

func (a *app) accountCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "account",
		Short: "List and disable accounts, and reset passwords and two-factor authentication",
		Long: `Accounts of the regulator's staff, and of the admins and members of organisations. Identify an account by its id or its
e-mail address.`,
		Example: "  lineproof account list",
	}
	cmd.AddCommand(a.accountListCommand(), a.accountDisableCommand(), a.accountFactorCommand(), a.accountUnlockCommand(), a.accountPasswordCommand())
	return cmd
}

// accountJSON is an account as printed with --json.
type accountJSON struct {
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
		Long:    "Lists the accounts of the regulator's staff or, with --entity, those of an organisation, including invited and removed ones.",
		Example: "  lineproof account list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&entity, "entity", "", "entityUid of the organisation (default: the regulator's staff)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
		id, err := console.ParseOptionalID("--entity", entity)
		if err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		accounts, err := b.Registry.Accounts(cmd.Context(), id)
		if err != nil {
			return err
		}
		list := make([]accountJSON, 0, len(accounts))
		rows := [][]string{{"ACCOUNT ID", "KIND", "NAME", "E-MAIL", "STATE"}}
		for _, x := range accounts {
			account := accountJSON{
				ID: x.ID.String(), Kind: string(x.Kind), Role: x.Role, EntityUID: console.FormatID(x.Entity), Name: x.Name, Email: x.Email,
				State: accountState(x), Verified: x.Verified, CreatedAt: console.FormatTime(x.CreatedAt),
			}
			list = append(list, account)
			rows = append(rows, []string{account.ID, strings.TrimSpace(account.Kind + " " + account.Role), account.Name, account.Email, account.State})
		}
		return a.Print(*asJSON, list, rows...)
	})
	return cmd
}

func accountState(x registry.Account) string {
	switch {
	case x.Disabled:
		return "removed"
	case !x.Accepted:
		return "invited"
	}
	return "active"
}

func (a *app) accountDisableCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "disable ID|EMAIL",
		Short: "Disable an account",
		Long: `Disables an account: within 5 seconds every node refuses its sessions, and nobody can log in with it. Its two-factor
authentication is removed. The person can be invited again and then sets up the account from the start.

It takes two people to disable an administrator: another administrator has to confirm it, and the exit code is 7.`,
		Example: "  lineproof account disable ada@regulator.example --reason 'Left the regulator'",
		Args:    cobra.ExactArgs(1),
	}
	reason := console.ReasonFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		x, err := findAccount(cmd.Context(), b, args[0])
		if err != nil {
			return err
		}
		if err := b.People.DisableAccount(cmd.Context(), x, *reason, access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.Note("The account %s is disabled.", x.ID)
		return nil
	})
	return cmd
}

func (a *app) accountFactorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset-factor ID|EMAIL",
		Short: "Remove two-factor authentication from an account",
		Long: `Removes two-factor authentication for a person who has lost the authenticator and the recovery codes. All sessions of the
account end. Verify the person's identity first: afterwards the password alone is enough to log in or, for staff, to set up
two-factor authentication again. The person is notified by e-mail.

It takes two people to reset a member of staff: an administrator has to confirm it, and the exit code is 7. Afterwards the
operator and that person do not count as two people for 30 days.`,
		Example: "  lineproof account reset-factor ada@regulator.example --reason 'Lost her phone; checked in person'",
		Args:    cobra.ExactArgs(1),
	}
	reason := console.ReasonFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		x, err := findAccount(cmd.Context(), b, args[0])
		if err != nil {
			return err
		}
		if err := b.People.ResetFactor(cmd.Context(), x.ID, *reason, access.Operator, uuid.Nil); err != nil {
			return err
		}
		a.Note("The account %s no longer uses two-factor authentication.", x.ID)
		return nil
	})
	return cmd
}

func (a *app) accountUnlockCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unlock-factor ID|EMAIL",
		Short: "Unlock two-factor authentication after 100 wrong codes",
		Long: `Unlocks two-factor authentication that was locked after 100 wrong codes in a row. Whoever entered them knew the password:
ask the person first, and have the password changed if it was somebody else. Another administrator can do the same in the
portal.`,
		Example: "  lineproof account unlock-factor ada@regulator.example",
		Args:    cobra.ExactArgs(1),
		RunE: backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
			x, err := findAccount(cmd.Context(), b, args[0])
			if err != nil {
				return err
			}
			if err := b.People.UnlockFactor(cmd.Context(), x, access.Operator, uuid.Nil); err != nil {
				return err
			}
			a.Note("Two-factor authentication of the account %s is unlocked.", x.ID)
			return nil
		}),
	}
}

func (a *app) accountPasswordCommand() *cobra.Command {
	var link bool
	cmd := &cobra.Command{
		Use:   "reset-password ID|EMAIL",
		Short: "Send a link to set a new password",
		Long: `Sends an e-mail with a link to set a new password. The link works once, for 30 minutes. With --link no e-mail is sent: the
link is printed, so that you can pass it on over a channel that you would trust with a password.

It takes two people to reset a member of staff: the e-mail is sent when an administrator has confirmed it, and the exit code
is 7. --link is refused then: one person would hold the link. Afterwards the operator and that person do not count as two
people for 30 days.`,
		Example: `  lineproof account reset-password ngozi@bank.example
  lineproof account reset-password ngozi@bank.example --link`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&link, "link", false, "print the link instead of sending it")
	reason := console.ReasonFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		x, err := findAccount(cmd.Context(), b, args[0])
		if err != nil {
			return err
		}
		text, until, err := b.People.StartReset(cmd.Context(), x, link, *reason, access.Operator, uuid.Nil)
		switch {
		case err != nil:
			return err
		case link:
			a.showLink(text, until)
		default:
			a.Note("Password e-mail queued.")
		}
		return nil
	})
	return cmd
}

// findAccount returns the account with the given id or e-mail address.
func findAccount(ctx context.Context, b *backend.Backend, arg string) (registry.Account, error) {
	if id, err := uuid.Parse(arg); err == nil {
		return b.Registry.Account(ctx, b.Pool, id)
	}
	return b.Registry.AccountByEmail(ctx, b.Pool, arg)
}

func (a *app) showLink(link secret.Text, until time.Time) {
	a.Note("The link works once, until %s.", console.FormatTime(until))
	fmt.Fprintln(a.Out, link.Reveal())
}

func (a *app) inviteCommand() *cobra.Command {
	var form people.InviteForm
	var kind, entity string
	var link bool
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Invite a person by e-mail",
		Long: `Creates an account and sends an e-mail with a link, with which the person enters a name and chooses a password. The link
works once, for 72 hours; inviting the person again sends a new link. Invite an organisation's first admin here; the admin
then invites colleagues. A staff administrator has the role auditor until a second person has confirmed the role.

With --link no e-mail is sent: the link is printed, so that you can pass it on over a channel that you would trust with a
password.`,
		Example: `  lineproof invite --email ngozi@bank.example --kind admin --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40
  lineproof invite --email ada@regulator.example --kind staff --role reviewer`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Email, "email", "", "e-mail address of the person, used to log in")
	flags.StringVar(&kind, "kind", "", "admin or member of an organisation, or staff of the regulator")
	flags.StringVar(&entity, "entity", "", "entityUid of the organisation")
	flags.StringVar(&form.Role, "role", "", "for staff: administrator, reviewer or auditor")
	flags.BoolVar(&link, "link", false, "print the link instead of sending it")
	console.Require(cmd, "email", "kind")
	console.Complete(cmd, "kind", "admin", "member", "staff")
	console.Complete(cmd, "role", "administrator", "reviewer", "auditor")
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
		if form.Kind, err = parseKind(kind, entity); err != nil {
			return err
		}
		if form.Entity, err = console.ParseOptionalID("--entity", entity); err != nil {
			return err
		}
		b, err := backend.Open(cmd.Context(), a.Console)
		if err != nil {
			return err
		}
		defer b.Close()
		if link {
			b.People.QueueEmail = func(context.Context, pg.Tx, people.Email) error { return nil }
		}
		invited, err := b.People.CreateInvited(cmd.Context(), form, access.Operator, uuid.Nil)
		if err != nil {
			return err
		}
		if invited.Pending != uuid.Nil {
			a.Note("The account has the role auditor until an administrator confirms approval %s. See: lineproof approval list", invited.Pending)
		}
		if link {
			text, until, err := b.People.Link(cmd.Context(), people.Invitation, invited.ID)
			if err == nil {
				a.showLink(text, until)
			}
			return err
		}
		a.Note("Invitation e-mail queued.")
		fmt.Fprintln(a.Out, invited.ID)
		return nil
	})
	return cmd
}

func parseKind(kind, entity string) (registry.AccountKind, error) {
	k := registry.AccountKind(kind)
	switch k {
	case registry.StaffAccount:
		if entity != "" {
			return "", console.Usagef("--entity can be used only with --kind admin or member")
		}
		return k, nil
	case registry.AdminAccount, registry.MemberAccount:
		if entity == "" {
			return "", console.Usagef("--entity is missing: give the organisation of the person")
		}
		return k, nil
	}
	return "", console.Usagef("--kind must be admin, member or staff")
}
