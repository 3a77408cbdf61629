package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/cli/backend"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/secret"
)

func (a *app) accountCommand() *cobra.Command {
	return console.Group(&cobra.Command{
		Use:   "account",
		Short: "List and disable accounts, and reset passwords and two-factor authentication",
		Long: `Accounts of the regulator's staff, and of the admins and members of organisations. Identify an account by its id or its
e-mail address.`,
		Example: "  lineproof account list",
	}, a.accountListCommand(), a.accountDisableCommand(), a.accountFactorCommand(), a.accountUnlockCommand(), a.accountPasswordCommand())
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
	var entity uuid.UUID
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the accounts of staff, or of an organisation, oldest first",
		Long:    "Lists the accounts of the regulator's staff or, with --entity, those of an organisation, including invited and removed ones.",
		Example: "  lineproof account list --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.NoArgs,
	}
	console.IDFlag(cmd, &entity, "entity", "entityUid of the organisation (default: the regulator's staff)")
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, _ []string, b *backend.Backend) error {
		accounts, err := b.Registry.Accounts(cmd.Context(), entity)
		if err != nil {
			return err
		}
		return console.List(a.Console, *asJSON, accounts, newAccountJSON,
			"ACCOUNT ID, KIND, NAME, E-MAIL, STATE", func(x *accountJSON) []any {
				return []any{x.ID, strings.TrimSpace(x.Kind + " " + x.Role), x.Name, x.Email, x.State}
			})
	})
	return cmd
}

func newAccountJSON(x *registry.Account) accountJSON {
	return accountJSON{
		ID: x.ID.String(), Kind: string(x.Kind), Role: x.Role, EntityUID: console.FormatID(x.Entity), Name: x.Name, Email: x.Email,
		State: accountState(x), Verified: x.Verified, CreatedAt: console.FormatTime(x.CreatedAt),
	}
}

func accountState(x *registry.Account) string {
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
	return a.accountChange(cmd, "The account %s is disabled.", func(ctx context.Context, b *backend.Backend, x registry.Account) error {
		return b.People.DisableAccount(ctx, x, *reason, access.Operator, uuid.Nil)
	})
}

func (a *app) accountFactorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset-factor ID|EMAIL",
		Short: "Remove two-factor authentication from an account",
		Long: `Removes two-factor authentication for a person who has lost the authenticator and the recovery codes. All sessions of the
account end. Verify the person's identity first: afterwards the password alone is enough to log in or, for staff, to set up
two-factor authentication again. The person is notified by e-mail.

It takes two people to reset a member of staff, or somebody of an organisation that has an admin: an administrator has to confirm it, and the exit code is 7. Afterwards the
operator and that person do not count as two people until two administrators have confirmed who the person is, with
"lineproof staff role" and the role that the person has.`,
		Example: "  lineproof account reset-factor ada@regulator.example --reason 'Lost her phone; checked in person'",
		Args:    cobra.ExactArgs(1),
	}
	reason := console.ReasonFlag(cmd)
	return a.accountChange(cmd, "The account %s no longer uses two-factor authentication.", func(ctx context.Context, b *backend.Backend, x registry.Account) error {
		return b.People.ResetFactor(ctx, x.ID, *reason, access.Operator, uuid.Nil)
	})
}

func (a *app) accountUnlockCommand() *cobra.Command {
	return a.accountChange(&cobra.Command{
		Use:   "unlock-factor ID|EMAIL",
		Short: "Unlock two-factor authentication after 100 wrong codes",
		Long: `Unlocks two-factor authentication that was locked after 100 wrong codes in a row. Whoever entered them knew the password:
ask the person first, and have the password changed if it was somebody else. Another administrator can do the same in the
portal.`,
		Example: "  lineproof account unlock-factor ada@regulator.example",
		Args:    cobra.ExactArgs(1),
	}, "Two-factor authentication of the account %s is unlocked.", func(ctx context.Context, b *backend.Backend, x registry.Account) error {
		return b.People.UnlockFactor(ctx, x, access.Operator, uuid.Nil)
	})
}

// accountChange is a command that changes one account; done is the message.
func (a *app) accountChange(cmd *cobra.Command, done string,
	change func(context.Context, *backend.Backend, registry.Account) error,
) *cobra.Command {
	cmd.RunE = backend.Run(a.Console, func(cmd *cobra.Command, args []string, b *backend.Backend) error {
		x, err := findAccount(cmd.Context(), b, args[0])
		if err != nil {
			return err
		}
		if err := change(cmd.Context(), b, x); err != nil {
			return err
		}
		a.Note(done, x.ID)
		return nil
	})
	return cmd
}

func (a *app) accountPasswordCommand() *cobra.Command {
	var link bool
	cmd := &cobra.Command{
		Use:   "reset-password ID|EMAIL",
		Short: "Send a link to set a new password",
		Long: `Sends an e-mail with a link to set a new password. The link works once, for 30 minutes. With --link no e-mail is sent: the
link is printed, so that you can pass it on over a channel that you would trust with a password.

It takes two people to reset a member of staff, or somebody of an organisation that has an admin: the e-mail is sent when an administrator has confirmed it, and the exit code
is 7. --link is refused then: one person would hold the link. Afterwards the operator and that person do not count as two
people until two administrators have confirmed who the person is, with "lineproof staff role" and the role that the person has.`,
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

// findAccount returns the account with the given id or e-mail address, or the one that was
// invited by that address.
func findAccount(ctx context.Context, b *backend.Backend, arg string) (registry.Account, error) {
	if id, err := uuid.Parse(arg); err == nil {
		return b.Registry.Account(ctx, b.Pool, id)
	}
	a, err := b.Registry.AccountByEmail(ctx, b.Pool, arg)
	if !errors.Is(err, registry.ErrNoAccount) {
		return a, err
	}
	invited, failed := b.Registry.Invited(ctx, arg)
	switch {
	case failed != nil:
		return registry.Account{}, failed
	case len(invited) > 1:
		return registry.Account{}, console.Usagef("more than one organisation has invited this address: give the id of the account, see lineproof account list")
	case len(invited) == 1:
		return b.Registry.Account(ctx, b.Pool, invited[0])
	}
	return registry.Account{}, err
}

func (a *app) showLink(link secret.Text, until time.Time) {
	a.Note("The link works once, until %s.", console.FormatTime(until))
	fmt.Fprintln(a.Out, link.Reveal())
}

func (a *app) inviteCommand() *cobra.Command {
	var form people.InviteForm
	var kind string
	var link bool
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Invite a person by e-mail",
		Long: `Creates an account and sends an e-mail with a link, with which the person enters a name and chooses a password. The link
works once, for 72 hours; inviting the person again sends a new link. Invite an organisation's first admin here; the admin
then invites colleagues. Once there is an admin, an administrator has to confirm an invitation to the organisation, and the exit
code is 7; its admins get an e-mail. An administrator or a reviewer has the role auditor until a second person has confirmed the role.

With --link no e-mail is sent: the link is printed, so that you can pass it on over a channel that you would trust with a
password.`,
		Example: `  lineproof invite --email ngozi@bank.example --kind admin --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40
  lineproof invite --email ada@regulator.example --kind staff --role reviewer`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Email, "email", "", "e-mail address of the person, used to log in")
	flags.StringVar(&kind, "kind", "", "admin or member of an organisation, or staff of the regulator")
	console.IDFlag(cmd, &form.Entity, "entity", "entityUid of the organisation")
	flags.StringVar(&form.Role, "role", "", "for staff: administrator, reviewer or auditor")
	flags.BoolVar(&link, "link", false, "print the link instead of sending it")
	console.Require(cmd, "email", "kind")
	console.Complete(cmd, "kind", "admin", "member", "staff")
	console.Complete(cmd, "role", "administrator", "reviewer", "auditor")
	cmd.RunE = a.Run(func(cmd *cobra.Command, _ []string) (err error) {
		if form.Kind, err = parseKind(kind, form.Entity); err != nil {
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
		if invited.Pending != uuid.Nil && form.Kind != registry.StaffAccount {
			fmt.Fprintln(a.Out, invited.ID)
			return approval.Waits(invited.Pending)
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

func parseKind(kind string, entity uuid.UUID) (registry.AccountKind, error) {
	k := registry.AccountKind(kind)
	switch k {
	case registry.StaffAccount:
		if entity != uuid.Nil {
			return "", console.Usagef("--entity can be used only with --kind admin or member")
		}
		return k, nil
	case registry.AdminAccount, registry.MemberAccount:
		if entity == uuid.Nil {
			return "", console.Usagef("--entity is missing: give the organisation of the person")
		}
		return k, nil
	}
	return "", console.Usagef("--kind must be admin, member or staff")
}
