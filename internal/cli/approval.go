package cli

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/supply"
)

// approvals is the desk at which the second person confirms.
func (p *parts) approvals() *approval.Desk {
	return &approval.Desk{Pool: p.pool, Effects: p.effects(), Now: time.Now}
}

// effects is everything that can wait for a second person.
func (p *parts) effects() map[approval.Kind]approval.Effect {
	return p.registry.Effects()
}

// sessionFlag lets a member of staff act in the place of whoever runs the
// command.
func sessionFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("session-file", "", "file whose first line is a session of staff, who then acts instead of the operator; - is standard input")
}

var errNoSession = fault.New(fault.Unauthenticated, "the session in the file is not one of staff, has ended, or still lacks a second factor; log in again")

// actor is who acts: whoever runs the command or, where a session is given, the
// person whose it is, who then needs one of the roles, if any are named.
func (a *app) actor(ctx context.Context, p *parts, sessionFile string, roles ...access.Role) (audit.Actor, error) {
	if sessionFile == "" {
		return access.Operator, nil
	}
	text, err := a.secretFrom(sessionFile)
	if err != nil {
		return audit.Actor{}, err
	}
	who, err := p.keeper.Admit(ctx, text.Reveal(), netip.Addr{})
	if errors.Is(err, access.ErrUnauthenticated) || err == nil && (who.Kind != access.Session || who.Role == "" || who.Limited) {
		return audit.Actor{}, errNoSession
	}
	if err != nil {
		return audit.Actor{}, err
	}
	if len(roles) > 0 && !slices.Contains(roles, who.Role) {
		return audit.Actor{}, access.ErrPermission
	}
	return who.Actor(), nil
}

func (a *app) approvalCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approval",
		Short: "List, confirm and refuse what needs two people",
		Long: `What is too dangerous for one person waits until another confirms it: bringing back a revoked entity, and giving rights
to staff. Whoever runs the command line is one person. A member of staff who has logged in over the API acts here with
--session-file.`,
		Example: "  lineproof approval list",
	}
	cmd.AddCommand(a.approvalListCommand(), a.approvalConfirmCommand(), a.approvalRefuseCommand())
	return cmd
}

// shownApproval is a question to a second person, as programs read it.
type shownApproval struct {
	ID        string            `json:"approvalId"`
	Kind      string            `json:"kind"`
	Subject   string            `json:"subject"`
	Details   map[string]string `json:"details,omitempty"`
	Reason    string            `json:"reason"`
	State     string            `json:"state"`
	AskedBy   string            `json:"askedBy,omitempty"`
	AskedAt   string            `json:"askedAt"`
	ExpiresAt string            `json:"expiresAt,omitempty"`
	DecidedBy string            `json:"decidedBy,omitempty"`
	DecidedAt string            `json:"decidedAt,omitempty"`
}

func shownQuestion(q approval.Approval) shownApproval {
	return shownApproval{
		ID: q.ID.String(), Kind: string(q.Kind), Subject: q.Subject.String(), Details: q.Details, Reason: q.Reason, State: string(q.State),
		AskedBy: actorName(q.Asked), AskedAt: moment(q.AskedAt), ExpiresAt: moment(q.ExpiresAt),
		DecidedBy: actorName(q.Decided), DecidedAt: moment(q.DecidedAt),
	}
}

// blacklisting is the kind of the waiting orders in the list. They are decided
// over the API, by clients and staff.
const blacklisting = "line.blacklist"

func shownPending(o supply.Order) shownApproval {
	return shownApproval{ID: o.ID.String(), Kind: blacklisting, Subject: o.ID.String(), Reason: o.Note, State: string(approval.Waiting), AskedAt: moment(o.AskedAt)}
}

// actorName writes an actor: the kind, and the id where there is one.
func actorName(by audit.Actor) string {
	if by.ID == uuid.Nil {
		return string(by.Kind)
	}
	return string(by.Kind) + " " + by.ID.String()
}

func (a *app) approvalListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what waits for a second person, newest first",
		Long: `Lists what waits for a second person, or with --all also what was confirmed, refused or has lapsed. Blacklistings that
wait are listed too; they are confirmed over the API.`,
		Example: "  lineproof approval list --all",
		Args:    cobra.NoArgs,
	}
	all := cmd.Flags().Bool("all", false, "also those that no longer wait")
	limit := cmd.Flags().Int("limit", 100, "how many")
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.onDatabase(func(cmd *cobra.Command, _ []string, p *parts) error {
		questions, err := p.approvals().List(cmd.Context(), *all, *limit)
		if err != nil {
			return err
		}
		orders, err := p.desk.Orders(cmd.Context(), true, *limit)
		if err != nil {
			return err
		}
		list := make([]shownApproval, 0, len(questions)+len(orders))
		for _, q := range questions {
			list = append(list, shownQuestion(q))
		}
		for _, o := range orders {
			list = append(list, shownPending(o))
		}
		rows := [][]string{{"APPROVAL", "KIND", "SUBJECT", "STATE", "ASKED BY", "ASKED", "EXPIRES", "REASON"}}
		for _, s := range list {
			rows = append(rows, []string{s.ID, s.Kind, s.Subject, s.State, s.AskedBy, s.AskedAt, s.ExpiresAt, s.Reason})
		}
		return a.print(*asJSON, list, rows...)
	})
	return cmd
}

func (a *app) approvalConfirmCommand() *cobra.Command {
	return a.approvalDecideCommand(&cobra.Command{
		Use:   "confirm ID",
		Short: "Let something take effect that another person asked for",
		Long: `Lets something take effect that waits for a second person. Whoever asked cannot confirm it, nor can the account that
it is about.`,
		Example: "  lineproof approval confirm 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, (*approval.Desk).Confirm)
}

func (a *app) approvalRefuseCommand() *cobra.Command {
	return a.approvalDecideCommand(&cobra.Command{
		Use:     "refuse ID",
		Short:   "Refuse or withdraw something that waits",
		Long:    "Refuses something that waits for a second person. Whoever asked for it withdraws it so.",
		Example: "  lineproof approval refuse 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
	}, (*approval.Desk).Refuse)
}

func (a *app) approvalDecideCommand(cmd *cobra.Command,
	decide func(*approval.Desk, context.Context, uuid.UUID, audit.Actor, uuid.UUID) (approval.Approval, error),
) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	session := sessionFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = a.run(func(cmd *cobra.Command, args []string) error {
		id, err := parseID("ID", args[0])
		if err != nil {
			return err
		}
		p, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer p.close()
		by, err := a.actor(cmd.Context(), p, *session)
		if err != nil {
			return err
		}
		q, err := decide(p.approvals(), cmd.Context(), id, by, uuid.Nil)
		if err != nil {
			return err
		}
		s := shownQuestion(q)
		return a.print(*asJSON, s, []string{s.ID, s.Kind, s.State})
	})
	return cmd
}
